// SPDX-License-Identifier: Apache-2.0

/// Where in the log the new grants of a subject are: a table in memory with one word for each.
///
/// It knows a subject by its first 24 bits, so it may name a place that is another's, or none any more; who looks there
/// sees it. It never leaves out one that it was given. Subjects are keyed digests: nobody can choose where they fall.
struct GrantPlaces {
    /// The subject's first bits above the entry's index, plus one; 0 where nothing is.
    ///
    /// They are in the order of their subjects, but for those that had to give way to others.
    private var slots: [UInt64]
    private var slotBits: Int
    /// How many places there are.
    private(set) var count = 0

    /// A subject is the key of a pseudonym, which is that long.
    static let subjectBytes = 16
    static let subjectBits = 24
    private static let entryBits = 40

    init() {
        slotBits = 10
        slots = [UInt64](repeating: 0, count: 1 << slotBits)
    }

    /// The first bits of a subject, which order them as the database does.
    static func prefix(of subject: [UInt8]) -> Int { prefix(of: subject.span) }

    /// The same of its bytes.
    static func prefix(of subject: Span<UInt8>) -> Int {
        precondition(subject.count == subjectBytes, "a subject is the key of a pseudonym")
        return Int(subject[0]) << 16 | Int(subject[1]) << 8 | Int(subject[2])
    }

    mutating func insert(_ subject: [UInt8], entry: Int64) {
        if 2 * (count + 1) > slots.count { grow() }
        put(Self.word(Self.prefix(of: subject), entry))
        count += 1
    }

    /// The entries at which there may be grants of a subject.
    func entries(of subject: [UInt8]) -> [Int64] {
        let prefix = Self.prefix(of: subject)
        var entries: [Int64] = []
        var slot = home(prefix)
        while slots[slot] != 0 {
            if Self.prefix(slots[slot]) == prefix { entries.append(Self.entry(slots[slot])) }
            slot = (slot + 1) & (slots.count - 1)
        }
        return entries
    }

    /// The places of all subjects whose prefix is in a range, before an entry, in the order of subjects.
    func words(in prefixes: Range<Int>, before end: Int64) -> [UInt64] {
        guard let last = prefixes.last else { return [] }
        var words: [UInt64] = []
        var slot = home(prefixes.lowerBound)
        let lastHome = home(last)
        for _ in 0..<slots.count {
            let word = slots[slot]
            if word == 0, slot >= lastHome || slot < home(prefixes.lowerBound) { break }
            if word != 0, prefixes.contains(Self.prefix(word)), Self.entry(word) < end { words.append(word) }
            slot = (slot + 1) & (slots.count - 1)
        }
        return words.sorted()
    }

    /// Forgets all places before an entry.
    mutating func remove(before end: Int64) { keep { $0 >= end } }

    /// Forgets all places from an entry on.
    mutating func remove(from start: Int64) { keep { $0 < start } }

    private mutating func keep(_ isKept: (Int64) -> Bool) {
        let kept = slots.filter { $0 != 0 && isKept(Self.entry($0)) }
        self = GrantPlaces()
        while 2 * (kept.count + 1) > slots.count { grow() }
        for word in kept { put(word) }
        count = kept.count
    }

    private mutating func grow() {
        let old = slots
        slotBits += 1
        slots = [UInt64](repeating: 0, count: 1 << slotBits)
        for word in old where word != 0 { put(word) }
    }

    private mutating func put(_ word: UInt64) {
        var slot = home(Self.prefix(word))
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = word
    }

    private func home(_ prefix: Int) -> Int {
        slotBits <= Self.subjectBits
            ? prefix >> (Self.subjectBits - slotBits) : prefix << (slotBits - Self.subjectBits)
    }

    /// A place as one number.
    static func word(_ prefix: Int, _ entry: Int64) -> UInt64 {
        precondition((0..<1 << entryBits - 1).contains(entry), "a log has fewer entries than 2^40")
        return UInt64(prefix) << UInt64(entryBits) | UInt64(entry + 1)
    }

    /// The prefix in a word.
    static func prefix(_ word: UInt64) -> Int { Int(word >> UInt64(entryBits)) }

    /// The entry in a word.
    static func entry(_ word: UInt64) -> Int64 { Int64(word & (1 << UInt64(entryBits) - 1)) - 1 }
}
