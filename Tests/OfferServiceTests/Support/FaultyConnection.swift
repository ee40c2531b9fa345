// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

@testable import Storage

/// What goes wrong with the connections of one service, and what was seen to happen.
final class Faults: Sendable {
    private struct State {
        var commitFailures: [StorageError] = []
        var commitsToPass = 0
        var statementFailures: [StorageError] = []
        var openFailures: [StorageError] = []
        var afterEntries: (@Sendable () -> Void)?
        var isHeld = false
        var commitsBeforeHold = 0
        var commitsAtTheGate = 0
        var beginningsBeforeHold: Int?
        var isAtTheBeginning = false
        var opened = 0
        var rollbacks = 0
    }

    private let state = Mutex(State())
    private let gate = DispatchSemaphore(value: 0)
    private let firstGate = DispatchSemaphore(value: 0)

    static let diskFull = StorageError.diskFull(EngineReport(code: 13, "database or disk is full"))
    static let ioFailure = StorageError.ioFailure(EngineReport(code: 1034, "disk I/O error"))

    /// How many connections were opened.
    var opened: Int { state.withLock { $0.opened } }
    var rollbacks: Int { state.withLock { $0.rollbacks } }
    /// Whether a commit has begun and waits.
    var isCommitting: Bool { state.withLock { $0.commitsAtTheGate > 0 } }

    /// From now on, or after `commits` others, commits wait in the middle, as on a slow disk.
    func hold(after commits: Int = 0) { state.withLock { ($0.isHeld, $0.commitsBeforeHold) = (true, commits) } }

    /// Lets commits go on.
    func release() {
        let waiting = state.withLock { state in
            state.isHeld = false
            return state.commitsAtTheGate
        }
        for _ in 0..<waiting { gate.signal() }
    }

    /// Whether a transaction waits that is about to begin.
    var isBeginning: Bool { state.withLock { $0.isAtTheBeginning } }

    /// Lets `others` transactions begin, then holds the next one right before it begins.
    func holdBeginning(after others: Int) { state.withLock { $0.beginningsBeforeHold = others } }

    /// Lets it begin.
    func releaseBeginning() { firstGate.signal() }

    /// Lets the commit that waits go on, and holds the next.
    func releaseOne() {
        gate.signal()
    }

    /// Makes the next commits fail, one with each error.
    func failCommits(_ errors: StorageError...) { state.withLock { $0.commitFailures += errors } }
    /// Lets `count` commits pass before the first that fails.
    func passCommits(_ count: Int) { state.withLock { $0.commitsToPass += count } }
    /// Makes the next statements that add an audit entry fail.
    func failStatements(_ errors: StorageError...) { state.withLock { $0.statementFailures += errors } }
    /// Makes the next attempts to open a connection fail.
    func failOpening(_ errors: StorageError...) { state.withLock { $0.openFailures += errors } }

    /// Has something happen once, when audit entries were read and before the reader has gone on.
    func afterNextEntries(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.afterEntries = body } }

    /// For ``TestService``.
    var wrap: TestService.Wrap {
        { [self] connection throws(StorageError) in
            if let error = state.withLock({ $0.openFailures.popFirst() }) { throw error }
            state.withLock { $0.opened += 1 }
            return FaultyConnection(connection, self)
        }
    }

    fileprivate func beforeBeginning() {
        let waits = state.withLock { state in
            guard let others = state.beginningsBeforeHold else { return false }
            state.beginningsBeforeHold = others > 0 ? others - 1 : nil
            state.isAtTheBeginning = others == 0
            return others == 0
        }
        guard waits else { return }
        firstGate.wait()
        state.withLock { $0.isAtTheBeginning = false }
    }

    fileprivate func beforeCommit() throws(StorageError) {
        let waits = state.withLock { state in
            guard state.isHeld else { return false }
            guard state.commitsBeforeHold == 0 else {
                state.commitsBeforeHold -= 1
                return false
            }
            state.commitsAtTheGate += 1
            return true
        }
        if waits {
            gate.wait()
            state.withLock { $0.commitsAtTheGate -= 1 }
        }
        let failure: StorageError? = state.withLock { state in
            guard state.commitsToPass == 0 else {
                state.commitsToPass -= 1
                return nil
            }
            return state.commitFailures.popFirst()
        }
        if let failure { throw failure }
    }

    fileprivate func beforeStatement(_ sql: SQL) throws(StorageError) {
        guard sql.text.description.hasPrefix("INSERT INTO audit_entries") else { return }
        if let error = state.withLock({ $0.statementFailures.popFirst() }) { throw error }
    }

    fileprivate func afterRows(_ sql: SQL) {
        guard sql.text.description.contains("FROM audit_entries") else { return }
        let body = state.withLock { state in
            defer { state.afterEntries = nil }
            return state.afterEntries
        }
        body?()
    }

    fileprivate func countRollback() { state.withLock { $0.rollbacks += 1 } }
}

/// A real connection on which faults are acted out.
private final class FaultyConnection: DatabaseConnection {
    private let real: any DatabaseConnection
    private let faults: Faults
    /// After an I/O failure nothing may be asked of the connection any more.
    private var failure: StorageError?

    init(_ real: any DatabaseConnection, _ faults: Faults) {
        self.real = real
        self.faults = faults
    }

    func run(_ sql: SQL) throws(StorageError) -> Int {
        try refuseIfFailed()
        try faults.beforeStatement(sql)
        return try real.run(sql)
    }

    func enqueue(_ sql: SQL) throws(StorageError) {
        try refuseIfFailed()
        try faults.beforeStatement(sql)
        try real.enqueue(sql)
    }

    func insert(_ row: [SQLValue], into insertion: Insertion) throws(StorageError) {
        try refuseIfFailed()
        try faults.beforeStatement(SQL(insertion.one, row))
        try real.insert(row, into: insertion)
    }

    func rows(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(StorageError) {
        try refuseIfFailed()
        var count = 0
        try real.rows(sql) { row in
            each(row)
            count += 1
        }
        if count > 0 { faults.afterRows(sql) }
    }

    func begin() throws(StorageError) {
        try refuseIfFailed()
        faults.beforeBeginning()
        try real.begin()
    }

    func commit() throws(StorageError) {
        try refuseIfFailed()
        do {
            try faults.beforeCommit()
        } catch {
            if error.requiresReopening { failure = error }
            real.rollback()
            throw error
        }
        try real.commit()
    }

    var isRemote: Bool { real.isRemote }
    func stampOfOthers() throws(StorageError) -> Int64? { try real.stampOfOthers() }

    func rollback() {
        faults.countRollback()
        real.rollback()
    }

    private func refuseIfFailed() throws(StorageError) {
        if let failure { throw failure }
    }
}

extension Array {
    fileprivate mutating func popFirst() -> Element? { isEmpty ? nil : removeFirst() }
}
