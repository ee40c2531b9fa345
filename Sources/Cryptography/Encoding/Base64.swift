// SPDX-License-Identifier: Apache-2.0

/// Base64 in the two forms of RFC 4648: standard with padding (section 4) and for URLs without (section 5).
///
/// Decoding is canonical: a byte string has one text, and every other text is refused. Line breaks, spaces, missing or
/// needless padding, letters of the other alphabet, and unused bits that are not zero (section 3.5) are other texts.
package enum Base64 {
    /// The standard text, padded with `=` to a multiple of four characters.
    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        encode(bytes, alphabet: standard.characters, padded: true)
    }

    /// The text for URLs and for JWS (RFC 7515 section 2), without padding.
    package static func encodeURL(_ bytes: [UInt8]) -> [UInt8] {
        encode(bytes, alphabet: url.characters, padded: false)
    }

    /// Appends the text for URLs, without padding.
    package static func appendURL(_ bytes: [UInt8], to text: inout [UInt8]) {
        append(bytes, to: &text, alphabet: url.characters, padded: false)
    }

    /// The bytes of a standard, padded text; nil unless it is canonical.
    package static func decode(_ text: [UInt8]) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        let padding = text.suffix(2).reversed().prefix { $0 == paddingCharacter }.count
        return decode(text.dropLast(padding), values: standard.values)
    }

    /// The bytes of an unpadded text for URLs; nil unless it is canonical.
    package static func decodeURL(_ text: [UInt8]) -> [UInt8]? {
        decode(text[...], values: url.values)
    }

    static let paddingCharacter = UInt8(ascii: "=")

    /// The value of a character of the standard alphabet; nil for any other character.
    static func value(_ character: UInt8) -> UInt8? {
        let value = standard.values[Int(character)]
        return value < 64 ? value : nil
    }

    private struct Alphabet {
        let characters: [UInt8]
        /// By character; 255 for what is not in the alphabet.
        let values: [UInt8]

        init(_ text: String) {
            characters = Array(text.utf8)
            var values = [UInt8](repeating: 255, count: 256)
            for (value, character) in characters.enumerated() { values[Int(character)] = UInt8(value) }
            self.values = values
        }
    }

    private static let lettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let standard = Alphabet(lettersAndDigits + "+/")
    private static let url = Alphabet(lettersAndDigits + "-_")

    private static func encode(_ bytes: [UInt8], alphabet: [UInt8], padded: Bool) -> [UInt8] {
        var text: [UInt8] = []
        append(bytes, to: &text, alphabet: alphabet, padded: padded)
        return text
    }

    private static func append(_ bytes: [UInt8], to text: inout [UInt8], alphabet: [UInt8], padded: Bool) {
        let (bytes, alphabet) = (bytes.span, alphabet.span)
        text.append(addingCapacity: (bytes.count + 2) / 3 * 4) { text in
            var next = 0
            while next + 3 <= bytes.count {
                let group = UInt32(bytes[next]) << 16 | UInt32(bytes[next + 1]) << 8 | UInt32(bytes[next + 2])
                append(group, characters: 4, of: alphabet, to: &text)
                next += 3
            }
            guard next < bytes.count else { return }
            let isLast = next + 1 == bytes.count
            let group = UInt32(bytes[next]) << 16 | (isLast ? 0 : UInt32(bytes[next + 1]) << 8)
            append(group, characters: isLast ? 2 : 3, of: alphabet, to: &text)
            if padded { text.append(repeating: paddingCharacter, count: isLast ? 2 : 1) }
        }
    }

    /// Appends the first `count` of a group's four characters.
    @inline(__always)
    private static func append(
        _ group: UInt32,
        characters count: UInt32,
        of alphabet: Span<UInt8>,
        to text: inout OutputSpan<UInt8>
    ) {
        for index in 0..<count { text.append(alphabet[Int(group >> (18 - 6 * index) & 63)]) }
    }

    private static func decode(_ text: ArraySlice<UInt8>, values: [UInt8]) -> [UInt8]? {
        // Six bits more than whole bytes never come of encoding.
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var pending: UInt32 = 0
        var pendingBits: UInt32 = 0
        for character in text {
            let value = values[Int(character)]
            guard value < 64 else { return nil }
            pending = pending << 6 | UInt32(value)
            pendingBits += 6
            guard pendingBits >= 8 else { continue }
            pendingBits -= 8
            bytes.append(UInt8(truncatingIfNeeded: pending >> pendingBits))
            pending &= 1 << pendingBits - 1
        }
        return pending == 0 ? bytes : nil
    }
}
