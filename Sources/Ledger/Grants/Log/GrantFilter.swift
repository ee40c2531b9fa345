// SPDX-License-Identifier: Apache-2.0
import Configuration
import Storage

/// Shows for most subjects, without asking the database, that they never got a grant.
///
/// Each new grant is added, and earlier ones are read in batches. Until all are read, every subject may have grants.
/// Only for a database that no other service uses. Used by one thread.
struct GrantFilter {
    /// How far the earlier grants are read.
    fileprivate struct Reading {
        /// Grants of the log from before this entry are read; later ones are added one by one.
        let end: Int64
        var position = Position.log(after: -1)
    }

    /// The row after which reading continues.
    ///
    /// The log comes first, then `grants`: so a grant that is copied meanwhile is read in at least one of the two.
    fileprivate enum Position {
        case log(after: Int64)
        case grants(subject: [UInt8])
    }

    private var filter: ScalableBloomFilter
    /// Those that may have some in `grants`.
    private var copied: ScalableBloomFilter
    private var reading: Reading?
    private var hasAll = false

    /// An empty filter; `room` is how many subjects it has room for at first.
    init(room: Int) {
        filter = ScalableBloomFilter(room: room)
        copied = ScalableBloomFilter(room: min(room, Self.roomForCopied))
    }

    /// In SQLite few grants are in `grants`.
    private static let roomForCopied = 4_096

    /// Whether there may be grants of the subject.
    func mayHave(_ subject: [UInt8]) -> Bool { !hasAll || filter.mayContain(subject) }

    /// Whether some of them may be in `grants`.
    func mayHaveCopies(_ subject: [UInt8]) -> Bool { !hasAll || copied.mayContain(subject) }

    /// There is a grant of the subject now, or will be.
    mutating func insert(_ subject: [UInt8]) { filter.insert(subject) }

    /// There is one in `grants` now, or will be.
    mutating func insertCopied(_ subject: [UInt8]) {
        filter.insert(subject)
        copied.insert(subject)
    }

    /// Another program may have granted something: all are to be read again, into a filter with room for about as many.
    mutating func forgetAll() { self = Self(room: filter.capacity) }

    // MARK: - Reading

    /// Whether there is something to be read.
    var isReadingDue: Bool { !hasAll }

    /// Reads at most `rows` rows, between two transactions; the log has `entries` entries.
    ///
    /// On an error, the filter is empty again.
    mutating func readSome(
        _ rows: Int,
        ofLog entries: Int64,
        from connection: any DatabaseConnection
    ) throws(StorageError) {
        var current = reading ?? Reading(end: entries)
        do throws(StorageError) { hasAll = try current.read(rows, into: &filter, &copied, from: connection) } catch {
            forgetAll()
            throw error
        }
        reading = hasAll ? nil : current
    }
}

extension GrantFilter.Reading {
    /// Reads the next rows; returns whether they were the last.
    mutating func read(
        _ most: Int,
        into filter: inout ScalableBloomFilter,
        _ copied: inout ScalableBloomFilter,
        from connection: any DatabaseConnection
    ) throws(StorageError) -> Bool {
        switch position {
        case .log(let previous):
            let question = SQL(
                "SELECT subject, place FROM grants_by_time WHERE place > ? AND place < ? ORDER BY place LIMIT ?",
                .integer(previous),
                .integer(GrantLogRow.first(of: end)),
                .integer(Int64(most))
            )
            let last = try read(question, atMost: most, from: connection) {
                filter.insert($0)
            } position: {
                .log(after: $0.integer(1))
            }
            position = last ?? .grants(subject: [])
            return false
        case .grants(let subject):
            let question = SQL(
                "SELECT subject FROM grants WHERE subject > ? ORDER BY subject LIMIT ?",
                .blob(subject),
                .integer(Int64(most))
            )
            let last = try read(question, atMost: most, from: connection) { subject in
                filter.insert(subject)
                copied.insert(subject)
            } position: {
                .grants(subject: $0.blob(0))
            }
            if let last { position = last }
            return last == nil
        }
    }

    /// Inserts the subjects of an answer; returns the position of its last row, or `nil` if the table has no more.
    private func read(
        _ sql: SQL,
        atMost most: Int,
        from connection: any DatabaseConnection,
        insert: ([UInt8]) -> Void,
        position: (borrowing Row) -> GrantFilter.Position
    ) throws(StorageError) -> GrantFilter.Position? {
        var count = 0
        var last: GrantFilter.Position?
        try connection.rows(sql) { row in
            let subject = row.blob(0)
            // Only another program can have written a subject of another length; none is looked up.
            if subject.count == LedgerKey.byteCount { insert(subject) }
            count += 1
            if count == most { last = position(row) }
        }
        return last
    }
}
