// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import JSON
import Ledger

/// Gathers what the index says of consecutive entries, until they are a whole run.
///
/// Until then it answers for them itself; that is how the newest entries are found.
package struct IndexRunBuilder: Sendable {
    /// The number of the run that the entries become.
    package let run: Int64
    let keys: IndexTermKeys
    /// How many entries it has been given.
    package private(set) var count = 0
    private(set) var counter = UsageCounter()
    /// Key and offset in one word each, which sorts and compares quickly.
    private var words: [UInt64] = []
    private var recent: RecentKeys
    /// The current entry.
    private var entry = IndexedEntry()

    /// Begins a run; `previous` is the entry before its first one, on which depends what is counted.
    package init(run: Int64, keys: IndexTermKeys, previous: [UInt8]?) {
        self.run = run
        self.keys = keys
        recent = RecentKeys(keys: keys)
        // Reserved at once for a whole run: growth would otherwise fragment the memory of the thread that adds entries.
        words.reserveCapacity(keys.format.entriesPerRun * Self.usualTerms)
        guard let object = previous.flatMap({ try? JSONDocument($0) })?.root.object else { return }
        var text: [UInt8] = []
        entry.read(object, into: &text)
        counter.begin(after: entry, text.span)
    }

    /// Of an entry, rather more than less.
    private static let usualTerms = 12

    /// What its entries come to.
    package var usage: LogUsage { counter.usage }

    /// Whether the run is whole, so that it can be stored.
    package var isFull: Bool { count == keys.format.entriesPerRun }

    /// The index of the entry that comes next.
    package var nextEntry: Int64 { keys.format.entries(ofRun: run).lowerBound + Int64(count) }

    /// Adds the next entry; returns false and adds nothing if the entry is not a JSON object.
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

    /// Adds the next entry from its parsed document: the same result, but slower.
    package mutating func add(_ object: JSONObject) {
        var text: [UInt8] = []
        entry.reset()
        entry.read(object, into: &text)
        addRead(text.span)
    }

    /// Takes what was read of the next entry.
    private mutating func addRead(_ text: Span<UInt8>) {
        precondition(!isFull, "a run has room for its entries")
        Self.append(entry.terms, of: text, at: count, through: &recent, to: &words)
        counter.add(entry, text)
        count += 1
    }

    private static func append(
        _ terms: [(field: AuditQuery.Field, value: IndexedEntry.Place)],
        of text: Span<UInt8>,
        at offset: Int,
        through recent: inout RecentKeys,
        to words: inout [UInt64]
    ) {
        words.append(addingCapacity: terms.count) { words in
            for (field, value) in terms {
                let key = recent.key(field, text.extracting(value.range))
                words.append(key << UInt64(AuditIndexFormat.offsetBits) | UInt64(offset))
            }
        }
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
        let keyStart = UInt64(AuditIndexFormat.offsetBits)
        // Entries were added in their order, so those under one key are in it already.
        let sorted = words.sorted(byBits: keyStart..<keyStart + UInt64(keys.format.keyBits))
        var start = 0
        while start < sorted.count {
            let key = sorted[start] >> keyStart
            var end = start + 1
            while end < sorted.count, sorted[end] >> keyStart == key { end += 1 }
            writer.add(key, sorted.span.extracting(start..<end))
            start = end
        }
        return IndexRun(run: run, parts: writer.finish(), usage: usage.bytes)
    }
}

/// What is stored of one run.
package struct IndexRun: Hashable, Sendable {
    /// The number of the run, counted from 0.
    package let run: Int64
    /// In the order of their keys, without a gap.
    package let parts: [IndexPart]
    /// ``LogUsage/bytes`` of its entries.
    package let usage: [UInt8]
}
