// SPDX-License-Identifier: Apache-2.0
import CSQLite

/// A connection to a SQLite database: write-ahead log, and every commit synced to the disk.
///
/// It owns the library's handle and the statements prepared with it. SQLite is configured for use by one thread at a
/// time, and takes no locks of its own.
@safe
package final class SQLiteConnection: DatabaseConnection {
    let handle: OpaquePointer
    /// Counted only after ``leaveLogToOthers()``.
    package internal(set) var pagesInLog = 0
    private let access: DatabaseAccess
    /// By the address of the statement's text.
    private var statements: [UInt: SQLiteStatement] = [:]
    private var buffer = InsertBuffer()
    private var isInTransaction = false
    /// Why the current transaction can no longer be committed.
    private var transactionFailure: StorageError?
    /// Why no result of this connection can be trusted any more.
    private var failure: StorageError?

    /// Opens a database; creates it, readable by its owner alone, if it is missing and the connection may write.
    package init(path: String, options: SQLiteOptions = .init()) throws(StorageError) {
        access = options.access
        unsafe handle = try SQLiteFile.open(path, options)
        try unsafe SQLiteSettings(connection: handle).apply(options)
        try verify()
    }

    deinit {
        statements.removeAll()
        unsafe sqlite3_close_v2(handle)
    }

    /// Inserts the rows that wait, then carries out the statement.
    @discardableResult
    package func run(_ sql: SQL) throws(StorageError) -> Int {
        try refuseIfFailed()
        try insertBuffered()
        return try execute(sql)
    }

    /// Runs it at once; within a transaction its error is the transaction's.
    package func enqueue(_ sql: SQL) throws(StorageError) {
        try failing { () throws(StorageError) in try run(sql) }
    }

    /// Within a transaction, keeps the row until there are enough for one statement.
    package func insert(_ row: [SQLValue], into insertion: Insertion) throws(StorageError) {
        try refuseIfFailed()
        guard isInTransaction else {
            try run(SQL(insertion.one, row))
            return
        }
        if buffer.add(row, to: insertion) { return }
        try insertBuffered()
        _ = buffer.add(row, to: insertion)
    }

    /// Inserts the rows that wait if the statement may read one of their tables, then reads.
    package func rows(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(StorageError) {
        try refuseIfFailed()
        let statement = try prepared(sql.text)
        if buffer.groups.contains(where: { statement.mayRead(from: $0.insertion) }) { try insertBuffered() }
        try rows(of: statement, sql.values, each)
    }

    /// Reads without inserting the rows that wait.
    package func earlierRows(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(StorageError) {
        try refuseIfFailed()
        try rows(of: try prepared(sql.text), sql.values, each)
    }

    private func rows(
        of statement: SQLiteStatement,
        _ values: [SQLValue],
        _ each: (borrowing Row) -> Void
    ) throws(StorageError) {
        defer { statement.finish() }
        do {
            try statement.start(CollectionOfOne(values))
            let row = Row(source: statement)
            while try statement.step() { each(row) }
        } catch {
            throw noted(error)
        }
        if let column = statement.rejectedColumn { throw .unexpectedValue(column: column) }
    }

    package var isRemote: Bool { false }

    /// SQLite counts the commits of other connections; a WAL checkpoint does not count (`PRAGMA data_version`).
    package func stampOfOthers() throws(StorageError) -> Int64? {
        try first(SQL("PRAGMA data_version")) { $0.integer(0) }
    }

    /// Takes the write lock at once, unless the connection is read-only.
    package func begin() throws(StorageError) {
        guard !isInTransaction else { throw .misuse(EngineReport("a transaction was begun already")) }
        // Taking the write lock at once avoids two readers that both wait to become the writer.
        try run(access == .readOnly ? SQL("BEGIN") : SQL("BEGIN IMMEDIATE"))
        isInTransaction = true
    }

    /// Inserts the rows that wait, and commits; the transaction is undone if any of it fails.
    package func commit() throws(StorageError) {
        guard isInTransaction else { throw .misuse(EngineReport("no transaction was begun")) }
        do {
            try run(SQL("COMMIT"))
            isInTransaction = false
        } catch {
            rollback()
            throw error
        }
    }

    /// Forgets the rows that wait; if `ROLLBACK` itself fails, the connection refuses further work.
    package func rollback() {
        isInTransaction = false
        transactionFailure = nil
        buffer = InsertBuffer()
        guard unsafe sqlite3_get_autocommit(handle) == 0 else { return }
        do { try execute(SQL("ROLLBACK")) } catch { failure = error }
    }
}

extension SQLiteConnection {
    private func refuseIfFailed() throws(StorageError) {
        if let failure = failure ?? transactionFailure { throw failure }
    }

    @discardableResult
    private func execute(_ sql: SQL) throws(StorageError) -> Int {
        let before = unsafe sqlite3_total_changes64(handle)
        try execute(try prepared(sql.text), CollectionOfOne(sql.values))
        // Statements that change no row leave the count of the one before them.
        return unsafe sqlite3_total_changes64(handle) == before ? 0 : Int(sqlite3_changes64(handle))
    }

    /// With the values of one row behind those of the other.
    private func execute(
        _ statement: SQLiteStatement,
        _ rows: some Collection<[SQLValue]>
    ) throws(StorageError) {
        defer { statement.finish() }
        do {
            try statement.start(rows)
            while try statement.step() {}
        } catch {
            throw noted(error)
        }
    }

    private func prepared(_ text: SQLText) throws(StorageError) -> SQLiteStatement {
        if let statement = statements[text.address] {
            guard !statement.isInUse else { throw .misuse(EngineReport("the statement is being read")) }
            return statement
        }
        guard text.address != 0 else { throw .misuse(EngineReport("the statement is one character")) }
        let statement = try unsafe SQLiteStatement(text.bytes, connection: handle)
        statements[text.address] = statement
        return statement
    }

    /// Inserts the rows that wait: many with one statement, and what is left one by one.
    private func insertBuffered() throws(StorageError) {
        if buffer.isEmpty { return }
        try failing { () throws(StorageError) in
            for group in buffer.take() {
                var rows = group.rows[...]
                while let many = group.insertion.many, rows.count >= Insertion.rowsOfMany {
                    try execute(try prepared(many), rows.prefix(Insertion.rowsOfMany))
                    rows = rows.dropFirst(Insertion.rowsOfMany)
                }
                for row in rows { try execute(try prepared(group.insertion.one), CollectionOfOne(row)) }
            }
        }
    }

    /// Fails the whole transaction on an error, because the caller that gave a row may not see that it was refused.
    private func failing(_ body: () throws(StorageError) -> Void) throws(StorageError) {
        do {
            try body()
        } catch {
            if isInTransaction { transactionFailure = transactionFailure ?? error }
            buffer = InsertBuffer()
            throw error
        }
    }

    /// Records what an error means for the connection and its transaction.
    private func noted(_ error: StorageError) -> StorageError {
        if error.requiresReopening { failure = error }
        if isInTransaction, unsafe sqlite3_get_autocommit(handle) != 0 { transactionFailure = error }
        return error
    }

    /// Reads back the settings on which durability and integrity rest, and with them the database's first page.
    private func verify() throws(StorageError) {
        if access == .readWrite {
            try require(SQL("PRAGMA journal_mode"), is: .text("wal"), name: "journal_mode")
            try require(SQL("PRAGMA synchronous"), is: .integer(2), name: "synchronous")
            try require(SQL("PRAGMA foreign_keys"), is: .integer(1), name: "foreign_keys")
        }
        _ = try first(SQL("SELECT count(*) FROM sqlite_schema")) { $0.integer(0) }
    }

    private func require(_ sql: SQL, is value: SQLValue, name: String) throws(StorageError) {
        let found = try first(sql) { $0.value(0) } ?? .null
        guard found == value else { throw .settingRefused(name: name, value: "\(found)") }
    }
}
