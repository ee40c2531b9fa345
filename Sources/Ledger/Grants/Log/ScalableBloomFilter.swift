// SPDX-License-Identifier: Apache-2.0

/// A Bloom filter that grows: once a ``BloomFilter`` is full, one with four times its room is added.
///
/// So no subject is inserted again (Almeida, Baquero, Preguiça, Hutchison, "Scalable Bloom Filters", 2007). Each full filter takes one other in 400 for a subject: with room for 65,536 at first there
/// are four, which take one in 100 until the largest is full; with room for 64, one in 50.
struct ScalableBloomFilter {
    /// Room for so many subjects in one filter at the most, which is 8 MB; of more, it makes more mistakes.
    static let mostRoom = 1 << 22

    /// The last is the one that subjects are inserted into.
    private var filters: [BloomFilter]

    /// How many subjects the last filter has room for.
    var capacity: Int { filters.last?.capacity ?? 0 }

    /// An empty filter with room for so many subjects at first.
    init(room: Int) { filters = [BloomFilter(capacity: room)] }

    /// False only of a subject that was not inserted.
    func mayContain(_ subject: [UInt8]) -> Bool { filters.contains { $0.mayContain(subject) } }

    mutating func insert(_ subject: [UInt8]) {
        // One that is in a filter already, or taken for one that is, takes no room.
        guard !mayContain(subject) else { return }
        let last = filters.count - 1
        filters[last].insert(subject)
        if filters[last].isFull, filters[last].capacity < Self.mostRoom {
            filters.append(BloomFilter(capacity: min(4 * filters[last].capacity, Self.mostRoom)))
        }
    }
}
