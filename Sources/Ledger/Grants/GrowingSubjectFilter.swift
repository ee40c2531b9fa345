// SPDX-License-Identifier: Apache-2.0

/// A ``SubjectFilter`` that is given more room as there come to be more subjects: behind a full filter stands one with four
/// times as much room.
///
/// So nobody need be inserted again. Each filter that is full mistakes one stranger in 400 for a subject: with room for 65,536
/// at first all of them, of which there are four then, one in 100 until the largest is full; with room for 64, one in 50.
struct GrowingSubjectFilter {
    /// Room for so many subjects in one filter at the most, which is 8 MB; of more, it makes more mistakes.
    static let mostRoom = 1 << 22

    /// The last is the one that subjects are inserted into.
    private var filters: [SubjectFilter]

    /// How many subjects the last filter has room for.
    var capacity: Int { filters.last?.capacity ?? 0 }

    /// An empty filter with room for so many subjects at first.
    init(room: Int) { filters = [SubjectFilter(capacity: room)] }

    /// False only of a subject that was not inserted.
    func mayContain(_ subject: [UInt8]) -> Bool { filters.contains { $0.mayContain(subject) } }

    mutating func insert(_ subject: [UInt8]) {
        // Who is in one already, or taken for somebody who is, takes no room.
        guard !mayContain(subject) else { return }
        let last = filters.count - 1
        filters[last].insert(subject)
        if filters[last].isFull, filters[last].capacity < Self.mostRoom {
            filters.append(SubjectFilter(capacity: min(4 * filters[last].capacity, Self.mostRoom)))
        }
    }
}
