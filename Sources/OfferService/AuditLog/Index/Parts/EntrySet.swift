// SPDX-License-Identifier: Apache-2.0

/// Some of the entries of one run, a bit for each.
struct EntrySet: Hashable, Sendable {
    private(set) var words: [UInt64]

    /// No entry of a run of that size.
    init(none entriesPerRun: Int) {
        words = Array(repeating: 0, count: entriesPerRun / 64)
    }

    /// The entries from an offset on.
    init(from first: Int, entriesPerRun: Int) {
        words = Array(repeating: 0, count: entriesPerRun / 64)
        for word in words.indices where 64 * word + 64 > first {
            words[word] = .max << UInt64(max(0, first - 64 * word))
        }
    }

    /// The set from its words.
    init(words: [UInt64]) {
        self.words = words
    }

    var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

    mutating func insert(_ offset: Int) {
        words[offset >> 6] |= 1 << UInt64(offset & 63)
    }

    mutating func formUnion(_ other: EntrySet) {
        for place in words.indices { words[place] |= other.words[place] }
    }

    mutating func formIntersection(_ other: EntrySet) {
        for place in words.indices { words[place] &= other.words[place] }
    }

    /// The offsets that lie in `range`, in order.
    func offsets(in range: Range<Int>) -> [Int] {
        var offsets: [Int] = []
        for place in words.indices where words[place] != 0 {
            var rest = words[place]
            while rest != 0 {
                let offset = 64 * place + rest.trailingZeroBitCount
                if range.contains(offset) { offsets.append(offset) }
                rest &= rest - 1
            }
        }
        return offsets
    }
}
