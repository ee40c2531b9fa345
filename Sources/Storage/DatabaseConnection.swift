// SPDX-License-Identifier: Apache-2.0

/// A database connection, used by one thread at a time.
///
/// It is not `Sendable`: to share one, put it into a `Mutex` or hand it over to one thread for good. When it is
/// deallocated, uncommitted changes are rolled back.
package protocol DatabaseConnection: AnyObject {
    /// Carries out a statement, in a transaction of its own unless one was begun.
    ///
    /// - Returns: How many rows it inserted, updated or deleted.
    @discardableResult
    func run(_ sql: SQL) throws(StorageError) -> Int

    /// Carries out a statement without waiting for its result, in order with all others of the transaction.
    ///
    /// A remote engine may send many statements at once; later queries see their effects. An error is thrown at the
    /// latest when the next answer is read, or by the commit. Then nothing of the transaction is committed.
    func enqueue(_ sql: SQL) throws(StorageError)

    /// Adds a row, or what is selected with these values; not all of them are null.
    ///
    /// Within a transaction the rows of one insertion wait, to need few statements. They are inserted before the next
    /// other statement, query of their table, or commit; if that fails, nothing of the transaction is committed.
    func insert(_ row: [SQLValue], into insertion: Insertion) throws(StorageError)

    /// Reads the rows of a result one by one, in their order.
    ///
    /// The closure may use the connection, but not for the very same statement.
    func rows(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(StorageError)

    /// The same for rows older than the transaction: rows that it gave to ``insert(_:into:)`` may still be missing.
    func earlierRows(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(StorageError)

    /// Reads the rows of a result of any length; a remote engine sends some rows at a time.
    ///
    /// Use it only within a transaction, for a statement without values, and for one statement at a time.
    func rowsInPages(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(StorageError)

    /// Runs the query for each of many lists of values, and passes each row with the index of its list, from 0.
    ///
    /// The rows of a list come in their order; the lists come in any order. The values at one position are of one type,
    /// or null, but no list is all null.
    func rows(
        _ text: StaticString,
        forEach lists: [[SQLValue]],
        _ each: (Int, borrowing Row) -> Void
    ) throws(StorageError)

    /// Whether the engine is remote, so that many queries cost less if they are sent together.
    var isRemote: Bool { get }

    /// A number that changes when another connection commits something; `nil` if the engine has no such number.
    func stampOfOthers() throws(StorageError) -> Int64?

    /// Begins a transaction; on a connection that writes, it keeps all other connections from writing.
    ///
    /// Transactions do not nest. Some failures make the engine roll back by itself. After such a failure, every further
    /// statement and the commit fail with the same error until ``rollback()``. In PostgreSQL every failed statement has
    /// this effect; in SQLite, every failed ``enqueue(_:)`` or ``insert(_:into:)``.
    func begin() throws(StorageError)

    /// Begins a transaction that reads what is asked with ``ask(_:)`` before anything else; ``awaitTurn(_:)`` waits for it.
    ///
    /// A remote engine receives the beginning and the queries together.
    func beginWithoutWaiting() throws(StorageError)

    /// Sends a query before ``rows(_:_:)`` gets it with the same text and values, so that the answer is there by then.
    ///
    /// The answer is valid until the transaction writes something. An engine that answers without a wait does nothing.
    func ask(_ sql: SQL) throws(StorageError)

    /// The same for a query that ``rows(_:forEach:_:)`` will get.
    func ask(_ text: StaticString, forEach lists: [[SQLValue]]) throws(StorageError)

    /// Waits until no other connection writes, after ``beginWithoutWaiting()``.
    ///
    /// Meanwhile it calls the closure repeatedly; the closure may send further queries.
    func awaitTurn(_ meanwhile: () throws(StorageError) -> Void) throws(StorageError)

    /// Carries out a statement as ``enqueue(_:)`` does; if it changes another number of rows, the transaction fails.
    ///
    /// A remote engine may report that only after the transaction is committed; the commit throws then, too.
    func enqueue(_ sql: SQL, changing rows: Int) throws(StorageError)

    /// Makes the transaction durable: after it returns, the transaction survives a power failure.
    ///
    /// When it throws, the transaction is rolled back and over. After ``StorageError/ioFailure(_:)`` the state on disk
    /// is unknown: the connection refuses further work, and the caller must open a new one and query it.
    func commit() throws(StorageError)

    /// Undoes the transaction, if there is one.
    func rollback()
}

extension DatabaseConnection {
    /// At once, where that costs no wait.
    package func enqueue(_ sql: SQL) throws(StorageError) { try run(sql) }

    /// At once, too.
    package func insert(_ row: [SQLValue], into insertion: Insertion) throws(StorageError) {
        try run(SQL(insertion.one, row))
    }

    /// Waits, if another connection writes.
    package func beginWithoutWaiting() throws(StorageError) { try begin() }

    /// Nothing: the answer costs no wait.
    package func ask(_ sql: SQL) throws(StorageError) {}

    /// Nothing, too.
    package func ask(_ text: StaticString, forEach lists: [[SQLValue]]) throws(StorageError) {}

    /// Nothing: ``beginWithoutWaiting()`` has waited.
    package func awaitTurn(_ meanwhile: () throws(StorageError) -> Void) throws(StorageError) {}

    /// At once.
    package func enqueue(_ sql: SQL, changing rows: Int) throws(StorageError) {
        let changed = try run(sql)
        guard changed == rows else { throw .changed(changed, insteadOf: rows) }
    }

    /// The same as ``rows(_:_:)``, where nothing waits to be carried out.
    package func earlierRows(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(StorageError) { try rows(sql, each) }

    /// Nil: the engine can't tell.
    package func stampOfOthers() throws(StorageError) -> Int64? { nil }

    /// One by one, where none is sent.
    package func rowsInPages(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(StorageError) { try rows(sql, each) }

    /// One after the other, where that costs no wait.
    package func rows(
        _ text: StaticString,
        forEach lists: [[SQLValue]],
        _ each: (Int, borrowing Row) -> Void
    ) throws(StorageError) {
        for (place, values) in lists.enumerated() {
            try rows(SQL(text, values)) { row in each(place, row) }
        }
    }
}

/// A closed list of errors with room for those of the database, as `case storage(StorageError)` gives it.
package protocol StorageErrorConvertible: Error {
    static func storage(_ error: StorageError) -> Self
}

extension DatabaseConnection {
    /// Carries out `body` and commits what it did; whatever it throws undoes it.
    ///
    /// The closure must say what it throws: `{ () throws(StorageError) in … }`, or the caller's own list of errors.
    package func transaction<Value, Failure: StorageErrorConvertible>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        do { try begin() } catch { throw Failure.storage(error) }
        let value: Value
        do {
            value = try body()
        } catch {
            rollback()
            throw error
        }
        do { try commit() } catch { throw Failure.storage(error) }
        return value
    }

    /// Reads the first row of a result; nil if there is no row.
    package func first<Value>(_ sql: SQL, _ read: (borrowing Row) -> Value) throws(StorageError) -> Value? {
        var value: Value?
        try rows(sql) { row in
            if value == nil { value = read(row) }
        }
        return value
    }

    /// Reads every row of an answer.
    package func all<Value>(_ sql: SQL, _ read: (borrowing Row) -> Value) throws(StorageError) -> [Value] {
        var values: [Value] = []
        try rows(sql) { row in values.append(read(row)) }
        return values
    }
}

/// Opens a connection of one's own to a database; called again after an error that broke the one before.
package typealias ConnectionOpener = @Sendable () throws(StorageError) -> any DatabaseConnection
