// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
package import Storage

/// Checks that the database still consists of the same files; records in removed files are lost.
///
/// SQLite continues to write into files whose names were removed. So a commit counts only if the database and its
/// write-ahead log are still found under their names afterwards.
package final class DatabaseFiles: Sendable {
    private let path: String
    private let database: FileIdentity?
    /// The write-ahead log after the first commit through the present connection.
    private let log = Guarded<FileIdentity?>(nil)

    /// The files of an existing database; `nil` for a database on a server.
    ///
    /// For a server, only the audit log can show a replaced database: it must continue from the known head.
    package init?(_ location: DatabaseLocation) {
        guard case .sqlite(let path) = location else { return nil }
        self.path = path
        database = FileIdentity(path: path)
    }

    /// Whether the path still leads to the same database; checked before it is opened again.
    ///
    /// The write-ahead log may then be another file: SQLite removes it when the last connection closes.
    package func leadsToSameDatabase() -> Bool {
        log.withLock { $0 = nil }
        return database == FileIdentity(path: path)
    }

    /// Whether the last commit is still found under the database's names.
    func holdsLastCommit() -> Bool {
        guard let current = FileIdentity(path: path + "-wal") else { return false }
        let isSameLog = log.withLock { log in
            defer { log = log ?? current }
            return log == nil || log == current
        }
        return isSameLog && database == FileIdentity(path: path)
    }
}
