// SPDX-License-Identifier: Apache-2.0

/// Fields joined by U+2063 INVISIBLE SEPARATOR, the bytes E2 81 A3.
///
/// Joining alone is not safe: `a|b` and `c` join to what `a` and `b|c` join to, and one signature would stand for two
/// readings. So what was joined is split again, byte by byte, and compared with what went in.
enum SeparatedFields {
    private static let separator: [UInt8] = [0xE2, 0x81, 0xA3]

    static func joined(_ fields: [String]) throws(PayloadError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        for (index, field) in fields.enumerated() {
            if index > 0 { bytes.append(contentsOf: separator) }
            for byte in field.utf8 {
                guard (0x20...0x7E).contains(byte) else { throw .notPrintableASCII(field: index) }
                bytes.append(byte)
            }
        }
        guard splits(bytes, into: fields) else { throw .ambiguous }
        return bytes
    }

    /// Whether `bytes`, cut at every separator, are exactly `fields`.
    static func splits(_ bytes: [UInt8], into fields: [String]) -> Bool {
        let parts = split(bytes)
        guard parts.count == fields.count else { return false }
        return zip(parts, fields).allSatisfy { $0.elementsEqual($1.utf8) }
    }

    static func split(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        parts.reserveCapacity(8)
        var (start, index) = (0, 0)
        while index < bytes.count {
            let isSeparator = bytes[index] == separator[0] && bytes[index...].starts(with: separator)
            if isSeparator {
                parts.append(bytes[start..<index])
                start = index + separator.count
            }
            index += isSeparator ? separator.count : 1
        }
        parts.append(bytes[start...])
        return parts
    }
}
