// SPDX-License-Identifier: Apache-2.0

/// A UUID: 128 bits.
///
/// Source: [RFC 9562](https://www.rfc-editor.org/rfc/rfc9562).
package struct UniqueID: Hashable, Sendable, Comparable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A version 4 id of two random numbers, of which 122 bits are used.
    package static func version4(_ first: UInt64, _ second: UInt64) -> UniqueID {
        UniqueID(
            high: first & 0xFFFF_FFFF_FFFF_0FFF | 0x4000,
            low: second & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        )
    }

    /// A version 7 id: `instant` to the millisecond, then 74 of the random bits.
    ///
    /// Ids sort by their instant. One before 1970 counts as 1970.
    package static func version7(at instant: Timestamp, _ first: UInt64, _ second: UInt64) -> UniqueID {
        let milliseconds = UInt64(max(0, instant.milliseconds)) & 0xFFFF_FFFF_FFFF
        return UniqueID(
            high: milliseconds << 16 | 0x7000 | first & 0x0FFF,
            low: second & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        )
    }

    /// Which layout of RFC 9562 the id says it has, 0 to 15.
    package var version: Int { Int(high >> 12 & 0xF) }

    /// The instant that a version 7 id was made; of another version, it means nothing.
    package var timestamp: Timestamp { Timestamp(milliseconds: Int64(high >> 16)) }

    /// The 16 bytes, the most significant first.
    package var bytes: [UInt8] {
        (0..<16).map { UInt8(truncatingIfNeeded: word($0) >> (56 - UInt64($0 & 7) * 8)) }
    }

    /// The id of 16 bytes, the most significant first; nil of another count.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func word(_ index: Int) -> UInt64 { index < 8 ? high : low }

    package static func < (one: UniqueID, other: UniqueID) -> Bool {
        (one.high, one.low) < (other.high, other.low)
    }
}

// MARK: - Text

extension UniqueID {
    /// Reads the form 8-4-4-4-12 of hexadecimal digits in any letter case; no braces, no prefix.
    package init?(_ text: String) {
        self.init(utf8: text.utf8.span)
    }

    /// Reads the form 8-4-4-4-12 of hexadecimal digits in any letter case; no braces, no prefix.
    package init?(utf8 text: [UInt8]) {
        self.init(utf8: text.span)
    }

    /// Reads the form 8-4-4-4-12 of hexadecimal digits in any letter case; no braces, no prefix.
    package init?(utf8 text: ArraySlice<UInt8>) {
        self.init(utf8: text.span)
    }

    init?(utf8 text: Span<UInt8>) {
        guard text.count == 36 else { return nil }
        var words: (UInt64, UInt64) = (0, 0)
        for index in 0..<36 {
            if UniqueID.hyphens & (1 << UInt64(index)) != 0 {
                guard text[index] == 0x2D else { return nil }
            } else {
                guard let digit = text[index].hexadecimalValue else { return nil }
                if index < 18 { words.0 = words.0 << 4 | UInt64(digit) } else { words.1 = words.1 << 4 | UInt64(digit) }
            }
        }
        self.init(high: words.0, low: words.1)
    }

    /// Appends the 36 bytes of the lowercase text.
    package func append(to text: inout [UInt8]) {
        let start = text.count
        // Room for all of it at once: a check for each digit costs more than the digit.
        text.append(contentsOf: UniqueID.onlyHyphens)
        var bytes = text.mutableSpan
        UniqueID.write(UInt32(truncatingIfNeeded: high >> 32), [0, 1, 2, 3, 4, 5, 6, 7], start, &bytes)
        UniqueID.write(UInt32(truncatingIfNeeded: high), [9, 10, 11, 12, 14, 15, 16, 17], start, &bytes)
        UniqueID.write(UInt32(truncatingIfNeeded: low >> 32), [19, 20, 21, 22, 24, 25, 26, 27], start, &bytes)
        UniqueID.write(UInt32(truncatingIfNeeded: low), [28, 29, 30, 31, 32, 33, 34, 35], start, &bytes)
    }

    /// Writes eight digits to their places.
    private static func write(
        _ value: UInt32,
        _ places: InlineArray<8, Int>,
        _ start: Int,
        _ bytes: inout MutableSpan<UInt8>
    ) {
        // One digit into each byte of a word, then all of them into ASCII at once.
        var digits = UInt64(value)
        digits = (digits & 0xFFFF_0000) << 16 | digits & 0x0000_FFFF
        digits = (digits & 0x0000_FF00_0000_FF00) << 8 | digits & 0x0000_00FF_0000_00FF
        digits = (digits & 0x00F0_00F0_00F0_00F0) << 4 | digits & 0x000F_000F_000F_000F
        let isLetter = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        let text = digits + 0x3030_3030_3030_3030 + isLetter * 0x27
        for index in 0..<8 { bytes[start + places[index]] = UInt8(truncatingIfNeeded: text >> (56 - 8 * index)) }
    }

    private static let onlyHyphens = [UInt8](repeating: 0x2D, count: 36)

    /// The lowercase text, the form that Apple wants of a nonce and of an app account token.
    package var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The positions 8, 13, 18 and 23, as bits.
    private static var hyphens: UInt64 { 1 << 8 | 1 << 13 | 1 << 18 | 1 << 23 }
}
