// SPDX-License-Identifier: Apache-2.0

/// A way into a database, used by one thread at a time.
///
/// It is not `Sendable`; whoever shares one puts it into a `Mutex` or gives it to a thread for good. When it goes
/// away, what is not committed is undone.
package protocol DatabaseConnection: AnyObject {
    /// Carries out a statement, in a transaction of its own unless one was begun.
    ///
    /// - Returns: How many rows it inserted, updated or deleted.
    @discardableResult
    func run(_ sql: SQL) throws(StorageError) -> Int

    /// Carries out a statement without waiting for its result, in order with all others of the transaction.
    ///
    /// An engine on the other end of a wire may send many statements at once; what is asked later finds what they did. An error
    /// is thrown at the latest by the next answer that is read, or by the commit, and then nothing of the transaction is
    /// committed.
    func enqueue(_ sql: SQL) throws(StorageError)

    /// Adds a row, or what is selected with these values; not all of them are null.
    ///
    /// Within a transaction the rows of one insertion wait, and go as few statements. They are inserted before the next other
    /// statement, question about their table, or commit; if that fails, nothing of the transaction is committed.
    func insert(_ row: [SQLValue], into insertion: Insertion) throws(StorageError)

    /// Hands out the rows of an answer one by one, in their order.
    ///
    /// The closure may use the connection, but not for the very same statement.
    func rows(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(StorageError)

    /// The same of rows that are older than the transaction: what ``insert(_:into:)`` was given in it need not be there yet.
    func earlierRows(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(StorageError)

    /// Hands out the rows of an answer of any length, of which an engine on the other end of a wire sends some at a time.
    ///
    /// Only within a transaction, for a statement without values, and for one at a time.
    func rowsInPages(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(StorageError)

    /// Asks the same for each of many lists of values, and hands out each row with the place of its list, from 0.
    ///
    /// The rows of a list come in their order; the lists come in any. The values of one place are of one type, or null,
    /// but no list is all null.
    func rows(
        _ text: StaticString,
        forEach lists: [[SQLValue]],
        _ each: (Int, borrowing Row) -> Void
    ) throws(StorageError)

    /// Whether the engine is on the other end of a wire, so that many questions cost less if they are asked together.
    var isRemote: Bool { get }

    /// A number that is another one once another connection has committed something; `nil` of an engine that can't tell.
    func stampOfOthers() throws(StorageError) -> Int64?

    /// Begins a transaction; on a connection that writes, one that keeps all others from writing.
    ///
    /// Transactions do not nest. When a statement fails so badly that the engine undoes the transaction by itself, every
    /// further statement and the commit fail with that error, until ``rollback()``; PostgreSQL does so whenever one fails, and
    /// SQLite whenever one of ``enqueue(_:)`` or ``insert(_:into:)`` does.
    func begin() throws(StorageError)

    /// Begins a transaction that reads what is asked with ``ask(_:)`` before anything else; ``awaitTurn(_:)`` waits for it.
    ///
    /// An engine on the other end of a wire is sent the beginning and the questions together.
    func beginWithoutWaiting() throws(StorageError)

    /// Asks what ``rows(_:_:)`` is going to be asked with the same text and values, so that the answer is there by then.
    ///
    /// The answer is used as long as nothing was written in the transaction. An engine that answers without a wait does nothing.
    func ask(_ sql: SQL) throws(StorageError)

    /// The same of what ``rows(_:forEach:_:)`` is going to be asked.
    func ask(_ text: StaticString, forEach lists: [[SQLValue]]) throws(StorageError)

    /// Waits until no other connection writes, after ``beginWithoutWaiting()``.
    ///
    /// Meanwhile calls the closure, again and again, which may ask further questions.
    func awaitTurn(_ meanwhile: () throws(StorageError) -> Void) throws(StorageError)

    /// Carries out a statement as ``enqueue(_:)`` does; if it changes another number of rows, the transaction fails.
    ///
    /// An engine on the other end of a wire may see that only once the transaction is committed; the commit throws then, too.
    func enqueue(_ sql: SQL, changing rows: Int) throws(StorageError)

    /// Makes the transaction durable: when this returns, power may fail.
    ///
    /// When it throws, the transaction is undone and over. After ``StorageError/ioFailure(_:)`` nobody knows what is on
    /// the disk: the connection refuses further work, and a new one must be opened and asked.
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

    /// Reads the first row of an answer; nil where there is none.
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
