// SPDX-License-Identifier: Apache-2.0

/// One scalar beyond ASCII, read from its UTF-8 form.
///
/// Source: RFC 3629 section 4, whose table narrows the second byte to exclude overlong forms, surrogates and scalars
/// beyond U+10FFFF.
struct UTF8Sequence {
    let scalar: Unicode.Scalar
    /// The byte after the sequence.
    let end: Int

    /// Nil unless a well-formed sequence of two to four bytes starts at `start`.
    init?(_ bytes: ArraySlice<UInt8>, at start: Int) {
        let first = bytes[start]
        let length: Int
        var secondByte: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0xC2...0xDF: length = 2
        case 0xE0...0xEF: length = 3
        case 0xF0...0xF4: length = 4
        default: return nil
        }
        switch first {
        case 0xE0: secondByte = 0xA0...0xBF
        case 0xED: secondByte = 0x80...0x9F
        case 0xF0: secondByte = 0x90...0xBF
        case 0xF4: secondByte = 0x80...0x8F
        default: break
        }
        guard start + length <= bytes.endIndex, secondByte ~= bytes[start + 1] else { return nil }
        var value = UInt32(first) & (0x7F >> UInt32(length))
        for index in start + 1..<start + length {
            guard bytes[index] & 0xC0 == 0x80 else { return nil }
            value = value << 6 | UInt32(bytes[index] & 0x3F)
        }
        guard let scalar = Unicode.Scalar(value) else { return nil }
        self.scalar = scalar
        self.end = start + length
    }
}
