// SPDX-License-Identifier: Apache-2.0
package import Storage

/// Why no backup was made, or none was restored.
package enum BackupError: Error, Hashable, Sendable, CustomStringConvertible, StorageErrorConvertible {
    /// The database is on a server, which has backups of its own.
    case onServer
    /// Nothing is written over.
    case exists(String)
    /// What an interrupted command has left.
    case remains(String)
    case missing(String)
    case storage(StorageError)
    /// The file is a database, but not of this program, or not whole.
    case unusable(String, reason: String)
    /// Another process has the database open that is to be replaced.
    case open(String)

    /// A sentence for the person who ran the command, with what to do.
    package var description: String {
        switch self {
        case .onServer:
            "The database is on a server. Back it up with the server's own tools: see docs/operations/postgresql.md."
        case .exists(let path): "\(path) already exists, and nothing is overwritten. Name another file."
        case .remains(let path):
            "\(path) already exists: another such command runs, or one was interrupted. If none runs, remove it."
        case .missing(let path): "There is no file \(path)."
        case .storage(let error): error.description
        case .unusable(let path, let reason): "\(path) can't be used: \(reason)"
        case .open(let path):
            "Another process has \(path) open. Stop the service and every command that uses it, such as audit export."
        }
    }
}
