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
            guard isPrintable(field.utf8.span) else { throw .notPrintableASCII(field: index) }
            if index > 0 { bytes.append(contentsOf: separator) }
            bytes.append(contentsOf: field.utf8)
        }
        guard splits(bytes, into: fields) else { throw .ambiguous }
        return bytes
    }

    private static func isPrintable(_ field: Span<UInt8>) -> Bool {
        for index in field.indices where field[index] < 0x20 || field[index] > 0x7E { return false }
        return true
    }

    /// Whether `bytes`, cut at every separator, are exactly `fields`.
    static func splits(_ bytes: [UInt8], into fields: [String]) -> Bool {
        let parts = split(bytes)
        guard parts.count == fields.count else { return false }
        for (part, field) in zip(parts, fields) where !equal(bytes.span, part.indices, field.utf8.span) { return false }
        return true
    }

    private static func equal(_ text: Span<UInt8>, _ range: Range<Int>, _ field: Span<UInt8>) -> Bool {
        guard range.count == field.count else { return false }
        for index in field.indices where text[range.lowerBound + index] != field[index] { return false }
        return true
    }

    static func split(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        let text = bytes.span
        var parts: [ArraySlice<UInt8>] = []
        parts.reserveCapacity(8)
        var (start, index) = (0, 0)
        while index < text.count {
            let isSeparator =
                text[index] == 0xE2 && index + 2 < text.count && text[index + 1] == 0x81 && text[index + 2] == 0xA3
            if isSeparator {
                parts.append(bytes[start..<index])
                start = index + 3
            }
            index += isSeparator ? 3 : 1
        }
        parts.append(bytes[start...])
        return parts
    }
}
