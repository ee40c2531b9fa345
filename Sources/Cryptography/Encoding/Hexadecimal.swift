// SPDX-License-Identifier: Apache-2.0

/// Lowercase hexadecimal, computed without tables: looking secrets up in one shows in the cache which were looked up.
enum Hexadecimal {
    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 2 * bytes.count) { text, count in
            unsafe bytes.withUnsafeBytes { unsafe write($0, to: UnsafeMutableRawBufferPointer(text)) }
            count = 2 * bytes.count
        }
    }

    /// Writes two digits for each byte to the beginning of `text`, where there must be room for them.
    static func write(_ bytes: UnsafeRawBufferPointer, to text: UnsafeMutableRawBufferPointer) {
        // One look at the room for all: with a look for each digit, the compiler does not take many bytes at once.
        precondition(text.count >= 2 * bytes.count, "no room for digits")
        for index in 0..<bytes.count {
            let byte = unsafe bytes[index]
            unsafe text[2 * index] = digit(byte >> 4)
            unsafe text[2 * index + 1] = digit(byte & 15)
        }
    }

    /// The digit of a value of 0...15.
    private static func digit(_ value: UInt8) -> UInt8 {
        // 39 lies between "9" + 1 and "a"; the shift makes it count from 10 on only.
        value &+ 0x30 &+ (((9 &- value) >> 7) &* 39)
    }

    /// The value of a digit; nil unless it is one of 0-9 and a-f.
    static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
}
