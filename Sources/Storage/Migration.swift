// SPDX-License-Identifier: Apache-2.0

/// One step by which the database's tables came to be what they are; once released, never changed.
package struct Migration: Sendable {
    /// From 1, without gaps.
    package let version: Int
    /// A few words for people.
    package let name: StaticString
    /// Carried out in one transaction.
    package let statements: [StaticString]

    /// Describes one step.
    package init(version: Int, name: StaticString, statements: [StaticString]) {
        self.version = version
        self.name = name
        self.statements = statements
    }
}

/// Brings a database up to date.
package enum Migrations {
    /// Applies what is missing, each migration in a transaction of its own.
    ///
    /// What was applied is listed in the table `schema_migrations`, which is read again within each transaction; so
    /// this may be repeated, interrupted, and done by two processes at once.
    ///
    /// - Parameters:
    ///   - migrations: All that the program knows, in the order of their versions.
    ///   - connection: A connection that may write.
    ///   - milliseconds: The time now, since 1970 UTC, to be written beside what is applied.
    /// - Throws: ``StorageError/schemaTooNew(found:supported:)`` for a database of a newer program, which is left alone.
    package static func apply(
        _ migrations: [Migration],
        to connection: any DatabaseConnection,
        at milliseconds: Int64
    ) throws(StorageError) {
        if try isApplied(migrations, to: connection) { return }
        let areInOrder = migrations.enumerated().allSatisfy { $1.version == $0 + 1 }
        precondition(areInOrder, "versions count from 1 without gaps")
        try connection.transaction { () throws(StorageError) in
            try connection.run(createTable)
            try check(migrations, in: connection)
        }
        for migration in migrations {
            try connection.transaction { () throws(StorageError) in
                try apply(migration, to: connection, at: milliseconds)
            }
        }
        try check(migrations, in: connection)
    }

    /// Whether there is nothing to do; asked first, since to find that out within a transaction costs one for each step.
    private static func isApplied(
        _ migrations: [Migration],
        to connection: any DatabaseConnection
    ) throws(StorageError) -> Bool {
        guard try version(of: connection) == migrations.count, !migrations.isEmpty else { return false }
        let count = try connection.first(SQL("SELECT count(*) FROM schema_migrations")) { $0.integer(0) }
        guard count == Int64(migrations.count) else { return false }
        try check(migrations, in: connection)
        return true
    }

    /// The version of a database; 0 for one to which nothing was ever applied.
    package static func version(of connection: any DatabaseConnection) throws(StorageError) -> Int {
        do {
            return Int(try connection.first(latest) { $0.integer(0) } ?? 0)
        } catch .misuse {
            return 0  // no such table
        }
    }

    private static let createTable = SQL(
        """
        CREATE TABLE IF NOT EXISTS schema_migrations (
            version BIGINT NOT NULL PRIMARY KEY,
            name TEXT NOT NULL,
            applied_at_milliseconds BIGINT NOT NULL
        )
        """
    )

    private static let latest = SQL("SELECT version FROM schema_migrations ORDER BY version DESC LIMIT 1")

    private static func check(_ migrations: [Migration], in connection: any DatabaseConnection) throws(StorageError) {
        let listed = try connection.all(SQL("SELECT version, name FROM schema_migrations ORDER BY version")) { row in
            (version: Int(row.integer(0)), name: row.text(1))
        }
        if let found = listed.last?.version, found > migrations.count {
            throw .schemaTooNew(found: found, supported: migrations.count)
        }
        for entry in listed {
            guard let migration = migrations.first(where: { $0.version == entry.version }) else { continue }
            guard migration.name.description == entry.name else {
                let expected = migration.name.description
                throw .schemaDiffers(version: entry.version, applied: entry.name, expected: expected)
            }
        }
    }

    private static func apply(
        _ migration: Migration,
        to connection: any DatabaseConnection,
        at milliseconds: Int64
    ) throws(StorageError) {
        let version = SQLValue.integer(Int64(migration.version))
        let listed = SQL("SELECT 1 FROM schema_migrations WHERE version = ?", version)
        guard try connection.first(listed, { _ in true }) == nil else { return }
        for statement in migration.statements { try connection.enqueue(SQL(statement)) }
        let name = SQLValue.text(migration.name.description)
        try connection.run(SQL("INSERT INTO schema_migrations VALUES (?, ?, ?)", version, name, .integer(milliseconds)))
    }
}
