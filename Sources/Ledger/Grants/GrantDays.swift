// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage

/// How many grants offers had on each UTC day, as one transaction sees it, its own grants included.
///
/// The database is read once, and new grants are counted in memory: no other connection writes meanwhile. Used by one
/// thread, inside an open transaction.
struct GrantDays {
    private struct Day: Hashable {
        let offerKey: Int64
        let day: Int
    }

    private let connection: any DatabaseConnection
    /// Grants that the database does not count yet.
    private var pending: [Day: Int64] = [:]
    /// By offer, the first day with known grants, and the counts in the order of days.
    private var known: [Int64: (firstDay: Int, counts: [GrantHistory.DayCount])] = [:]

    init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// Knows nothing any more: another transaction begins.
    mutating func forget() {
        pending.removeAll(keepingCapacity: true)
        known.removeAll(keepingCapacity: true)
    }

    /// Counts a grant.
    mutating func add(_ offerKey: Int64, on day: Int) {
        pending[Day(offerKey: offerKey, day: day), default: 0] += 1
        guard let firstDay = known[offerKey]?.firstDay, day >= firstDay else { return }
        known[offerKey]?.counts.add(1, on: day)
    }

    /// The counts of an offer from a day on, in the order of days; without days on which there was no grant.
    mutating func counts(of offerKey: Int64, from firstDay: Int) throws(StorageError) -> [GrantHistory.DayCount] {
        if let known = known[offerKey], known.firstDay == firstDay { return known.counts }
        var counts = try connection.all(Self.stored(offerKey, from: firstDay)) {
            GrantHistory.DayCount(day: Int($0.integer(0)), count: Int($0.integer(1)))
        }
        for (day, count) in pending where day.offerKey == offerKey && day.day >= firstDay {
            counts.add(Int(count), on: day.day)
        }
        known[offerKey] = (firstDay, counts)
        return counts
    }

    /// Asks ahead what ``counts(of:from:)`` reads.
    func ask(_ offerKey: Int64, from firstDay: Int) throws(StorageError) {
        try connection.ask(Self.stored(offerKey, from: firstDay))
    }

    private static func stored(_ offerKey: Int64, from firstDay: Int) -> SQL {
        SQL(
            "SELECT day, granted FROM grants_per_day WHERE offer_key = ? AND day >= ? ORDER BY day",
            .integer(offerKey),
            .integer(Int64(firstDay))
        )
    }

    /// Adds this transaction's grants to those that the database counts.
    func write() throws(StorageError) {
        for (day, count) in pending {
            let row: [SQLValue] = [.integer(day.offerKey), .integer(Int64(day.day)), .integer(count)]
            try connection.insert(row, into: Self.insertion)
        }
    }

    private static let insertion = Insertion(
        into: "grants_per_day",
        columns: "offer_key, day, granted",
        onConflict: .updates(keyColumns: 2, "granted = grants_per_day.granted + excluded.granted")
    )
}

extension [GrantHistory.DayCount] {
    /// Adds grants to a day, which is mostly the last.
    fileprivate mutating func add(_ count: Int, on day: Int) {
        let place = lastIndex { $0.day <= day }
        if let place, self[place].day == day {
            self[place] = GrantHistory.DayCount(day: day, count: self[place].count + count)
        } else {
            insert(GrantHistory.DayCount(day: day, count: count), at: place.map { $0 + 1 } ?? 0)
        }
    }
}
