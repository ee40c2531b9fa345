// SPDX-License-Identifier: Apache-2.0

/// The offsets of the newest grants, in memory, by subject: a hash table with one word for each.
///
/// It may have offsets of removed grants, and has every offset that was inserted.
struct GrantMemtable {
    /// Words of ``GrantOffset``; 0 in empty slots.
    ///
    /// They are in the order of their subjects, except those that were moved on by a collision.
    private var slots: [UInt64]
    private var slotBits: Int
    /// How many offsets there are.
    private(set) var count = 0

    init() {
        slotBits = 10
        slots = [UInt64](repeating: 0, count: 1 << slotBits)
    }

    mutating func insert(_ subject: [UInt8], entry: Int64) {
        if 2 * (count + 1) > slots.count { grow() }
        put(GrantOffset(prefix: GrantOffset.prefix(of: subject), entry: entry))
        count += 1
    }

    /// The entries at which there may be grants of a subject.
    func entries(of subject: [UInt8]) -> [Int64] {
        let prefix = GrantOffset.prefix(of: subject)
        var entries: [Int64] = []
        var slot = home(prefix)
        while slots[slot] != 0 {
            let offset = GrantOffset(word: slots[slot])
            if offset.prefix == prefix { entries.append(offset.entry) }
            slot = (slot + 1) & (slots.count - 1)
        }
        return entries
    }

    /// The offsets before an entry of all subjects with a prefix in a range, in order.
    func offsets(in prefixes: Range<Int>, before end: Int64) -> [GrantOffset] {
        guard let last = prefixes.last else { return [] }
        var offsets: [GrantOffset] = []
        let (first, lastHome) = (home(prefixes.lowerBound), home(last))
        var slot = first
        for _ in 0..<slots.count {
            let offset = GrantOffset(word: slots[slot])
            if offset.word == 0, slot >= lastHome || slot < first { break }
            if offset.word != 0, prefixes.contains(offset.prefix), offset.entry < end { offsets.append(offset) }
            slot = (slot + 1) & (slots.count - 1)
        }
        return offsets.sorted()
    }

    /// Forgets all offsets before an entry.
    mutating func remove(before end: Int64) { keep { $0 >= end } }

    /// Forgets all offsets from an entry on.
    mutating func remove(from start: Int64) { keep { $0 < start } }

    private mutating func keep(_ isKept: (Int64) -> Bool) {
        let kept = slots.filter { $0 != 0 && isKept(GrantOffset(word: $0).entry) }
        self = GrantMemtable()
        while 2 * (kept.count + 1) > slots.count { grow() }
        for word in kept { put(GrantOffset(word: word)) }
        count = kept.count
    }

    private mutating func grow() {
        let old = slots
        slotBits += 1
        slots = [UInt64](repeating: 0, count: 1 << slotBits)
        for word in old where word != 0 { put(GrantOffset(word: word)) }
    }

    private mutating func put(_ offset: GrantOffset) {
        var slot = home(offset.prefix)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = offset.word
    }

    private func home(_ prefix: Int) -> Int {
        let bits = GrantOffset.prefixBits
        return slotBits <= bits ? prefix >> (bits - slotBits) : prefix << (slotBits - bits)
    }
}
