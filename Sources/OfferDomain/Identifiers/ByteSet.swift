// SPDX-License-Identifier: Apache-2.0

/// A set of ASCII bytes, as the bits of 128; no byte from 0x80 up can be a member.
struct ByteSet: Hashable, Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init(_ ranges: ClosedRange<UInt8>...) {
        for byte in ranges.joined() where byte < 0x40 { low |= 1 << UInt64(byte) }
        for byte in ranges.joined() where byte >= 0x40 && byte < 0x80 { high |= 1 << UInt64(byte - 0x40) }
    }

    /// The set with the bytes of `characters` too.
    func with(_ characters: String) -> ByteSet {
        characters.utf8.reduce(into: self) { set, byte in
            let one = ByteSet(byte...byte)
            set.low |= one.low
            set.high |= one.high
        }
    }

    func contains(_ byte: UInt8) -> Bool {
        if byte < 0x40 { return low & (1 << UInt64(byte)) != 0 }
        return byte < 0x80 && high & (1 << UInt64(byte & 0x3F)) != 0
    }

    static let digits = ByteSet(0x30...0x39)
    static let uppercase = ByteSet(0x41...0x5A)
    static let uppercaseAndDigits = ByteSet(0x41...0x5A, 0x30...0x39)
    static let lowercaseAndDigits = ByteSet(0x61...0x7A, 0x30...0x39)
    static let letters = ByteSet(0x41...0x5A, 0x61...0x7A)
    static let lettersAndDigits = ByteSet(0x41...0x5A, 0x61...0x7A, 0x30...0x39)
    /// Printable ASCII without the space, 0x21 to 0x7E.
    static let visible = ByteSet(0x21...0x7E)
}

extension UInt8 {
    /// The value of an ASCII hexadecimal digit of either case.
    var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }

    /// The byte, or its lowercase form if it is one of A to Z.
    var asciiLowercased: UInt8 {
        (0x41...0x5A).contains(self) ? self | 0x20 : self
    }
}
