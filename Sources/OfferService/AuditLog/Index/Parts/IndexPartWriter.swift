// SPDX-License-Identifier: Apache-2.0

/// Packs postings into parts.
struct IndexPartWriter {
    private let run: Int64
    private let keys: IndexTermKeys
    private var finished: [IndexPart] = []
    private var firstKey: UInt64 = 0
    private var previousKey: UInt64 = 0
    private var body: [UInt8] = []

    init(run: Int64, keys: IndexTermKeys) {
        self.run = run
        self.keys = keys
        body.reserveCapacity(IndexPart.targetBytes)
    }

    /// Adds the words of one key, in the order of their offsets; keys come in their order.
    mutating func add(_ key: UInt64, _ words: Span<UInt64>) {
        let (count, listBytes) = Self.measure(words)
        let bitmapBytes = keys.format.entriesPerRun / 8
        let isBitmap = listBytes > bitmapBytes
        let bytes = isBitmap ? 1 + bitmapBytes : listBytes
        if !body.isEmpty, body.count + bytes + 8 > IndexPart.targetBytes { endPart(before: key) }
        let step = key - previousKey
        previousKey = key
        if isBitmap { appendBitmap(step, words) } else { appendList(step, words, count: count, bytes: bytes) }
    }

    mutating func finish() -> [IndexPart] {
        endPart(before: IndexPart.endOfKeys)
        return finished
    }

    private mutating func endPart(before end: UInt64) {
        var whole: [UInt8] = []
        whole.append(varint: end - firstKey)
        finished.append(IndexPart(run: run, firstKey: firstKey, body: whole + body, keys.hash))
        (firstKey, previousKey) = (end, end)
        body.removeAll(keepingCapacity: true)
    }

    /// How many entries there are, and the bytes of a list of them.
    private static func measure(_ words: Span<UInt64>) -> (count: Int, bytes: Int) {
        var (count, bytes) = (0, 0)
        forEachStep(words) { step in
            count += 1
            bytes += step.varintBytes
        }
        return (count, UInt64(count).varintBytes + bytes)
    }

    private mutating func appendList(_ step: UInt64, _ words: Span<UInt64>, count: Int, bytes: Int) {
        body.append(addingCapacity: step.varintBytes + bytes) { body in
            body.append(varint: step)
            body.append(varint: UInt64(count))
            Self.forEachStep(words) { step in body.append(varint: step) }
        }
    }

    private mutating func appendBitmap(_ step: UInt64, _ words: Span<UInt64>) {
        var set = EntrySet(none: keys.format.entriesPerRun)
        for place in words.indices { set.insert(Int(words[place] & Self.offsets)) }
        body.append(varint: step)
        body.append(0)
        for word in set.words { body.append(contentsOf: word.littleEndianBytes) }
    }

    /// Goes over each offset less the one before it.
    @inline(__always)
    private static func forEachStep(_ words: Span<UInt64>, _ body: (UInt64) -> Void) {
        var previous: UInt64 = 0
        // Two values of one entry may have the same key.
        for place in words.indices where place == 0 || words[place] != words[place - 1] {
            let offset = words[place] & offsets
            body(offset - previous)
            previous = offset
        }
    }

    private static let offsets: UInt64 = 1 << UInt64(AuditIndexFormat.offsetBits) - 1
}

extension [UInt8] {
    fileprivate mutating func append(varint value: UInt64) {
        append(addingCapacity: value.varintBytes) { bytes in bytes.append(varint: value) }
    }
}

extension OutputSpan<UInt8> {
    /// Appends a number in groups of 7 bits, the lowest first (LEB128).
    @inline(__always)
    fileprivate mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}

extension UInt64 {
    /// How many bytes it takes in groups of 7 bits.
    @inline(__always)
    fileprivate var varintBytes: Int { Swift.max(1, (64 - leadingZeroBitCount + 6) / 7) }
}
