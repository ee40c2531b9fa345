// SPDX-License-Identifier: Apache-2.0

/// Bytes taken eight at a time.
extension Span<UInt8> {
    /// Eight bytes as one word, the first one lowest.
    @inline(__always)
    func word(at start: Int) -> UInt64 {
        // Of a span of eight bytes the compiler knows the length, and makes of this one load.
        let bytes = extracting(start..<start + 8)
        let low = UInt64(bytes[0]) | UInt64(bytes[1]) << 8 | UInt64(bytes[2]) << 16 | UInt64(bytes[3]) << 24
        let high = UInt64(bytes[4]) | UInt64(bytes[5]) << 8 | UInt64(bytes[6]) << 16 | UInt64(bytes[7]) << 24
        return low | high << 32
    }

    /// Whether both have the same bytes.
    @inline(__always)
    func equals(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        guard count >= 8 else { return rest == other.rest }
        var place = 0
        while place + 8 < count {
            if word(at: place) != other.word(at: place) { return false }
            place += 8
        }
        // The last eight bytes; some of them may have been compared already.
        return word(at: count - 8) == other.word(at: count - 8)
    }

    /// A number that equal bytes have in common, for tables in which nothing hangs on who falls together.
    @inline(__always)
    var mixed: UInt64 {
        guard count >= 8 else { return rest.mixed }
        var (sum, place): (UInt64, Int) = (0, 0)
        while place + 8 < count {
            sum = (sum ^ word(at: place)).mixed
            place += 8
        }
        return (sum ^ word(at: count - 8)).mixed
    }

    /// Fewer than eight bytes as one word.
    @inline(__always)
    var rest: UInt64 {
        var word: UInt64 = 0
        for place in indices { word = word << 8 | UInt64(self[place]) }
        return word
    }
}

extension UInt64 {
    /// Spreads the bits, so that the highest ones depend on all.
    @inline(__always)
    var mixed: UInt64 {
        let product = self &* 0x9E37_79B9_7F4A_7C15
        return product ^ product >> 32
    }

    /// How many bytes, from the lowest, are ASCII that a JSON string has as it is; 8 if all are.
    @inline(__always)
    var plainBytes: Int {
        // As in `endOfPlainWords`.
        let controlOrQuote = (self ^ 0x0202_0202_0202_0202) &- 0x2121_2121_2121_2121
        let backslash = (self ^ 0x5C5C_5C5C_5C5C_5C5C) &- 0x0101_0101_0101_0101
        return ((controlOrQuote | backslash | self) & 0x8080_8080_8080_8080).trailingZeroBitCount / 8
    }
}

extension UInt64 {
    /// Eight decimal digits, the first one in the lowest byte, as a number; nil if not all are digits.
    @inline(__always)
    var eightDigits: Int64? {
        // Beyond `9` the sum has its high bit, below `0` the difference.
        let odd = (self &+ 0x4646_4646_4646_4646) | (self &- 0x3030_3030_3030_3030)
        guard odd & 0x8080_8080_8080_8080 == 0 else { return nil }
        let ones = self & 0x0F0F_0F0F_0F0F_0F0F
        let pairs = (ones &* 10 &+ ones >> 8) & 0x00FF_00FF_00FF_00FF
        let fours = (pairs &* 100 &+ pairs >> 16) & 0x0000_FFFF_0000_FFFF
        return Int64((fours &* 10_000 &+ fours >> 32) & 0xFFFF_FFFF)
    }
}

extension [UInt8] {
    /// Takes other bytes in place of its own, in the same memory where there are as many.
    @inline(__always)
    mutating func replaceAll(with bytes: Span<UInt8>) {
        if count != bytes.count { self = Array(repeating: 0, count: bytes.count) }
        var target = mutableSpan
        for place in bytes.indices { target[place] = bytes[place] }
    }
}
