// SPDX-License-Identifier: Apache-2.0

/// The name of a member of an entry, as it is compared.
struct MemberName {
    let place: IndexedEntry.Place
    /// Its first eight bytes, the first one highest and zeros after the last, so that words are in the order of names.
    let word: UInt64

    init(_ place: IndexedEntry.Place, word: UInt64) {
        self.place = place
        self.word = word
    }

    init(_ place: IndexedEntry.Place, _ entry: Span<UInt8>) {
        self.place = place
        var word: UInt64 = 0
        for offset in 0..<8 {
            let byte = place.start + offset < place.end ? entry[place.start + offset] : 0
            word = word << 8 | UInt64(byte)
        }
        self.word = word
    }

    /// Whether all of it is in `word`.
    var isShort: Bool { place.end - place.start <= 8 }

    /// Whether another name may come after this one, in the order of bytes.
    @inline(__always)
    func precedes(_ next: MemberName, _ entry: Span<UInt8>) -> Bool {
        word == next.word ? continuesBefore(next, entry) : word < next.word
    }

    /// The same where both begin alike.
    private func continuesBefore(_ next: MemberName, _ entry: Span<UInt8>) -> Bool {
        let (length, nextLength) = (place.end - place.start, next.place.end - next.place.start)
        for offset in 0..<min(length, nextLength) {
            let (before, after) = (entry[place.start + offset], entry[next.place.start + offset])
            if before != after { return before < after }
        }
        return length < nextLength
    }
}

/// Finds members by their names; every name fits in one word.
struct MemberTable {
    static let all = MemberTable()
    static let caller = word("caller")
    static let code = word("code")

    private var words: [UInt64] = Array(repeating: 0, count: 64)
    private var members: [IndexedEntry.Member?] = Array(repeating: nil, count: 64)

    private init() {
        for (name, member) in IndexedEntry.Member.names {
            let word = Self.word(name)
            var place = Self.place(of: word)
            while words[place] != 0 { place = (place + 1) % 64 }
            (words[place], members[place]) = (word, member)
        }
    }

    @inline(__always)
    func member(named name: MemberName) -> IndexedEntry.Member? {
        guard name.isShort else { return nil }
        var place = Self.place(of: name.word)
        while words[place] != name.word {
            if words[place] == 0 { return nil }
            place = (place + 1) % 64
        }
        return members[place]
    }

    private static func place(of word: UInt64) -> Int { Int((word &* 0x9E37_79B9_7F4A_7C15) >> 58) }

    private static func word(_ name: String) -> UInt64 {
        let span = name.utf8.span
        precondition(span.count <= 8, "the name of a member that is indexed fits a word")
        return MemberName(IndexedEntry.Place(start: 0, end: span.count), span).word
    }
}
