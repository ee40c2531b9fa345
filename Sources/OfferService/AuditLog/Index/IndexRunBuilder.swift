// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import JSON

/// Gathers what the index says of consecutive entries, until they are a whole run.
///
/// Until then it answers for them itself; that is how the newest entries are found.
package struct IndexRunBuilder: Sendable {
    package let run: Int64
    let keys: IndexTermKeys
    /// How many entries it has been given.
    package private(set) var count = 0
    private var counter = UsageCounter()
    /// Key and offset in one word each, which sorts and compares quickly.
    private var words: [UInt64] = []
    /// The entry at hand.
    private var entry = IndexedEntry()

    /// Begins a run; `previous` is the entry before its first one, on which depends what is counted.
    package init(run: Int64, keys: IndexTermKeys, previous: [UInt8]?) {
        self.run = run
        self.keys = keys
        guard let object = previous.flatMap({ try? JSONDocument($0) })?.root.object else { return }
        var text: [UInt8] = []
        entry.read(object, into: &text)
        counter.begin(after: entry, text.span)
    }

    /// What its entries come to.
    package var usage: LogUsage { counter.usage }

    package var isFull: Bool { count == keys.format.entriesPerRun }

    /// The index of the entry that comes next.
    package var nextEntry: Int64 { keys.format.entries(ofRun: run).lowerBound + Int64(count) }

    /// Takes the next entry; false, and nothing is taken, if it is not one that the service wrote.
    package mutating func add(_ bytes: Span<UInt8>) -> Bool {
        entry.reset()
        if entry.scan(bytes) {
            addRead(bytes)
            return true
        }
        let copy = bytes.indices.map { bytes[$0] }
        guard let object = (try? JSONDocument(copy))?.root.object else { return false }
        add(object)
        return true
    }

    /// Takes the next entry from its document, which comes to the same and takes longer.
    package mutating func add(_ object: JSONObject) {
        var text: [UInt8] = []
        entry.reset()
        entry.read(object, into: &text)
        addRead(text.span)
    }

    /// Takes what was read of the next entry.
    private mutating func addRead(_ text: Span<UInt8>) {
        precondition(!isFull, "a run has room for its entries")
        let offset = UInt64(count)
        for (field, value) in entry.terms {
            let key = keys.key(field, text.extracting(value.start..<value.end))
            words.append(key << UInt64(AuditIndexFormat.offsetBits) | offset)
        }
        counter.add(entry, text)
        count += 1
    }

    /// The entries under a key, of those that it has been given.
    func entries(with key: UInt64) -> EntrySet {
        var set = EntrySet(none: keys.format.entriesPerRun)
        let mask: UInt64 = 1 << UInt64(AuditIndexFormat.offsetBits) - 1
        for word in words where word >> UInt64(AuditIndexFormat.offsetBits) == key { set.insert(Int(word & mask)) }
        return set
    }

    /// The run as it is stored.
    package func sealed() -> IndexRun {
        precondition(isFull, "only a whole run is stored")
        var writer = IndexPartWriter(run: run, keys: keys)
        var offsets: [UInt64] = []
        var current: UInt64?
        let mask: UInt64 = 1 << UInt64(AuditIndexFormat.offsetBits) - 1
        for word in words.sorted() {
            let key = word >> UInt64(AuditIndexFormat.offsetBits)
            if key != current {
                if let current { writer.add(current, offsets) }
                current = key
                offsets.removeAll(keepingCapacity: true)
            }
            // Two values of one entry may have the same key.
            if offsets.last != word & mask { offsets.append(word & mask) }
        }
        if let current { writer.add(current, offsets) }
        return IndexRun(run: run, parts: writer.finish(), usage: usage.bytes)
    }
}

/// What is stored of one run.
package struct IndexRun: Hashable, Sendable {
    package let run: Int64
    package let parts: [IndexPart]
    /// ``LogUsage/bytes`` of its entries.
    package let usage: [UInt8]
}

/// Packs postings into parts.
private struct IndexPartWriter {
    private let run: Int64
    private let keys: IndexTermKeys
    private var finished: [IndexPart] = []
    private var firstKey: UInt64 = 0
    private var previousKey: UInt64 = 0
    private var body: [UInt8] = []

    init(run: Int64, keys: IndexTermKeys) {
        self.run = run
        self.keys = keys
    }

    mutating func add(_ key: UInt64, _ offsets: [UInt64]) {
        var list = Self.list(offsets, keys.format)
        if !body.isEmpty, body.count + list.count + 8 > IndexPart.targetBytes { endPart(before: key) }
        body.append(varint: key - previousKey)
        body.append(contentsOf: list)
        list.removeAll()
        previousKey = key
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

    private static func list(_ offsets: [UInt64], _ format: AuditIndexFormat) -> [UInt8] {
        var list: [UInt8] = []
        list.append(varint: UInt64(offsets.count))
        var previous: UInt64 = 0
        for offset in offsets {
            list.append(varint: offset - previous)
            previous = offset
        }
        guard list.count > format.entriesPerRun / 8 else { return list }
        var set = EntrySet(none: format.entriesPerRun)
        for offset in offsets { set.insert(Int(offset)) }
        return [0] + set.words.flatMap(\.littleEndianBytes)
    }
}

extension [UInt8] {
    /// Appends a number in groups of 7 bits, the lowest first (LEB128).
    mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}
