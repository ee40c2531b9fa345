// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage

/// The grants in the order of time, in SQLite, with an index by subject: a log-structured merge of two levels.
///
/// Customers come in no order, so storing grants by customer would write a database page for each grant. A grant is
/// written at the end of the log instead. Its offset is first in a table in memory, which can be made again from the
/// log. Compaction moves it into sorted blocks on disk. A filter of all subjects with grants avoids most look-ups.
///
/// `grants` has the other grants, and copies of some: of subjects with many grants, with a renamed key, or with a used
/// grant. Used by one thread, inside an open transaction. See decision 46.
final class GrantLog {
    let connection: any DatabaseConnection
    let options: CompactionOptions
    /// The offsets of the newest grants.
    var memtable = GrantMemtable()
    /// The offsets of the others.
    let blocks: GrantOffsetTable
    /// Which subjects may have grants; `nil` where all are looked up.
    var granted: GrantFilter?
    /// Changes when another connection commits.
    private(set) var stampOfOthers: Int64?
    /// The memtable has the offsets of all grants before this entry that are not in ``blocks``.
    private(set) var nextEntry: Int64 = 0
    /// Whether there may be grants whose offsets are unknown.
    private(set) var isStale = true
    /// The entry of the last written grants, and how many rows it has.
    private var newest = (entry: Int64(-1), rows: Int64(0))
    /// The running compaction.
    var compaction: Compaction?
    /// After a failed compaction, the next one begins only with more new grants than this.
    var compactsAbove = 0
    /// The last reads of ``blocks`` in this transaction: a subject that was looked up may get a grant next.
    private var knownEntries: [(subject: [UInt8], entries: [Int64])] = []
    /// A request rarely has more names.
    private static let mostKnownEntries = 4

    init(_ connection: any DatabaseConnection, _ options: CompactionOptions) {
        self.connection = connection
        self.options = options
        blocks = GrantOffsetTable(connection: connection, options: options)
        granted = options.filterRoom.map { GrantFilter(room: $0) }
    }

    // MARK: - Transactions

    /// A transaction has begun: another connection may have added or removed grants since the last one.
    func begun() throws(StorageError) {
        let stamp = try connection.stampOfOthers()
        if stamp != stampOfOthers {
            granted?.forgetAll()
            (memtable, nextEntry, compaction, isStale) = (GrantMemtable(), 0, nil, true)
        }
        stampOfOthers = stamp
    }

    /// The ledger was changed by another connection.
    func ledgerChanged() {
        isStale = true
        knownEntries.removeAll(keepingCapacity: true)
    }

    /// What was written since the last commit was undone.
    func undone() {
        memtable.remove(from: nextEntry)
        ledgerChanged()
    }

    /// Everything that was added is durable; the next entry of the log will have that index.
    func committed(nextEntry: Int64) {
        if !isStale { self.nextEntry = nextEntry }
        knownEntries.removeAll(keepingCapacity: true)
    }

    /// Reads the offsets that are unknown; each look-up does so too.
    func refresh() throws(StorageError) {
        guard isStale else { return }
        if nextEntry == 0 { nextEntry = try blocks.end() }
        var next = nextEntry
        let rows = SQL(
            "SELECT place, subject FROM grants_by_time WHERE place >= ? ORDER BY place",
            .integer(GrantLogRow.first(of: nextEntry))
        )
        try connection.rows(rows) { row in
            let (entry, subject) = (GrantLogRow.entry(ofPlace: row.integer(0)), row.blob(1))
            // Only another program can have written a subject of another length; none is looked up.
            if subject.count == LedgerKey.byteCount { memtable.insert(subject, entry: entry) }
            next = max(next, entry + 1)
        }
        (nextEntry, isStale) = (next, false)
    }

    // MARK: - The filter

    /// Whether some of it is to be read.
    var isFilterDue: Bool { stampOfOthers != nil && granted?.isReadingDue ?? false }

    /// Reads some of it, between two transactions; the log has that many entries.
    ///
    /// When it throws, all subjects are looked up from then on.
    func fillFilter(ofLog entries: Int64) throws(StorageError) {
        guard isFilterDue, var granted else { return }
        self.granted = nil
        try granted.readSome(options.rowsAtOnce, ofLog: entries, from: connection)
        self.granted = granted
    }

    /// Whether there may be grants of the subject.
    private func mayHaveGrants(_ subject: [UInt8]) -> Bool { granted?.mayHave(subject) ?? true }

    /// Whether some of them may be in `grants`.
    func mayHaveCopies(_ subject: [UInt8]) -> Bool { granted?.mayHaveCopies(subject) ?? true }

    /// Grants of the subject are added to `grants`.
    func noteCopies(_ subject: [UInt8]) { granted?.insertCopied(subject) }

    // MARK: - Reading

    /// The entries at which there may be grants of a subject.
    private func entries(of subject: [UInt8]) throws(StorageError) -> [Int64] {
        guard mayHaveGrants(subject) else { return [] }
        try refresh()
        let new = memtable.entries(of: subject)
        let old = try entriesInBlocks(of: subject)
        return old.isEmpty ? new : new + old.filter { !new.contains($0) }
    }

    private func entriesInBlocks(of subject: [UInt8]) throws(StorageError) -> [Int64] {
        if let known = knownEntries.last(where: { $0.subject == subject }) { return known.entries }
        let entries = try blocks.entries(of: subject)
        if knownEntries.count == Self.mostKnownEntries { knownEntries.removeAll(keepingCapacity: true) }
        knownEntries.append((subject, entries))
        return entries
    }

    /// The grants of an offer to a subject that the log has.
    func grants(of offerKey: Int64, to subject: [UInt8]) throws(StorageError) -> [UniqueID] {
        var found: [UniqueID] = []
        for entry in try entries(of: subject) {
            let values = GrantLogRow.places(of: entry) + [.blob(subject), .integer(offerKey)]
            let grants = SQL(
                "SELECT grant_id FROM grants_by_time WHERE place >= ? AND place < ? AND subject = ? AND offer_key = ?",
                values
            )
            try rows(grants, of: entry) { row in
                if let id = UniqueID(bytes: row.blob(0)) { found.append(id) }
            }
        }
        return found
    }

    /// The same of all offers, by the offers' keys.
    func grants(to subject: [UInt8]) throws(StorageError) -> [Int64: Set<UniqueID>] {
        var found: [Int64: Set<UniqueID>] = [:]
        for entry in try entries(of: subject) {
            let grants = SQL(
                "SELECT offer_key, grant_id FROM grants_by_time WHERE place >= ? AND place < ? AND subject = ?",
                GrantLogRow.places(of: entry) + [.blob(subject)]
            )
            try rows(grants, of: entry) { row in
                if let id = UniqueID(bytes: row.blob(1)) { found[row.integer(0), default: []].insert(id) }
            }
        }
        return found
    }

    /// Reads rows of an entry, which may be one of this transaction.
    private func rows(_ sql: SQL, of entry: Int64, _ each: (borrowing Row) -> Void) throws(StorageError) {
        if entry < nextEntry { try connection.earlierRows(sql, each) } else { try connection.rows(sql, each) }
    }

    // MARK: - Writing

    /// Adds a grant that the entry of that index records; false if it is to be added to `grants` instead.
    ///
    /// A subject with many grants has the others there, where one look-up finds them.
    func add(_ grantID: UniqueID, of offerKey: Int64, to subject: [UInt8], entry: Int64) throws(StorageError) -> Bool {
        try refresh()
        let isFrequent = try entries(of: subject).count >= options.mostOffsetsOfSubject
        granted?.insert(subject)
        if newest.entry != entry { newest = (entry, 0) }
        if isFrequent || newest.rows == GrantLogRow.mostOfAnEntry { return false }
        let place = GrantLogRow.first(of: entry) + newest.rows
        let row: [SQLValue] = [.integer(place), .blob(subject), .integer(offerKey), .blob(grantID.bytes)]
        try connection.insert(row, into: Self.insertion)
        newest.rows += 1
        memtable.insert(subject, entry: entry)
        return true
    }

    private static let insertion = Insertion(into: "grants_by_time", columns: "place, subject, offer_key, grant_id")

    /// Moves all grants of a subject to `grants`.
    func moveOut(_ subject: [UInt8]) throws(StorageError) {
        for entry in try entries(of: subject) {
            noteCopies(subject)
            let rows = GrantLogRow.places(of: entry) + [.blob(subject)]
            try connection.run(
                SQL(
                    """
                    INSERT INTO grants (subject, offer_key, grant_id, entry_index)
                    SELECT subject, offer_key, grant_id, place / 256 FROM grants_by_time
                    WHERE place >= ? AND place < ? AND subject = ? ON CONFLICT DO NOTHING
                    """,
                    rows
                )
            )
            try connection.run(
                SQL("DELETE FROM grants_by_time WHERE place >= ? AND place < ? AND subject = ?", rows)
            )
        }
    }

    /// Removes the grants of a subject that are in `grants` too, once the others are moved out.
    func removeCopied(of subject: [UInt8]) throws(StorageError) {
        guard mayHaveCopies(subject) else { return }
        try connection.run(
            SQL(
                """
                DELETE FROM grants_by_time WHERE place IN (
                    SELECT log.place FROM grants JOIN grants_by_time AS log ON log.place >= grants.entry_index * 256
                        AND log.place < grants.entry_index * 256 + 256 AND log.subject = grants.subject
                    WHERE grants.subject = ?
                )
                """,
                .blob(subject)
            )
        )
    }
}
