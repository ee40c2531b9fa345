// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import Storage

/// The index as it lies in the database.
package struct AuditIndexTables {
    private let connection: any DatabaseConnection

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// The version of the index and its key; nil where there is none.
    package func state() throws(StorageError) -> (version: Int64, hashKey: SipHashKey)? {
        do throws(StorageError) {
            return try connection.first(SQL("SELECT version, hash_key FROM audit_index_state")) { row in
                let version = row.integer(0)
                return SipHashKey(bytes: row.blob(1)).map { (version, $0) }
            }.flatMap(\.self)
        } catch {
            // The table was dropped: answers then come from the log itself.
            guard case .misuse = error else { throw error }
            return nil
        }
    }

    /// The keys of an index that this program can read; nil where there is none.
    func keys(_ format: AuditIndexFormat) throws(StorageError) -> IndexTermKeys? {
        guard let state = try state(), state.version == AuditIndexFormat.version else { return nil }
        return IndexTermKeys(hash: state.hashKey, format: format)
    }

    /// The runs that are stored, in order.
    package func runs() throws(StorageError) -> [Int64] {
        try connection.all(SQL("SELECT run FROM audit_index_runs ORDER BY run")) { $0.integer(0) }
    }

    /// The last run that has any stored rows.
    func last() throws(StorageError) -> Int64? {
        try connection.first(
            SQL(
                """
                SELECT max(run) FROM (SELECT max(run) AS run FROM audit_index_runs
                UNION ALL SELECT max(run) FROM audit_index_parts) AS stored
                """
            )
        ) { $0.optionalInteger(0) }.flatMap(\.self)
    }

    /// The one part of a run that would have a key, if it is there.
    func part(of run: Int64, for key: UInt64) throws(StorageError) -> IndexPart? {
        try connection.first(
            SQL(
                """
                SELECT first_key, postings FROM audit_index_parts
                WHERE run = ? AND first_key <= ? ORDER BY first_key DESC LIMIT 1
                """,
                .integer(run),
                .integer(Int64(key))
            )
        ) { row in
            IndexPart(run: run, firstKey: UInt64(bitPattern: row.integer(0)), bytes: row.blob(1))
        }
    }

    /// A run as it is stored; nil if it is not.
    package func stored(_ run: Int64) throws(StorageError) -> IndexRun? {
        guard let usage = try usage(of: run) else { return nil }
        let parts = try connection.all(
            SQL("SELECT first_key, postings FROM audit_index_parts WHERE run = ? ORDER BY first_key", .integer(run))
        ) { row in
            IndexPart(run: run, firstKey: UInt64(bitPattern: row.integer(0)), bytes: row.blob(1))
        }
        return IndexRun(run: run, parts: parts, usage: usage)
    }

    /// What the entries of a run come to; nil if it is not stored.
    func usage(of run: Int64) throws(StorageError) -> [UInt8]? {
        try connection.first(SQL("SELECT usage FROM audit_index_runs WHERE run = ?", .integer(run))) { $0.blob(0) }
    }

    /// Stores a run, in place of what may be stored of it.
    package func store(_ run: IndexRun) throws(StorageError) {
        try connection.enqueue(SQL("DELETE FROM audit_index_parts WHERE run = ?", .integer(run.run)))
        for part in run.parts {
            let row: [SQLValue] = [.integer(run.run), .integer(Int64(part.firstKey)), .blob(part.bytes)]
            try connection.insert(row, into: Self.parts)
        }
        try connection.insert([.integer(run.run), .blob(run.usage)], into: Self.runs)
    }

    private static let parts = Insertion(into: "audit_index_parts", columns: "run, first_key, postings")
    private static let runs = Insertion(
        into: "audit_index_runs",
        columns: "run, usage",
        onConflict: .replaces(keyColumns: 1)
    )

    /// Gives the index a new key and deletes all runs, unless this program can read the index.
    func renewStateUnlessReadable() throws(StorageError) {
        if let state = try state(), state.version == AuditIndexFormat.version { return }
        try connection.enqueue(SQL("DELETE FROM audit_index_state"))
        let insertion = SQL(
            "INSERT INTO audit_index_state (version, hash_key) VALUES (?, randomblob(16))",
            .integer(AuditIndexFormat.version)
        )
        try connection.enqueue(insertion)
        try remove(from: 0)
    }

    /// Deletes every run from that one on.
    package func remove(from run: Int64) throws(StorageError) {
        try connection.enqueue(SQL("DELETE FROM audit_index_parts WHERE run >= ?", .integer(run)))
        try connection.enqueue(SQL("DELETE FROM audit_index_runs WHERE run >= ?", .integer(run)))
    }
}
