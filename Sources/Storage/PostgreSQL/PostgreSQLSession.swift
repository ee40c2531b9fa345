// SPDX-License-Identifier: Apache-2.0
import CLibPQ
import Glibc

/// One session with a server, in libpq's pipeline mode: answers come in order, and the caller says when to wait.
///
/// The socket never blocks. If the server reads on only after its output is read, the session reads it. If the server
/// falls silent, the session gives up after a while.
@safe
final class PostgreSQLSession {
    private let call: UnsafePointer<shim_libpq>
    private let connection: OpaquePointer
    private let notices: PostgreSQLNotices
    /// What was sent, in order, until all of it is answered.
    private var sent: [Sent] = []
    /// How many of these are answered.
    private var answered = 0
    /// Of the answers since the last call of ``answer(within:)``: the last, and the first that is an error.
    private var (last, failure): (PostgreSQLResult?, StorageError?)

    /// One thing that was sent.
    private enum Sent {
        /// A statement that the server was to prepare.
        case preparation(PostgreSQLStatement)
        /// A use of a statement, and who keeps the answer.
        case use(PostgreSQLQuestion?)
        /// What has the server send the answers to all that came before.
        case end
    }

    /// Connects; libpq reads the address, and what of its environment variables and files it leaves open.
    init(_ address: PostgreSQLAddress) throws(StorageError) {
        let call = unsafe try LibPQ.load().call
        guard unsafe Self.isReadable(address, call) else {
            throw .cannotOpen(EngineReport("the address of the database is not one that libpq can read"))
        }
        var settings = PostgreSQLParameters(address)
        let connection = unsafe settings.withPointers { names, values in
            unsafe call.pointee.PQconnectdbParams(names, values, 1)
        }
        guard let connection = unsafe connection else { throw .outOfMemory(EngineReport("no memory to connect")) }
        unsafe self.call = call
        unsafe self.connection = connection
        notices = PostgreSQLNotices()
        guard unsafe call.pointee.PQstatus(connection) == CONNECTION_OK else {
            throw .cannotOpen(EngineReport(unsafe Self.reason(connection, call)))
        }
        unsafe notices.receive(from: connection, call)
        let isReady = unsafe call.pointee.PQsetnonblocking(connection, 1) == 0
        guard isReady, unsafe call.pointee.PQenterPipelineMode(connection) == 1 else {
            throw .cannotOpen(EngineReport("libpq refuses its pipeline mode"))
        }
    }

    deinit {
        unsafe call.pointee.PQfinish(connection)
    }

    /// A parameter that the server reports at connection time; nil if it does not report it.
    func parameter(_ name: String) -> String? {
        unsafe call.pointee.PQparameterStatus(connection, name).map { unsafe String(cString: $0) }
    }

    /// Whether no answer is expected and no transaction is open, not even a failed one.
    var isIdle: Bool { unsafe sent.isEmpty && call.pointee.PQtransactionStatus(connection) == PQTRANS_IDLE }

    /// Whether there are answers to come.
    var awaitsAnswers: Bool { !sent.isEmpty }

    /// What the server warned of since it was asked last.
    func takeWarning() -> EngineReport? { notices.take() }

    /// Whether libpq understands an address; its error message is dropped, as it may show any part of the address.
    private static func isReadable(_ address: PostgreSQLAddress, _ call: UnsafePointer<shim_libpq>) -> Bool {
        var words: UnsafeMutablePointer<CChar>?
        let options = unsafe call.pointee.PQconninfoParse(address.uri, &words)
        unsafe call.pointee.PQfreemem(words)
        guard let options = unsafe options else { return false }
        unsafe call.pointee.PQconninfoFree(options)
        return true
    }

    /// libpq's words in one line.
    private static func reason(_ connection: OpaquePointer, _ call: UnsafePointer<shim_libpq>) -> String {
        let words = unsafe call.pointee.PQerrorMessage(connection).map { unsafe String(cString: $0) } ?? ""
        if words.isEmpty { return "the connection is lost" }
        let lines = words.split { $0.isNewline || $0 == "\t" }
        return lines.joined(separator: " ") + (words.contains("certificate verify failed") ? unverified : "")
    }

    /// libpq reports only that a certificate was not verified.
    private static let unverified =
        "; the server's certificate was not issued by an authority of sslrootcert, or is not valid today"
}

extension PostgreSQLSession {
    /// Sends a statement for the server to prepare under its name.
    func prepare(_ statement: PostgreSQLStatement) throws(StorageError) {
        let types = statement.types
        let isSent = unsafe statement.withText { text in
            unsafe call.pointee.PQsendPrepare(connection, statement.name, text, Int32(types.count), types)
        }
        guard isSent == 1 else { throw lost() }
        sent.append(.preparation(statement))
        statement.isPrepared = true
    }

    /// Sends a use of a statement that is prepared, or is about to be.
    func execute(
        _ statement: PostgreSQLStatement,
        _ values: borrowing PostgreSQLValues,
        for question: PostgreSQLQuestion?
    ) throws(StorageError) {
        let isSent = unsafe values.withPointers { count, values, lengths, formats in
            unsafe call.pointee.PQsendQueryPrepared(connection, statement.name, count, values, lengths, formats, 1)
        }
        guard isSent == 1 else { throw lost() }
        sent.append(.use(question))
    }

    /// Sends a statement without values that is used but once.
    func executeOnce(_ text: PostgreSQLText) throws(StorageError) {
        let isSent = unsafe text.bytes.withUnsafeBufferPointer { bytes in
            let text = unsafe UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
            return unsafe call.pointee.PQsendQueryParams(connection, text, 0, nil, nil, nil, nil, 1)
        }
        guard isSent == 1 else { throw lost() }
        sent.append(.use(nil))
    }

    /// Makes the server answer what was sent, without waiting for the answer.
    func requestAnswers() throws(StorageError) {
        if case .end? = sent.last { return }
        guard unsafe call.pointee.PQpipelineSync(connection) == 1 else { throw lost() }
        sent.append(.end)
    }

    /// Waits for the answers to all that was sent, for so long at most, and returns the last.
    ///
    /// The first of them that is an error is thrown, once all have come.
    func answer(within milliseconds: Int?) throws(StorageError) -> PostgreSQLResult {
        try requestAnswers()
        let deadline = milliseconds.map { ContinuousClock.now + .milliseconds($0) }
        while !sent.isEmpty { try takeAnswer(until: deadline) }
        defer { (last, failure) = (nil, nil) }
        if let failure { throw failure }
        guard let last else { throw .misuse(EngineReport("nothing was asked")) }
        return last
    }

    /// Waits for the answer to a question, for so long at most, and calls `meanwhile` once in each millisecond.
    ///
    /// If it is an error, that is thrown once all answers have come.
    func answer(
        to question: PostgreSQLQuestion,
        within milliseconds: Int,
        _ meanwhile: () throws(StorageError) -> Void
    ) throws(StorageError) {
        try requestAnswers()
        let deadline = ContinuousClock.now + .milliseconds(milliseconds)
        while question.result == nil {
            if try isAnswerThere(afterMilliseconds: 1) {
                try takeAnswer(until: deadline)
                if failure != nil { _ = try answer(within: milliseconds) }
            } else {
                guard ContinuousClock.now < deadline else { throw Self.silence }
                try meanwhile()
                try requestAnswers()
            }
        }
    }

    /// Waits for the oldest outstanding answer.
    private func takeAnswer(until deadline: ContinuousClock.Instant?) throws(StorageError) {
        let step = sent[answered]
        let result = try next(until: deadline)
        guard let result else { throw lost() }
        if case .end = step {
            guard result.status == PGRES_PIPELINE_SYNC else { throw lost() }
        } else {
            try note(result, of: step)
            guard try next(until: deadline) == nil else { throw lost() }
        }
        answered += 1
        guard answered == sent.count else { return }
        sent.removeAll(keepingCapacity: true)
        answered = 0
    }

    private func note(_ result: PostgreSQLResult, of step: Sent) throws(StorageError) {
        let error = try error(in: result)
        failure = failure ?? error
        let isDone = error == nil && result.status != PGRES_PIPELINE_ABORTED
        switch step {
        case .preparation(let statement): if !isDone { statement.isPrepared = false }
        case .use(let question): if isDone { question?.result = result }
        case .end: break
        }
        last = result
    }
}

extension PostgreSQLSession {
    /// The next result, or nil where those of one statement end.
    private func next(until deadline: ContinuousClock.Instant?) throws(StorageError) -> PostgreSQLResult? {
        while true {
            let flushed = unsafe call.pointee.PQflush(connection)
            if flushed >= 0, unsafe call.pointee.PQisBusy(connection) == 0 { break }
            try wait(toWrite: flushed == 1, until: deadline)
            // If that fails, the server's last words are among the results.
            guard unsafe call.pointee.PQconsumeInput(connection) == 1, flushed >= 0 else { break }
        }
        return unsafe call.pointee.PQgetResult(connection).map { unsafe PostgreSQLResult($0, call) }
    }

    private static let silence = StorageError.ioFailure(EngineReport("the server does not answer"))

    /// Whether the next result is there, or the server's last words; waits for so long at most.
    private func isAnswerThere(afterMilliseconds milliseconds: Int32) throws(StorageError) -> Bool {
        let flushed = unsafe call.pointee.PQflush(connection)
        if unsafe flushed < 0 || call.pointee.PQisBusy(connection) == 0 { return true }
        let events = Int16(POLLIN) | (flushed == 1 ? Int16(POLLOUT) : 0)
        var descriptor = unsafe pollfd(fd: call.pointee.PQsocket(connection), events: events, revents: 0)
        guard unsafe poll(&descriptor, 1, milliseconds) > 0 else { return false }
        return unsafe call.pointee.PQconsumeInput(connection) != 1 || call.pointee.PQisBusy(connection) == 0
    }

    private func wait(toWrite: Bool, until deadline: ContinuousClock.Instant?) throws(StorageError) {
        let events = Int16(POLLIN) | (toWrite ? Int16(POLLOUT) : 0)
        while true {
            var descriptor = unsafe pollfd(fd: call.pointee.PQsocket(connection), events: events, revents: 0)
            let left = deadline.map { Int32(clamping: ($0 - .now) / .milliseconds(1)) }
            if let left, left <= 0 { throw Self.silence }
            let ready = unsafe poll(&descriptor, 1, left ?? -1)
            if ready > 0 { return }
            guard ready == 0 || errno == EINTR else { throw .ioFailure(EngineReport("poll: \(systemMessage(errno))")) }
        }
    }

    /// What an answer says went wrong, if it does; throws when the connection is gone with it.
    private func error(in result: PostgreSQLResult) throws(StorageError) -> StorageError? {
        switch result.status {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_PIPELINE_ABORTED: return nil
        case PGRES_EMPTY_QUERY: return .misuse(EngineReport("the statement is empty"))
        default:
            let isLost = unsafe call.pointee.PQstatus(connection) != CONNECTION_OK
            let error = StorageError.postgreSQL(result.report, isLost: isLost)
            if isLost { throw error }
            return error
        }
    }

    private func lost() -> StorageError {
        .ioFailure(EngineReport(unsafe Self.reason(connection, call)))
    }
}

extension Duration {
    /// How many times another duration fits, without fractions.
    fileprivate static func / (left: Duration, right: Duration) -> Int64 { Int64((left / right) as Double) }
}
