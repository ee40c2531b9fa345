// SPDX-License-Identifier: Apache-2.0
import Synchronization

@testable import Storage

/// Notes the statements that are carried out on connections, and refuses some if wanted.
final class Statements: Sendable {
    private struct State {
        var texts: [String] = []
        var refused: (beginning: String, error: StorageError)?
    }

    private let state = Mutex(State())

    /// For ``TestService``, or for a connection by itself.
    var wrap: TestService.Wrap {
        { [self] connection throws(StorageError) in NotedConnection(connection, self) }
    }

    func reset() { state.withLock { $0.texts.removeAll() } }

    func count(of part: String) -> Int { state.withLock { $0.texts.count { $0.contains(part) } } }

    /// From now on what begins so fails.
    func refuse(_ beginning: String, with error: StorageError) { state.withLock { $0.refused = (beginning, error) } }

    fileprivate func note(_ sql: SQL) throws(StorageError) {
        let text = sql.text.description
        let error: StorageError? = state.withLock { state in
            state.texts.append(text)
            guard let (beginning, error) = state.refused, text.hasPrefix(beginning) else { return nil }
            return error
        }
        if let error { throw error }
    }
}

private final class NotedConnection: DatabaseConnection {
    private let real: any DatabaseConnection
    private let statements: Statements

    init(_ real: any DatabaseConnection, _ statements: Statements) {
        self.real = real
        self.statements = statements
    }

    func run(_ sql: SQL) throws(StorageError) -> Int {
        try statements.note(sql)
        return try real.run(sql)
    }

    func enqueue(_ sql: SQL) throws(StorageError) {
        try statements.note(sql)
        try real.enqueue(sql)
    }

    func insert(_ row: [SQLValue], into insertion: Insertion) throws(StorageError) {
        try statements.note(SQL(insertion.one, row))
        try real.insert(row, into: insertion)
    }

    func rows(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(StorageError) {
        try statements.note(sql)
        try real.rows(sql, each)
    }

    var isRemote: Bool { real.isRemote }
    func stampOfOthers() throws(StorageError) -> Int64? { try real.stampOfOthers() }
    func begin() throws(StorageError) { try real.begin() }
    func commit() throws(StorageError) { try real.commit() }
    func rollback() { real.rollback() }
}
