// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
package import Storage

/// Which anonymous customers became which known ones, and which subscriptions moved from one account to another.
///
/// A link leads one step, in both directions, and no further. With only one secret of customer IDs, nothing is read for
/// customers without a link: a filter in memory finds them. Used by one thread, inside an open transaction.
package final class CustomerLinks {
    /// One end of a link, seen from the other.
    struct Link: Hashable {
        let subject: [UInt8]
        /// Whether a backend or a store vouches for it; a user's token may link a device that is another person's.
        var isVouched: Bool
    }

    private let connection: any DatabaseConnection
    private var filter = ScalableBloomFilter(room: 64)
    /// The filter has every link that was recorded by an entry before this one.
    private var nextEntry: Int64 = 0
    /// Whether there may be links that the filter does not have.
    private var isStale = true
    /// Whether another instance may have moved links to other keys, which no entry records.
    private var mayMove = false

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    // MARK: - The filter

    /// Notes that another process has written to the ledger, or that a transaction was undone.
    func ledgerChanged() { isStale = true }

    /// Notes that everything that was added is durable; the next entry of the log will have that index.
    func committed(nextEntry: Int64) {
        if !isStale { self.nextEntry = nextEntry }
    }

    /// Asks ahead what ``refresh()`` reads, where links are known already.
    func ask() throws(StorageError) {
        if nextEntry > 0 { try connection.ask(newest) }
    }

    private var newest: SQL {
        // The second bound makes a query planner expect few rows.
        SQL(
            "SELECT from_subject, to_subject FROM customer_links WHERE entry_index >= ? AND entry_index < ?",
            .integer(nextEntry),
            .integer(.max)
        )
    }

    /// Brings the filter up to date with all links; later reads do so too.
    func refresh() throws(StorageError) {
        guard isStale else { return }
        if nextEntry > 0 {
            try insert(newest)
        } else {
            try readAll()
        }
        isStale = false
    }

    /// Reads the table in its own order; the filter gets room for as many again.
    private func readAll() throws(StorageError) {
        let count = try connection.first(SQL("SELECT count(*) FROM customer_links")) { $0.integer(0) } ?? 0
        filter = ScalableBloomFilter(room: max(64, 4 * Int(count)))
        try insert(SQL("SELECT from_subject, to_subject FROM customer_links"))
    }

    private func insert(_ links: SQL) throws(StorageError) {
        try connection.rows(links) { row in
            // No request asks for keys of other lengths, which only another program can have written.
            for subject in [row.blob(0), row.blob(1)] where subject.count == LedgerKey.byteCount {
                filter.insert(subject)
            }
        }
    }

    // MARK: - Reading

    /// The subjects, and those that are linked to one of them.
    func withLinked(_ subjects: [[UInt8]]) throws(StorageError) -> [[UInt8]] {
        try subjects + links(of: subjects).map(\.subject)
    }

    /// The others that are linked to one of the subjects, in either direction; each once.
    ///
    /// Each link says whether a backend or a store vouches for it, or only a user's token.
    func links(of subjects: [[UInt8]]) throws(StorageError) -> [Link] {
        try refresh()
        var found: [Link] = []
        for subject in subjects where mayMove || filter.mayContain(subject) {
            for link in try neighbours(of: subject) where !subjects.contains(link.subject) {
                guard let place = found.firstIndex(where: { $0.subject == link.subject }) else {
                    found.append(link)
                    continue
                }
                if link.isVouched { found[place].isVouched = true }
            }
        }
        return found
    }

    private func neighbours(of subject: [UInt8]) throws(StorageError) -> [Link] {
        try connection.all(
            SQL(
                """
                SELECT to_subject, is_vouched FROM customer_links WHERE from_subject = ?
                UNION ALL SELECT from_subject, is_vouched FROM customer_links WHERE to_subject = ?
                """,
                .blob(subject),
                .blob(subject)
            )
        ) { Link(subject: $0.blob(0), isVouched: $0.integer(1) != 0) }
    }

    /// Whether a link joins the two, in either direction, and a backend or a store vouches for it.
    func areVouched(_ one: [UInt8], _ other: [UInt8]) throws(StorageError) -> Bool {
        try links(of: [one]).contains { $0.subject == other && $0.isVouched }
    }

    /// When the two were linked in this direction, and whether that is vouched for; `nil` if they were not.
    func link(
        from: [UInt8],
        to: [UInt8]
    ) throws(StorageError) -> (linkedAt: Timestamp, isVouched: Bool)? {
        try connection.first(
            SQL(
                "SELECT linked_at, is_vouched FROM customer_links WHERE from_subject = ? AND to_subject = ?",
                .blob(from),
                .blob(to)
            )
        ) { (Timestamp(milliseconds: $0.integer(0)), $0.integer(1) != 0) }
    }

    /// How many links the subject has that a backend or a store vouches for, or that only users' tokens made.
    func count(of subject: [UInt8], isVouched: Bool) throws(StorageError) -> Int {
        try neighbours(of: subject).count { $0.isVouched == isVouched }
    }

    // MARK: - Writing

    /// Customers have keys of several secret versions, so another instance may move links to the keys in force.
    ///
    /// From then on the links of every customer are read, because the filter would not know of the move.
    func expectMoves() { mayMove = true }

    /// Adds a link, or vouches for an existing one from `instant` on; `entry` is the index of the entry that says so.
    func add(
        _ from: [UInt8],
        to link: Link,
        at instant: Timestamp,
        entry: Int64
    ) throws(StorageError) {
        let to = link.subject
        let row: [SQLValue] = [
            .blob(from), .blob(to), .integer(link.isVouched ? 1 : 0), .integer(instant.milliseconds), .integer(entry),
        ]
        try connection.insert(row, into: Self.insertion)
        filter.insert(from)
        filter.insert(to)
    }

    private static let insertion = Insertion(
        into: "customer_links",
        columns: "from_subject, to_subject, is_vouched, linked_at, entry_index",
        onConflict: .updates(
            keyColumns: 2,
            """
            is_vouched = excluded.is_vouched, linked_at = excluded.linked_at, entry_index = excluded.entry_index
            WHERE excluded.is_vouched > customer_links.is_vouched
            """
        )
    )
}
