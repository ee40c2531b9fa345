// SPDX-License-Identifier: Apache-2.0
import CSQLite

/// A connection to a SQLite database: write-ahead log, and every commit synced to the disk.
///
/// It owns the library's handle and the statements prepared with it. SQLite is told that one thread at a time uses
/// it, and takes no locks of its own.
@safe
package final class SQLiteConnection: DatabaseConnection {
    let handle: OpaquePointer
    /// Counted only after ``leaveLogToOthers()``.
    package internal(set) var pagesInLog = 0
    private let access: DatabaseAccess
    /// By the address of the statement's text, which is constant and cheap to look up.
    private var statements: [UInt: SQLiteStatement] = [:]
    private var isInTransaction = false
    /// Why the transaction at hand can no longer be committed.
    private var transactionFailure: StorageError?
    /// Why nothing that this connection says can be trusted any more.
    private var failure: StorageError?

    /// Opens a database, and makes one, readable by its owner alone, where there is none and one may write.
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

    @discardableResult
    package func run(_ sql: SQL) throws(StorageError) -> Int {
        try refuseIfFailed()
        return try execute(sql)
    }

    package func rows(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(StorageError) {
        try refuseIfFailed()
        let statement = try prepared(sql.text)
        defer { statement.finish() }
        do {
            try statement.start(sql.values)
            let row = Row(source: statement)
            while try statement.step() { each(row) }
        } catch {
            throw noted(error)
        }
        if let column = statement.rejectedColumn { throw .unexpectedValue(column: column) }
    }

    /// SQLite counts the commits of others, among which carrying the log over is none (`PRAGMA data_version`).
    package func stampOfOthers() throws(StorageError) -> Int64? {
        try first(SQL("PRAGMA data_version")) { $0.integer(0) }
    }

    package func begin() throws(StorageError) {
        guard !isInTransaction else { throw .misuse(EngineReport("a transaction was begun already")) }
        // Taking the write lock at once avoids two readers that both wait to become the writer.
        try run(access == .readOnly ? SQL("BEGIN") : SQL("BEGIN IMMEDIATE"))
        isInTransaction = true
    }

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

    package func rollback() {
        isInTransaction = false
        transactionFailure = nil
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
        let statement = try prepared(sql.text)
        defer { statement.finish() }
        let before = unsafe sqlite3_total_changes64(handle)
        do {
            try statement.start(sql.values)
            while try statement.step() {}
        } catch {
            throw noted(error)
        }
        // Statements that change no row leave the count of the one before them.
        return unsafe sqlite3_total_changes64(handle) == before ? 0 : Int(sqlite3_changes64(handle))
    }

    private func prepared(_ text: StaticString) throws(StorageError) -> SQLiteStatement {
        let key = text.hasPointerRepresentation ? UInt(bitPattern: unsafe text.utf8Start) : 0
        if let statement = statements[key] {
            guard !statement.isInUse else { throw .misuse(EngineReport("the statement is being read")) }
            return statement
        }
        let statement = try unsafe SQLiteStatement(text, connection: handle)
        statements[key] = statement
        return statement
    }

    /// Draws the consequences of an error.
    private func noted(_ error: StorageError) -> StorageError {
        if error.requiresReopening { failure = error }
        if isInTransaction, unsafe sqlite3_get_autocommit(handle) != 0 { transactionFailure = error }
        return error
    }

    /// Reads back the settings on which durability and integrity rest, and with them the database's first page.
    private func verify() throws(StorageError) {
        if access == .readWrite {
            try require(SQL("PRAGMA journal_mode"), .text("wal"), "journal_mode")
            try require(SQL("PRAGMA synchronous"), .integer(2), "synchronous")
            try require(SQL("PRAGMA foreign_keys"), .integer(1), "foreign_keys")
        }
        _ = try first(SQL("SELECT count(*) FROM sqlite_schema")) { $0.integer(0) }
    }

    private func require(_ sql: SQL, _ value: SQLValue, _ name: String) throws(StorageError) {
        let found = try first(sql) { $0.value(0) } ?? .null
        guard found == value else { throw .settingRefused(name: name, value: "\(found)") }
    }
}
