// SPDX-License-Identifier: Apache-2.0
import CLibPQ

/// A connection to a PostgreSQL database.
///
/// A writer's transaction begins with a lock on the one row of the table `writer_lock`, so that there is one writer at
/// a time, among all services that share the database. What it reads after that holds whatever the writer before it
/// has committed.
package final class PostgreSQLConnection: DatabaseConnection {
    private let session: PostgreSQLSession
    private let options: PostgreSQLOptions
    private var texts: [UInt: PostgreSQLText] = [:]
    private var statements: [PostgreSQLStatement.Key: PostgreSQLStatement] = [:]
    private var buffer = InsertBuffer()
    /// Bytes of values that were sent since an answer was last waited for.
    private var unansweredBytes = 0
    /// The limit without waiting: libpq keeps what the server does not take, and the time for one answer is limited.
    private static let mostUnansweredBytes = 4 << 20
    /// The addresses of the statements whose rows are being read.
    private var statementsInUse: Set<UInt> = []
    private var isInTransaction = false
    /// Whether a change of the schema was sent; its answer has no time limit.
    private var awaitsSchema = false
    /// What was asked ahead, as long as nothing was written since.
    private var asked: [PostgreSQLQuestion] = []
    /// The question for the current transaction's lock; `nil` once its answer was waited for.
    private var turn: PostgreSQLQuestion?
    private var expectations: [PostgreSQLExpectation] = []
    /// Why the current transaction can no longer be committed.
    private var transactionFailure: StorageError?
    /// Why no result of this connection can be trusted any more.
    private var failure: StorageError?

    /// Connects to an existing database; creates the lock's table if it is missing and the connection may write.
    package init(_ address: PostgreSQLAddress, options: PostgreSQLOptions = .init()) throws(StorageError) {
        self.options = options
        session = try PostgreSQLSession(address)
        try PostgreSQLSettings(connection: self, options: options).apply(encoding: session.parameter("server_encoding"))
    }

    /// Sends what waits and the statement, and waits for the answer.
    @discardableResult
    package func run(_ sql: SQL) throws(StorageError) -> Int {
        try refuseIfFailed()
        forgetAsked()
        return try answer(to: sql).changes
    }

    /// Sends the statement, and waits for answers only once many bytes are unanswered.
    package func enqueue(_ sql: SQL) throws(StorageError) {
        // Without a transaction, several that are sent together would be one.
        guard isInTransaction else {
            try run(sql)
            return
        }
        try refuseIfFailed()
        forgetAsked()
        try send(sql)
        try answerIfMuchIsUnanswered()
    }

    /// Within a transaction, keeps the row until the rows are sent.
    package func insert(_ row: [SQLValue], into insertion: Insertion) throws(StorageError) {
        guard isInTransaction else {
            try run(SQL(insertion.one, row))
            return
        }
        try refuseIfFailed()
        forgetAsked()
        if buffer.add(row, to: insertion) { return }
        try sendBuffered()
        _ = buffer.add(row, to: insertion)
        try answerIfMuchIsUnanswered()
    }

    private func answerIfMuchIsUnanswered() throws(StorageError) {
        if unansweredBytes > Self.mostUnansweredBytes { try answer() }
    }

    /// Sends the statement; what it changed is looked at with the next answer that is waited for.
    package func enqueue(_ sql: SQL, changing rows: Int) throws(StorageError) {
        try refuseIfFailed()
        forgetAsked()
        let question = PostgreSQLQuestion(sql)
        try send(sql, question)
        expectations.append(PostgreSQLExpectation(question: question, changes: rows))
        if !isInTransaction { try answer() }
    }

    /// Each answer costs a round trip.
    package var isRemote: Bool { true }

    /// Sends what waits and the statement, and reads the whole answer before the first row is handed out.
    package func rows(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(StorageError) {
        try refuseIfFailed()
        let known = try answerAskedAhead(PostgreSQLQuestion(sql))
        let result = if let known { known } else { try answer(to: sql) }
        try read(result, of: sql, each)
    }

    /// Sends all lists in one statement, so that there is one round trip.
    package func rows(
        _ text: StaticString,
        forEach lists: [[SQLValue]],
        _ each: (Int, borrowing Row) -> Void
    ) throws(StorageError) {
        guard let first = lists.first else { return }
        try refuseIfFailed()
        let sql = SQL(text, first)
        let known = try answerAskedAhead(PostgreSQLQuestion(text, forEach: lists))
        let result = if let known { known } else { try answer(to: sql, forEach: lists) }
        let place = Int(result.columnCount) - 1
        try read(result, of: sql) { row in each(Int(row.integer(place)) - 1, row) }
    }

    /// Reads through a cursor; each page is one round trip.
    package func rowsInPages(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(StorageError) {
        guard isInTransaction, sql.values.isEmpty else {
            throw .misuse(EngineReport("pages are read within a transaction, with a statement without values"))
        }
        try refuseIfFailed()
        try answer(toOnce: PostgreSQLText(declaring: PostgreSQLPages.cursor, for: text(of: sql)))
        do throws(StorageError) {
            var isLast = false
            while !isLast {
                let page = try answer(toOnce: PostgreSQLPages.fetch)
                isLast = page.rowCount < PostgreSQLPages.rowCount
                try read(page, of: sql, each)
            }
        } catch {
            // Where the transaction has failed, the cursor went with it.
            if transactionFailure == nil { try answer(toOnce: PostgreSQLPages.close) }
            throw error
        }
        try answer(toOnce: PostgreSQLPages.close)
    }

    private func read(
        _ result: PostgreSQLResult,
        of sql: SQL,
        _ each: (borrowing Row) -> Void
    ) throws(StorageError) {
        let address = sql.address
        statementsInUse.insert(address)
        defer { statementsInUse.remove(address) }
        result.forEachRow(each)
        if let column = result.rejectedColumn { throw .unexpectedValue(column: column) }
    }

    /// Begins with isolation `READ COMMITTED` and the writers' lock; if one may only read, with `REPEATABLE READ READ
    /// ONLY`.
    ///
    /// Waits while another writer has the lock.
    package func begin() throws(StorageError) {
        try beginWithoutWaiting()
        try awaitTurn {}
    }

    /// The same without waiting for the lock, or for an answer.
    package func beginWithoutWaiting() throws(StorageError) {
        guard !isInTransaction else { throw .misuse(EngineReport("a transaction was begun already")) }
        try refuseIfFailed()
        isInTransaction = true
        do {
            let first: PostgreSQLQuestion
            if options.access == .readOnly {
                let sql = SQL("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                first = PostgreSQLQuestion(sql)
                try send(sql, first)
            } else {
                try send(SQL("BEGIN ISOLATION LEVEL READ COMMITTED"))
                let sql = SQL("SELECT lock_id FROM writer_lock WHERE lock_id = 1 FOR UPDATE")
                first = PostgreSQLQuestion(sql)
                try send(sql, first)
            }
            turn = first
        } catch {
            rollback()
            throw error
        }
    }

    /// Waits for the lock, and while it does, for what is asked.
    package func awaitTurn(_ meanwhile: () throws(StorageError) -> Void) throws(StorageError) {
        guard let turn else { return }
        self.turn = nil
        do {
            try session.answer(to: turn, within: options.answerTimeoutMilliseconds, meanwhile)
        } catch {
            let error = noted(error)
            rollback()
            throw error
        }
    }

    /// Sends what waits, and commits; the transaction is undone if any of it fails.
    package func commit() throws(StorageError) {
        guard isInTransaction else { throw .misuse(EngineReport("no transaction was begun")) }
        do {
            try refuseIfFailed()
            forgetAsked()
            _ = session.takeWarning()
            let result = try answer(to: SQL("COMMIT"))
            try confirm(result)
            isInTransaction = false
        } catch {
            rollback()
            throw error
        }
    }

    /// Forgets what waits; if `ROLLBACK` itself fails, the connection refuses further work.
    package func rollback() {
        guard isInTransaction else { return }
        isInTransaction = false
        transactionFailure = nil
        buffer = InsertBuffer()
        let isAsking = asked.contains { $0.result == nil }
        forgetAsked()
        turn = nil
        expectations.removeAll()
        guard failure == nil, !session.isIdle else { return }
        // A question that failed is undone with the rest.
        if isAsking, session.awaitsAnswers { _ = try? answer() }
        guard failure == nil else { return }
        do {
            _ = try answer(to: SQL("ROLLBACK"))
        } catch {
            // Whatever it says: the transaction may still be open, and what comes next would fail with it.
            failure = failure ?? .ioFailure(EngineReport("a transaction could not be undone: \(error)"))
        }
    }
}

extension PostgreSQLConnection {
    private func refuseIfFailed() throws(StorageError) {
        if let failure = failure ?? transactionFailure { throw failure }
    }

    private func answer(to sql: SQL) throws(StorageError) -> PostgreSQLResult {
        try send(sql)
        return try answer()
    }

    @discardableResult
    private func answer() throws(StorageError) -> PostgreSQLResult {
        defer { (awaitsSchema, unansweredBytes) = (false, 0) }
        do throws(StorageError) {
            let result = try session.answer(within: awaitsSchema ? nil : options.answerTimeoutMilliseconds)
            if let fault = expectations.lazy.compactMap(\.fault).first { throw fault }
            expectations.removeAll(keepingCapacity: true)
            return result
        } catch {
            throw noted(error)
        }
    }

    /// Asks with a statement without values that is not prepared, after the rows that wait.
    @discardableResult
    private func answer(toOnce text: PostgreSQLText) throws(StorageError) -> PostgreSQLResult {
        try sendBuffered()
        do { try session.executeOnce(text) } catch { throw noted(error) }
        return try answer()
    }

    /// Sends a statement, after the rows that wait; its answer is kept for a question.
    private func send(_ sql: SQL, _ question: PostgreSQLQuestion? = nil) throws(StorageError) {
        try sendBuffered()
        let text = try text(of: sql)
        unansweredBytes += sql.values.reduce(0) { $0 + $1.byteCount }
        let types = sql.values.map { $0.postgreSQLType?.rawValue ?? 0 }
        do throws(StorageError) {
            if text.changesSchema {
                awaitsSchema = true
                return try session.executeOnce(text)
            }
            let statement = statement(as: .alone, for: sql, values: sql.values, types: types) { text }
            try execute(statement, PostgreSQLValues(sql.values), for: question)
        } catch {
            throw noted(error)
        }
    }

    /// Sends a statement for many lists of values; `sql` has one of them.
    private func send(
        _ many: PostgreSQLMany,
        as form: PostgreSQLForm,
        _ sql: SQL,
        insertion: Insertion? = nil,
        for question: PostgreSQLQuestion? = nil
    ) throws(StorageError) {
        try sendBuffered()
        _ = try text(of: sql)
        let statement = statement(as: form, for: sql, values: many.samples, types: many.types) {
            insertion.map { PostgreSQLText($0, many.samples) } ?? PostgreSQLText(asking: sql.text, many.samples)
        }
        do throws(StorageError) { try execute(statement, many.values, for: question) } catch { throw noted(error) }
    }

    private func sendBuffered() throws(StorageError) {
        if buffer.isEmpty { return }
        unansweredBytes += buffer.byteCount
        for group in buffer.take() {
            for many in PostgreSQLMany.batches(of: group) {
                guard let first = many.lists.first else { continue }
                let (insertion, sql) = (group.insertion, SQL(group.insertion.one, first))
                if many.lists.count == 1 { try send(sql) } else { try send(many, as: .rows, sql, insertion: insertion) }
            }
        }
    }

    private func execute(
        _ statement: PostgreSQLStatement,
        _ values: borrowing PostgreSQLValues,
        for question: PostgreSQLQuestion?
    ) throws(StorageError) {
        if !statement.isPrepared { try session.prepare(statement) }
        try session.execute(statement, values, for: question)
    }

    private func answer(to sql: SQL, forEach lists: [[SQLValue]]) throws(StorageError) -> PostgreSQLResult {
        try send(PostgreSQLMany(of: lists), as: .questions, sql)
        return try answer()
    }

    /// A statement in PostgreSQL's words, once it has as many values as placeholders.
    private func text(of sql: SQL) throws(StorageError) -> PostgreSQLText {
        guard sql.address != 0 else { throw .misuse(EngineReport("the statement is one character")) }
        let address = sql.address
        guard !statementsInUse.contains(address) else { throw .misuse(EngineReport("the statement is being read")) }
        let known = texts[address]
        let text = known ?? PostgreSQLText(sql.text)
        if known == nil { texts[address] = text }
        guard sql.values.count == text.parameterCount, sql.values.count <= PostgreSQLValues.most else {
            throw .misuse(EngineReport("\(sql.values.count) values for \(text.parameterCount) placeholders"))
        }
        return text
    }

    private func statement(
        as form: PostgreSQLForm,
        for sql: SQL,
        values: [SQLValue],
        types: [UInt32],
        _ text: () -> PostgreSQLText
    ) -> PostgreSQLStatement {
        let kinds = values.reduce(0) { $0 << 3 | $1.kind }
        let key = PostgreSQLStatement.Key(address: sql.address, form: form, kinds: kinds)
        if let statement = statements[key] { return statement }
        let statement = PostgreSQLStatement(text(), number: statements.count, types: types)
        statements[key] = statement
        return statement
    }

    /// Records what an error means for the connection and its transaction.
    private func noted(_ error: StorageError) -> StorageError {
        if error.requiresReopening { failure = error }
        if isInTransaction { transactionFailure = transactionFailure ?? error }
        return error
    }

    /// Throws unless the server reports a commit, without a warning.
    ///
    /// The server answers `ROLLBACK` to the `COMMIT` of a failed transaction. If no standby could be asked to confirm a
    /// commit, the server adds a warning; whether the commit survives a failover is then unknown.
    private func confirm(_ result: PostgreSQLResult) throws(StorageError) {
        let warning = session.takeWarning()
        if result.command == "COMMIT", warning == nil { return }
        let report = warning ?? EngineReport("the server answered \(result.command) to a commit")
        throw noted(.ioFailure(report))
    }
}

// MARK: - Asking ahead

extension PostgreSQLConnection {
    /// Sends the statement, and keeps its answer until it is wanted, or something is written.
    package func ask(_ sql: SQL) throws(StorageError) {
        try requireTransaction()
        let question = PostgreSQLQuestion(sql)
        try send(sql, question)
        asked.append(question)
    }

    /// The same for all lists in one statement.
    package func ask(_ text: StaticString, forEach lists: [[SQLValue]]) throws(StorageError) {
        guard let first = lists.first else { return }
        try requireTransaction()
        let question = PostgreSQLQuestion(text, forEach: lists)
        try send(PostgreSQLMany(of: lists), as: .questions, SQL(text, first), for: question)
        asked.append(question)
    }

    /// Outside of one, others may write between a question and the use of its answer.
    private func requireTransaction() throws(StorageError) {
        guard isInTransaction else { throw .misuse(EngineReport("no transaction was begun")) }
        try refuseIfFailed()
    }

    private func forgetAsked() {
        if !asked.isEmpty { asked.removeAll(keepingCapacity: true) }
    }

    /// The answer to a question that was asked ahead; nil of any other.
    private func answerAskedAhead(
        _ question: @autoclosure () -> PostgreSQLQuestion
    ) throws(StorageError) -> PostgreSQLResult? {
        guard !asked.isEmpty, let known = asked.first(where: question().isSame) else { return nil }
        if known.result == nil { try answer() }
        return known.result
    }
}
