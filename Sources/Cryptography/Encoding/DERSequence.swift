// SPDX-License-Identifier: Apache-2.0

/// The outermost SEQUENCE of a DER text (X.690 section 8.1).
enum DERSequence {
    /// How many bytes it takes with its head; nil if the text starts with something else.
    static func byteCount(in der: borrowing Span<UInt8>) -> Int? {
        guard der.count >= 2, der[0] == 0x30 else { return nil }
        let first = Int(der[1])
        guard first >= 0x80 else { return 2 + first }
        let lengthByteCount = first - 0x80
        // Two bytes of length are enough for 64 KiB, four times what is read from any file.
        guard (1...2).contains(lengthByteCount), der.count >= 2 + lengthByteCount else { return nil }
        var length = 0
        for index in 0..<lengthByteCount { length = length << 8 | Int(der[2 + index]) }
        return 2 + lengthByteCount + length
    }
}
