// SPDX-License-Identifier: Apache-2.0
import Foundation
import Storage
import Testing

/// Errors are distinguished, and reported without the values.
@Suite struct ErrorTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let sql: SQL
        let constraint: StorageError.Constraint
        let code: Int32

        var testDescription: String { "\(constraint)" }
    }

    static let secret = "secret-value"

    static let rows = [
        Row(sql: SQL("INSERT INTO a VALUES (1, 'other', 1)"), constraint: .primaryKey, code: 1555),
        Row(sql: SQL("INSERT INTO a VALUES (2, ?, 1)", .text(secret)), constraint: .unique, code: 2067),
        Row(sql: SQL("INSERT INTO a VALUES (2, ?, 1)", .null), constraint: .notNull, code: 1299),
        Row(sql: SQL("INSERT INTO a VALUES (2, 'x', -5)"), constraint: .check, code: 275),
        Row(sql: SQL("INSERT INTO b VALUES (77)"), constraint: .foreignKey, code: 787),
        Row(sql: SQL("INSERT INTO a VALUES (2, 'x', ?)", .text(secret)), constraint: .other, code: 3091),
    ]

    @Test(arguments: rows)
    func `a broken constraint is named, and changes nothing`(row: Row) throws {
        let folder = try Folder()
        let connection = try folder.connect()
        let table = SQL(
            "CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, n INT CHECK (n > 0)) STRICT"
        )
        try connection.run(table)
        try connection.run(SQL("CREATE TABLE b (a INTEGER REFERENCES a)"))
        try connection.run(SQL("INSERT INTO a VALUES (1, ?, 1)", .text(Self.secret)))
        let error = try #require(storageError { () throws(StorageError) in try connection.run(row.sql) })
        guard case .constraint(row.constraint, let report) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(report.code == row.code)
        #expect(!error.description.contains(Self.secret))
        #expect(try connection.first(SQL("SELECT count(*) FROM a")) { $0.integer(0) } == 1)
    }

    struct Misuse: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let sql: SQL

        init(_ name: String, _ sql: SQL) {
            (testDescription, self.sql) = (name, sql)
        }
    }

    static let misuses = [
        Misuse("no SQL", SQL("SELEC 1")),
        Misuse("no such table", SQL("SELECT * FROM nowhere")),
        Misuse("two statements", SQL("SELECT 1; SELECT 2")),
        Misuse("no statement", SQL("  -- nothing")),
        Misuse("one character", SQL(";")),
        Misuse("a value too few", SQL("SELECT ?, ?", .integer(1))),
        Misuse("a value too many", SQL("SELECT ?", .integer(1), .integer(2))),
        Misuse("text in double quotes", SQL("SELECT \"text\"")),
        Misuse("another database", SQL("ATTACH ':memory:' AS other")),
        Misuse("a library", SQL("SELECT load_extension('x.so')")),
    ]

    @Test(arguments: misuses)
    func `a statement that can only be our mistake is misuse`(misuse: Misuse) throws {
        let connection = try Folder().connect()
        let error = storageError { () throws(StorageError) in try connection.run(misuse.sql) }
        guard case .misuse = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(storageError { () throws(StorageError) in try connection.run(SQL("SELECT 1")) } == nil)
    }

    @Test func `the schema cannot be written to by tricks`() throws {
        let connection = try Folder().connect()
        try connection.run(SQL("PRAGMA writable_schema = ON"))
        let error = storageError { () throws(StorageError) in try connection.run(SQL("DELETE FROM sqlite_schema")) }
        #expect(error != nil)
    }

    @Test(arguments: Engine.allCases)
    func `a statement cannot be used for a second answer while its first is read`(engine: Engine) throws {
        let place = try Place(engine)
        let connection = try place.connect()
        var errors: [StorageError?] = []
        let sql = SQL("SELECT 1")
        try connection.rows(sql) { _ in
            errors.append(storageError { () throws(StorageError) in try connection.run(sql) })
        }
        guard case .misuse? = errors.first else {
            Issue.record("\(errors)")
            return
        }
    }

    @Test(arguments: Engine.allCases)
    func `a reader cannot write`(engine: Engine) throws {
        let place = try Place(engine)
        let writer = try place.connectWithThings()
        let reader = try place.connect(.readOnly)
        try writer.insertThing(1, "one")
        #expect(try reader.countThings() == 1)
        let error = storageError { () throws(StorageError) in try reader.insertThing(2, "two") }
        guard case .readOnly = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a reader makes no database`() throws {
        let folder = try Folder()
        let error = storageError { () throws(StorageError) in
            _ = try folder.connect(SQLiteOptions(access: .readOnly))
        }
        guard case .cannotOpen = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!FileManager.default.fileExists(atPath: folder.database))
    }

    @Test(arguments: ["", "missing/test.db", "nul\0.db"])
    func `a path that leads nowhere cannot be opened`(path: String) throws {
        let folder = try Folder()
        let error = storageError { () throws(StorageError) in
            _ = try SQLiteConnection(path: path.isEmpty ? "" : folder.path + "/" + path)
        }
        guard case .cannotOpen = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a file that is no database is corrupt, and is left as it was`() throws {
        let folder = try Folder()
        let bytes = Data(repeating: 0x41, count: 5000)
        try bytes.write(to: URL(fileURLWithPath: folder.database))
        for access in [DatabaseAccess.readWrite, .readOnly] {
            let error = storageError { () throws(StorageError) in
                _ = try folder.connect(SQLiteOptions(access: access))
            }
            guard case .corrupt = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.database)) == bytes)
    }

    @Test func `a damaged page is found when it is read`() throws {
        let folder = try Folder()
        do {
            let connection = try folder.connectWithThings()
            for number in 1...500 {
                try connection.insertThing(Int64(number), String(repeating: "x", count: 50) + "\(number)")
            }
        }
        var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.database))
        bytes.replaceSubrange(4096..<bytes.count, with: Data(repeating: 0xFF, count: bytes.count - 4096))
        try bytes.write(to: URL(fileURLWithPath: folder.database))
        let error = storageError { () throws(StorageError) in
            let connection = try folder.connect()
            _ = try connection.countThings()
        }
        guard case .corrupt = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: Engine.allCases)
    func `a second writer waits, and then gets the error that the database is busy`(engine: Engine) throws {
        let place = try Place(engine)
        let first = try place.connectWithThings()
        let second = try place.connect(busyTimeoutMilliseconds: 20)
        try first.begin()
        guard case .busy = storageError({ () throws(StorageError) in try second.begin() }) else {
            Issue.record("both write")
            return
        }
        first.rollback()
        #expect(storageError { () throws(StorageError) in try second.begin() } == nil)
    }

    @Test func `a place is a path of SQLite's, an address of PostgreSQL's, or nothing`() {
        #expect(DatabaseLocation("sqlite:a/b.db") == .sqlite(path: "a/b.db"))
        #expect(DatabaseLocation("sqlite:/a") == .sqlite(path: "/a"))
        for text in [
            "", "sqlite:", "sqlite", "a.db", "SQLITE:a", "sqlite:a\0b", "postgres:/host", "POSTGRES://h",
            "postgres://a b",
        ] {
            #expect(DatabaseLocation(text) == nil, "\(text)")
        }
    }
}
