// SPDX-License-Identifier: Apache-2.0
import Storage
import TestSupport
import Testing

/// The engines that a promise is to hold for.
enum Engine: String, CaseIterable, CustomTestStringConvertible {
    case sqlite = "SQLite"
    case postgreSQL = "PostgreSQL"

    var testDescription: String { rawValue }
}

/// An empty database of a test's own, in one of the engines.
final class Place: Sendable {
    let engine: Engine
    /// What `--database` takes: also for a process of a test's own, which gets text alone.
    let address: String
    let location: DatabaseLocation
    private let folder: Folder
    /// The schema, if the engine is PostgreSQL.
    let server: PostgreSQLPlace?

    init(_ engine: Engine) throws {
        self.engine = engine
        folder = try Folder()
        server = engine == .postgreSQL ? try PostgreSQLPlace() : nil
        address = server?.address() ?? "sqlite:" + folder.database
        location = try #require(DatabaseLocation(address))
    }

    func connect(
        _ access: DatabaseAccess = .readWrite,
        busyTimeoutMilliseconds: Int32 = 5000,
        answerTimeoutMilliseconds: Int = 15_000,
        idleTimeoutMilliseconds: Int = 30_000
    ) throws(StorageError) -> any DatabaseConnection {
        switch location {
        case .sqlite(let path):
            let options = SQLiteOptions(access: access, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
            return try SQLiteConnection(path: path, options: options)
        case .postgreSQL(let address):
            let options = PostgreSQLOptions(
                access: access,
                busyTimeoutMilliseconds: Int(busyTimeoutMilliseconds),
                answerTimeoutMilliseconds: answerTimeoutMilliseconds,
                // A test that is held up is not to lose its connection, unless that is what it is about.
                idleTimeoutMilliseconds: idleTimeoutMilliseconds
            )
            return try PostgreSQLConnection(address, options: options)
        }
    }

    /// A connection to a database with one table, `things (id, name)`.
    func connectWithThings(idleTimeoutMilliseconds: Int = 30_000) throws(StorageError) -> any DatabaseConnection {
        let connection = try connect(idleTimeoutMilliseconds: idleTimeoutMilliseconds)
        try connection.run(SQL("CREATE TABLE things (id BIGINT PRIMARY KEY, name TEXT NOT NULL UNIQUE)"))
        return connection
    }
}

extension DatabaseConnection {
    func insertThing(_ id: Int64, _ name: String) throws(StorageError) {
        try run(SQL("INSERT INTO things VALUES (?, ?)", .integer(id), .text(name)))
    }

    func countThings() throws(StorageError) -> Int64 {
        try first(SQL("SELECT count(*) FROM things")) { $0.integer(0) } ?? -1
    }
}
