// SPDX-License-Identifier: Apache-2.0

/// Fields joined by U+2063 INVISIBLE SEPARATOR, the bytes E2 81 A3.
///
/// Joining alone is not safe: `a|b` and `c` join to what `a` and `b|c` join to, and one signature would stand for two
/// readings. So what was joined is split again, byte by byte, and each part must be where a field was put.
struct SeparatedFields {
    private var bytes: [UInt8] = []
    /// Where each field lies.
    private var fields: [Range<Int>] = []

    init() {
        bytes.reserveCapacity(256)
        fields.reserveCapacity(8)
    }

    /// Adds the field that `write` appends; it must append printable ASCII only.
    mutating func append(_ write: (inout [UInt8]) -> Void) throws(PayloadError) {
        if !fields.isEmpty { bytes.append(contentsOf: SeparatedFields.separator) }
        let start = bytes.count
        write(&bytes)
        fields.append(start..<bytes.count)
        guard SeparatedFields.isPrintable(bytes.span.extracting(start..<bytes.count)) else {
            throw .notPrintableASCII(field: fields.count - 1)
        }
    }

    /// All of it, found to split into the fields that were appended.
    func joined() throws(PayloadError) -> [UInt8] {
        guard SeparatedFields.splits(bytes.span, into: fields) else { throw .ambiguous }
        return bytes
    }

    /// Not inlined: among other code, the compiler would not see that it may look at many bytes at once.
    @inline(never)
    private static func isPrintable(_ field: Span<UInt8>) -> Bool {
        // As a number and without a way out in the midst, for the same reason.
        var outside: UInt8 = 0
        for index in field.indices { outside |= field[index] &- 0x20 > 0x7E - 0x20 ? 1 : 0 }
        return outside == 0
    }

    /// Whether `text`, cut at every separator, falls into exactly these parts.
    static func splits(_ text: Span<UInt8>, into parts: [Range<Int>]) -> Bool {
        var start = 0
        for (index, part) in parts.enumerated() {
            guard part.lowerBound == start, part.upperBound <= text.count else { return false }
            // No separator begins in what is printable, which is seen more quickly.
            let end = endOfPart(text, from: isPrintable(text.extracting(part)) ? part.upperBound : start)
            guard part.upperBound == end, (end == text.count) == (index == parts.count - 1) else { return false }
            start = end + separator.count
        }
        return !parts.isEmpty
    }

    /// The index of the next separator at or after `start`, or the end of the text.
    static func endOfPart(_ text: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while index < text.count {
            if text[index] == 0xE2, index + 2 < text.count, text[index + 1] == 0x81, text[index + 2] == 0xA3 { break }
            index += 1
        }
        return index
    }

    private static let separator: [UInt8] = [0xE2, 0x81, 0xA3]
}
