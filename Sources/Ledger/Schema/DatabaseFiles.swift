// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
package import Storage

/// Watches that the database is still the files that it was; records in files that are gone are lost.
///
/// SQLite goes on writing into files whose names somebody has removed. A commit is therefore believed only if the
/// database and its write-ahead log are still found under their names afterwards.
package final class DatabaseFiles: Sendable {
    private let path: String
    private let database: FileIdentity?
    /// As it was after the first commit through the present connection.
    private let log = Guarded<FileIdentity?>(nil)

    /// The place of a database that exists; `nil` for one on a server.
    ///
    /// What a server holds is told by the log alone, which must go on from the head that is known.
    package init?(_ location: DatabaseLocation) {
        guard case .sqlite(let path) = location else { return nil }
        self.path = path
        database = FileIdentity(path: path)
    }

    /// Whether the path still leads to the same database; asked before it is opened anew.
    ///
    /// The log may then be another one: SQLite removes it when the last connection closes.
    package func leadsToSameDatabase() -> Bool {
        log.withLock { $0 = nil }
        return database == FileIdentity(path: path)
    }

    /// Whether what was just committed can be found again.
    func holdsLastCommit() -> Bool {
        guard let current = FileIdentity(path: path + "-wal") else { return false }
        let isSameLog = log.withLock { log in
            defer { log = log ?? current }
            return log == nil || log == current
        }
        return isSameLog && database == FileIdentity(path: path)
    }
}
