// SPDX-License-Identifier: Apache-2.0

/// Where a database is, as a setting names it.
package enum DatabaseLocation: Hashable, Sendable {
    /// A file of SQLite's, in a directory that belongs to us alone.
    case sqlite(path: String)
    /// A database of a PostgreSQL server, which several services may share.
    case postgreSQL(PostgreSQLAddress)

    /// Reads `sqlite:PATH` or `postgres://…`; nil for anything else, an empty path, or one that holds U+0000.
    package init?(_ text: String) {
        if let address = PostgreSQLAddress(text) {
            self = .postgreSQL(address)
            return
        }
        let scheme = "sqlite:"
        guard text.utf8.starts(with: scheme.utf8) else { return nil }
        let path = String(decoding: text.utf8.dropFirst(scheme.utf8.count), as: UTF8.self)
        guard !path.isEmpty, !path.utf8.contains(0) else { return nil }
        self = .sqlite(path: path)
    }

    /// Opens a connection; a database that does not exist is made, empty, unless the connection only reads.
    ///
    /// A server takes the lock from a writer that does nothing for `idleTimeoutMilliseconds`, and is given up if an answer
    /// takes longer than `answerTimeoutMilliseconds`; a file keeps it, and takes what it takes.
    package func connect(
        _ access: DatabaseAccess = .readWrite,
        idleTimeoutMilliseconds: Int? = nil,
        answerTimeoutMilliseconds: Int? = nil
    ) throws(StorageError) -> any DatabaseConnection {
        switch self {
        case .sqlite(let path): return try SQLiteConnection(path: path, options: SQLiteOptions(access: access))
        case .postgreSQL(let address):
            let options = PostgreSQLOptions(
                access: access,
                answerTimeoutMilliseconds: answerTimeoutMilliseconds,
                idleTimeoutMilliseconds: idleTimeoutMilliseconds
            )
            return try PostgreSQLConnection(address, options: options)
        }
    }

    /// Opens one more connection that writes to a file of SQLite's, and makes nothing where it is gone; nil for a server.
    package func connectToFile(busyTimeoutMilliseconds: Int32 = 5000) throws(StorageError) -> SQLiteConnection? {
        guard case .sqlite(let path) = self else { return nil }
        let options = SQLiteOptions(makesDatabase: false, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
        return try SQLiteConnection(path: path, options: options)
    }

    /// Carries all of a file's write-ahead log over and removes it, so that the database is one file.
    ///
    /// - Returns: False where another connection has the database open, so that its log stays, empty or not.
    package func removeLog() throws(StorageError) -> Bool {
        guard case .sqlite(let path) = self, FileNames.exists(path + "-wal") else { return true }
        // The last connection to close removes the log.
        do throws(StorageError) {
            try connectToFile(busyTimeoutMilliseconds: 50)?.emptyLog()
        } catch {
            guard case .busy = error else { throw error }
        }
        return !FileNames.exists(path + "-wal")
    }

    /// Whether several services may write to it at once.
    package var isShared: Bool {
        switch self {
        case .sqlite: false
        case .postgreSQL: true
        }
    }

    /// Keeps other services from writing to the same database; nil where the engine lets several do so.
    package func lockInstance() throws(StorageError) -> InstanceLock? {
        switch self {
        case .sqlite(let path): try InstanceLock(of: path)
        case .postgreSQL: nil
        }
    }
}

extension DatabaseLocation: CustomStringConvertible {
    /// As it is written, but for the password and the parameters of a server's address.
    package var description: String {
        switch self {
        case .sqlite(let path): "sqlite:\(path)"
        case .postgreSQL(let address): address.description
        }
    }

    /// Whether it holds a password, which is visible to every user who can see the command line.
    package var hasPassword: Bool {
        switch self {
        case .sqlite: false
        case .postgreSQL(let address): address.hasPassword
        }
    }

    /// What a command line is refused with that has one.
    package static let passwordAdvice =
        "has a password, which every user of this machine can see in the list of processes; give the address by "
        + "OFFER_SIGNER_DATABASE, or the password by PGPASSFILE or PGPASSWORD"

    /// What may be shown of a text that is no location: nothing of what may have been meant as a server's address.
    package static func shown(_ text: String) -> String {
        let isAddress = ["@", "password"].contains(where: text.contains) || text.lowercased().hasPrefix("postgres")
        guard isAddress, !text.hasPrefix("sqlite:") else { return text }
        return "an address that is not one (it may hold a password, and is not shown; / ? @ in one are %2F %3F %40)"
    }
}

/// What a connection is for.
package enum DatabaseAccess: Hashable, Sendable {
    case readWrite, readOnly
}
