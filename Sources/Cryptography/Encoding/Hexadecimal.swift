// SPDX-License-Identifier: Apache-2.0

/// Lowercase hexadecimal, computed without tables: looking secrets up in one shows in the cache which were looked up.
enum Hexadecimal {
    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.count)
        for byte in bytes {
            text.append(digit(byte >> 4))
            text.append(digit(byte & 15))
        }
        return text
    }

    /// The digit of a value of 0...15.
    static func digit(_ value: UInt8) -> UInt8 {
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
