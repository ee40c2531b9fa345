// SPDX-License-Identifier: Apache-2.0

/// Where a database is, as a setting names it.
package enum DatabaseLocation: Hashable, Sendable {
    /// A file of SQLite's, in a directory that belongs to us alone.
    case sqlite(path: String)

    /// Reads `sqlite:PATH`; nil for anything else, an empty path, or one that holds U+0000.
    package init?(_ text: String) {
        let scheme = "sqlite:"
        guard text.utf8.starts(with: scheme.utf8) else { return nil }
        let path = String(decoding: text.utf8.dropFirst(scheme.utf8.count), as: UTF8.self)
        guard !path.isEmpty, !path.utf8.contains(0) else { return nil }
        self = .sqlite(path: path)
    }

    /// Opens a connection; a database that does not exist is made, empty, unless the connection only reads.
    package func connect(_ access: DatabaseAccess = .readWrite) throws(StorageError) -> any DatabaseConnection {
        switch self {
        case .sqlite(let path): try SQLiteConnection(path: path, options: SQLiteOptions(access: access))
        }
    }

    /// Whether several services may write to it at once.
    package var isShared: Bool {
        switch self {
        case .sqlite: false
        }
    }

    /// Keeps other services from writing to the same database; nil where the engine lets several do so.
    package func lockInstance() throws(StorageError) -> InstanceLock? {
        switch self {
        case .sqlite(let path): try InstanceLock(database: path)
        }
    }
}

/// What a connection is for.
package enum DatabaseAccess: Hashable, Sendable {
    case readWrite, readOnly
}
