// SPDX-License-Identifier: Apache-2.0
import Foundation
import Storage
import Testing

/// The first connection brings a database up to date, once.
@Suite struct MigrationTests {
    static let first = Migration(
        version: 1,
        name: "things",
        statements: ["CREATE TABLE things (id BIGINT, name TEXT)"]
    )
    static let second = Migration(
        version: 2,
        name: "parts",
        statements: ["CREATE TABLE parts (id BIGINT)", "INSERT INTO parts VALUES (1)"]
    )
    static let broken = Migration(
        version: 2,
        name: "broken",
        statements: ["CREATE TABLE half (id BIGINT)", "CREATE TABLE things (id BIGINT)"]
    )

    private func applied(_ connection: any DatabaseConnection) throws -> [String] {
        try connection.all(SQL("SELECT * FROM schema_migrations ORDER BY version")) { row in
            "\(row.integer(0)) \(row.text(1)) \(row.integer(2))"
        }
    }

    @Test(arguments: Engine.allCases) func `what is missing is applied, and what is there is left alone`(
        engine: Engine
    ) throws {
        let place = try Place(engine)
        let connection = try place.connect()
        #expect(try Migrations.version(of: connection) == 0)
        try Migrations.apply([Self.first], to: connection, at: 100)
        #expect(try Migrations.version(of: connection) == 1)
        try Migrations.apply([Self.first, Self.second], to: connection, at: 200)
        try Migrations.apply([Self.first, Self.second], to: connection, at: 300)
        #expect(try applied(connection) == ["1 things 100", "2 parts 200"])
        #expect(try connection.first(SQL("SELECT count(*) FROM parts")) { $0.integer(0) } == 1)
    }

    @Test(arguments: Engine.allCases) func `a migration that fails leaves nothing of itself`(engine: Engine) throws {
        let place = try Place(engine)
        let connection = try place.connect()
        let error = storageError { () throws(StorageError) in
            try Migrations.apply([Self.first, Self.broken], to: connection, at: 100)
        }
        #expect(error != nil)
        #expect(try applied(connection) == ["1 things 100"])
        guard case .misuse = storageError({ () throws(StorageError) in try connection.run(SQL("SELECT * FROM half")) })
        else {
            Issue.record("half of it is there")
            return
        }
        try Migrations.apply([Self.first, Self.second], to: connection, at: 200)
        #expect(try Migrations.version(of: connection) == 2)
    }

    @Test(arguments: Engine.allCases) func `a database of a newer program is refused and left alone`(
        engine: Engine
    ) throws {
        let place = try Place(engine)
        try Migrations.apply([Self.first, Self.second], to: try place.connect(), at: 100)
        let error = storageError { () throws(StorageError) in
            try Migrations.apply([Self.first], to: try place.connect(), at: 200)
        }
        #expect(error == .schemaTooNew(found: 2, supported: 1))
        #expect(try applied(try place.connect()) == ["1 things 100", "2 parts 100"])
    }

    @Test func `the file of a newer program is left as it was`() throws {
        let folder = try Folder()
        try Migrations.apply([Self.first, Self.second], to: try folder.connect(), at: 100)
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.database))
        let error = storageError { () throws(StorageError) in
            try Migrations.apply([Self.first], to: try folder.connect(), at: 200)
        }
        #expect(error == .schemaTooNew(found: 2, supported: 1))
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.database)) == before)
    }

    @Test(arguments: Engine.allCases) func `a migration that goes by another name than it did is refused`(
        engine: Engine
    ) throws {
        let place = try Place(engine)
        let connection = try place.connect()
        try Migrations.apply([Self.first, Self.second], to: connection, at: 100)
        let error = storageError { () throws(StorageError) in
            try Migrations.apply([Self.first, Self.broken], to: connection, at: 200)
        }
        #expect(error == .schemaDiffers(version: 2, applied: "parts", expected: "broken"))
    }

    @Test(arguments: Engine.allCases) func `several that start at once bring it up to date once`(
        engine: Engine
    ) async throws {
        let place = try Place(engine)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await onThread {
                        let connection = try place.connect()
                        try Migrations.apply([Self.first, Self.second], to: connection, at: 100)
                    }
                }
            }
            try await group.waitForAll()
        }
        let connection = try place.connect()
        #expect(try applied(connection) == ["1 things 100", "2 parts 100"])
        #expect(try connection.first(SQL("SELECT count(*) FROM parts")) { $0.integer(0) } == 1)
    }
}
