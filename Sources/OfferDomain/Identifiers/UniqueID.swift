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

    /// A version 4 UUID from 122 bits of two random numbers.
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

    /// The instant at which a version 7 ID was made; meaningless for other versions.
    package var timestamp: Timestamp { Timestamp(milliseconds: Int64(high >> 16)) }

    /// The 16 bytes, the most significant first.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(addingCapacity: 16) { bytes in
            UniqueID.append(high, from: 0, to: 8, &bytes)
            UniqueID.append(low, from: 0, to: 8, &bytes)
        }
        return bytes
    }

    /// The id of 16 bytes, the most significant first; nil of another count.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// By the bytes, the first the most significant.
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
        guard text[8] == 0x2D, text[13] == 0x2D, text[18] == 0x2D, text[23] == 0x2D else { return nil }
        // Combines all values, so that one comparison shows whether each was a digit.
        var (words, values): ((UInt64, UInt64), UInt8) = ((0, 0), 0)
        func read(_ places: Range<Int>, into word: inout UInt64) {
            for place in places {
                let value = UniqueID.digitValues[Int(text[place])]
                values |= value
                word = word << 4 | UInt64(value & 0xF)
            }
        }
        read(0..<8, into: &words.0)
        read(9..<13, into: &words.0)
        read(14..<18, into: &words.0)
        read(19..<23, into: &words.1)
        read(24..<36, into: &words.1)
        guard values <= 0xF else { return nil }
        self.init(high: words.0, low: words.1)
    }

    /// The value of each byte as a hexadecimal digit; 0xFF if it is not a digit.
    private static let digitValues = (0...255).map { UInt8($0).hexadecimalValue ?? 0xFF }

    /// How many bytes the text has.
    package static let textBytes = 36

    /// Appends the 36 bytes of the lowercase text.
    package func append(to text: inout [UInt8]) {
        // Reserves the space once: a check of the array for each digit costs more than the digit.
        text.append(addingCapacity: Self.textBytes) { append(to: &$0) }
    }

    /// Appends the 36 bytes of the lowercase text; `text` must have room for them.
    package func append(to text: inout OutputSpan<UInt8>) {
        let (first, second) = (UniqueID.digits(high >> 32), UniqueID.digits(high & 0xFFFF_FFFF))
        let (third, fourth) = (UniqueID.digits(low >> 32), UniqueID.digits(low & 0xFFFF_FFFF))
        UniqueID.append(first, from: 0, to: 8, &text)
        text.append(0x2D)
        UniqueID.append(second, from: 0, to: 4, &text)
        text.append(0x2D)
        UniqueID.append(second, from: 4, to: 8, &text)
        text.append(0x2D)
        UniqueID.append(third, from: 0, to: 4, &text)
        text.append(0x2D)
        UniqueID.append(third, from: 4, to: 8, &text)
        UniqueID.append(fourth, from: 0, to: 8, &text)
    }

    /// Appends some bytes of a word, counted from the most significant.
    @inline(__always)
    private static func append(_ word: UInt64, from start: UInt64, to end: UInt64, _ bytes: inout OutputSpan<UInt8>) {
        for place in start..<end { bytes.append(UInt8(truncatingIfNeeded: word >> (56 - 8 * place))) }
    }

    /// The eight digits of 32 bits, the first in the most significant byte.
    private static func digits(_ value: UInt64) -> UInt64 {
        // One digit into each byte of a word, then all of them into ASCII at once.
        var digits = (value & 0xFFFF_0000) << 16 | value & 0x0000_FFFF
        digits = (digits & 0x0000_FF00_0000_FF00) << 8 | digits & 0x0000_00FF_0000_00FF
        digits = (digits & 0x00F0_00F0_00F0_00F0) << 4 | digits & 0x000F_000F_000F_000F
        let isLetter = (digits &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return digits &+ 0x3030_3030_3030_3030 &+ isLetter &* 0x27
    }

    /// The lowercase text, the form that Apple wants of a nonce and of an app account token.
    package var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}
