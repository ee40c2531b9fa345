// SPDX-License-Identifier: Apache-2.0

/// A Bloom filter that grows: once a ``BloomFilter`` is full, one with four times its room is added.
///
/// So no subject is inserted again (Almeida, Baquero, Preguiça, Hutchison, "Scalable Bloom Filters", 2007). Each full
/// filter has 1 false positive in 400. With room for 65,536 at first, there are four filters, with 1 in 100 until the
/// largest is full; with room for 64, 1 in 50.
struct ScalableBloomFilter {
    /// The most subjects that one filter has room for, which is 8 MB; with more, it has more false positives.
    static let mostRoom = 1 << 22

    /// Subjects are inserted into the last one.
    private var filters: [BloomFilter]

    /// How many subjects the last filter has room for.
    var capacity: Int { filters.last?.capacity ?? 0 }

    /// An empty filter with room for `room` subjects at first.
    init(room: Int) { filters = [BloomFilter(capacity: room)] }

    /// False only for a subject that was not inserted.
    func mayContain(_ subject: [UInt8]) -> Bool { filters.contains { $0.mayContain(subject) } }

    mutating func insert(_ subject: [UInt8]) {
        // A subject that a filter already has, or seems to have, takes no room.
        guard !mayContain(subject) else { return }
        let last = filters.count - 1
        filters[last].insert(subject)
        if filters[last].isFull, filters[last].capacity < Self.mostRoom {
            filters.append(BloomFilter(capacity: min(4 * filters[last].capacity, Self.mostRoom)))
        }
    }
}
