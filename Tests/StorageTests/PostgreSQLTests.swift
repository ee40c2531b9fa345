// SPDX-License-Identifier: Apache-2.0
import Foundation
import Storage
import TestSupport
import Testing

/// What is PostgreSQL's own: how statements reach it, how its errors are distinguished, and what it must promise.
@Suite struct PostgreSQLTests {
    let place: Place
    let server: PostgreSQLPlace

    init() throws {
        place = try Place(.postgreSQL)
        server = try #require(place.server)
    }

    struct Statement: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let sql: SQL
        let answer: [SQLValue]

        init(_ name: String, _ sql: SQL, _ answer: SQLValue...) {
            (testDescription, self.sql, self.answer) = (name, sql, answer)
        }
    }

    static let statements = [
        Statement("values in order", SQL("SELECT ?, ?", .integer(7), .text("x")), .integer(7), .text("x")),
        Statement("a question in quotes", SQL("SELECT 'a?''?', ?", .integer(1)), .text("a?'?"), .integer(1)),
        Statement("a question in a name", SQL("SELECT ? AS \"?\"", .integer(1)), .integer(1)),
        Statement(
            "a question in a comment",
            SQL("SELECT ? -- why? 'it''s\n, 2", .integer(1)),
            .integer(1),
            .integer(2)
        ),
        Statement("bytes", SQL("SELECT x'00ff', x''"), .blob([0, 0xFF]), .blob([])),
        Statement("a backslash", SQL("SELECT 'a\\n'"), .text("a\\n")),
        Statement(
            "the words of a schema",
            SQL("SELECT 'CREATE BLOB', 'WITHOUT ROWID'"),
            .text("CREATE BLOB"),
            .text("WITHOUT ROWID")
        ),
        Statement("truth", SQL("SELECT 1 = 1, 1 = 2"), .integer(1), .integer(0)),
        Statement("small integers", SQL("SELECT CAST(-2 AS SMALLINT), -70000"), .integer(-2), .integer(-70000)),
        Statement("no value", SQL("SELECT coalesce(?, 5)", .null), .integer(5)),
    ]

    @Test(arguments: statements)
    func `a statement is read as SQLite reads it`(statement: Statement) throws {
        let connection = try place.connect()
        let read = try connection.first(statement.sql) { row in statement.answer.indices.map { row.value($0) } }
        #expect(read == statement.answer)
    }

    @Test func `the schema is SQLite's in PostgreSQL's words`() throws {
        let connection = try place.connect()
        try connection.run(
            SQL("CREATE TABLE t (id BLOB PRIMARY KEY, name TEXT NOT NULL DEFAULT 'BLOB TEXT') WITHOUT ROWID")
        )
        try connection.run(SQL("INSERT INTO t (id) VALUES (randomblob(16))"))
        #expect(
            try connection.first(SQL("SELECT length(id), name FROM t")) { "\($0.integer(0)) \($0.text(1))" }
                == "16 BLOB TEXT"
        )
        for name in ["b", "B", "a", "ä", "A"] {
            try connection.run(SQL("INSERT INTO t VALUES (?, ?)", .blob(Array(name.utf8)), .text(name)))
        }
        // By bytes, not by a language's alphabet.
        let sorted = try connection.all(SQL("SELECT name FROM t WHERE length(id) < 3 ORDER BY name")) { $0.text(0) }
        #expect(sorted == ["A", "B", "a", "b", "ä"])
    }

    struct Constraint: CustomTestStringConvertible, Sendable {
        let sql: SQL
        let constraint: StorageError.Constraint
        let state: String

        var testDescription: String { "\(constraint)" }
    }

    static let secret = "secret-value"

    static let constraints = [
        Constraint(sql: SQL("INSERT INTO a VALUES (1, 'other', 1)"), constraint: .unique, state: "23505"),
        Constraint(sql: SQL("INSERT INTO a VALUES (2, ?, 1)", .text(secret)), constraint: .unique, state: "23505"),
        Constraint(sql: SQL("INSERT INTO a VALUES (2, ?, 1)", .null), constraint: .notNull, state: "23502"),
        Constraint(sql: SQL("INSERT INTO a VALUES (2, ?, -5)", .text(secret)), constraint: .check, state: "23514"),
        Constraint(sql: SQL("INSERT INTO b VALUES (77)"), constraint: .foreignKey, state: "23503"),
    ]

    @Test(arguments: constraints)
    func `a broken constraint is named, without the row`(row: Constraint) throws {
        let connection = try place.connect()
        try connection.run(
            SQL("CREATE TABLE a (id BIGINT PRIMARY KEY, name TEXT NOT NULL UNIQUE, n INT CHECK (n > 0))")
        )
        try connection.run(SQL("CREATE TABLE b (a BIGINT REFERENCES a)"))
        try connection.run(SQL("INSERT INTO a VALUES (1, ?, 1)", .text(Self.secret)))
        let error = try #require(storageError { () throws(StorageError) in try connection.run(row.sql) })
        guard case .constraint(row.constraint, let report) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(report.state == row.state)
        #expect(!"\(error)\(String(reflecting: error))".contains(Self.secret))
        #expect(try connection.first(SQL("SELECT count(*) FROM a")) { $0.integer(0) } == 1)
    }

    static let misuses = [
        Statement("no SQL", SQL("SELEC 1")),
        Statement("no such table", SQL("SELECT * FROM nowhere")),
        Statement("two statements", SQL("SELECT 1; SELECT 2")),
        Statement("no statement", SQL("  -- nothing")),
        Statement("one character", SQL(";")),
        Statement("a value too few", SQL("SELECT ?, ?", .integer(1))),
        Statement("a value too many", SQL("SELECT ?", .integer(1), .integer(2))),
        Statement("text where bytes belong", SQL("SELECT 1 WHERE x'00' = ?", .text("x"))),
        Statement("a division by zero", SQL("SELECT 1 / ?", .integer(0))),
    ]

    @Test(arguments: misuses)
    func `a statement that can only be our mistake is misuse`(misuse: Statement) throws {
        let connection = try place.connect()
        for _ in 0..<2 {
            let error = storageError { () throws(StorageError) in try connection.run(misuse.sql) }
            guard case .misuse = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        #expect(storageError { () throws(StorageError) in try connection.run(SQL("SELECT 1")) } == nil)
    }

    @Test func `a statement that fails undoes its transaction, and is what all that follow fail with`() throws {
        let connection = try place.connectWithThings()
        try connection.begin()
        try connection.insertThing(1, "one")
        let undoing = storageError { () throws(StorageError) in try connection.insertThing(2, "one") }
        #expect(undoing != nil)
        #expect(storageError { () throws(StorageError) in try connection.insertThing(3, "three") } == undoing)
        #expect(storageError { () throws(StorageError) in try connection.commit() } == undoing)
        #expect(try connection.countThings() == 0)
        try connection.transaction { () throws(StorageError) in try connection.insertThing(4, "four") }
        #expect(try connection.countThings() == 1)
    }

    /// The owner keeps a connection after a constraint that was broken, and this one would fail with it for ever.
    @Test func `a connection that could not roll back a transaction requires reopening, whatever was said`() throws {
        let connection = try place.connectWithThings()
        for (id, name) in [(Int64(1), "one"), (2, "two")] { try connection.insertThing(id, name) }
        try connection.begin()
        // Its answer is read only together with the answer to the rollback.
        try connection.enqueue(SQL("UPDATE things SET name = 'one' WHERE name = 'two'"))
        connection.rollback()
        for _ in 0..<2 {
            let error = storageError { () throws(StorageError) in try connection.begin() }
            #expect(error?.requiresReopening == true, "\(String(describing: error))")
        }
        let next = try place.connect()
        #expect(try next.countThings() == 2)
    }

    @Test func `a server that is not there, and a database that is not, cannot be opened`() throws {
        for text in [
            "postgres://nobody-is-here.invalid/db", "postgres://127.0.0.1:1/db?connect_timeout=2",
            server.cluster.address().replacing("/offers", with: "/nowhere"),
        ] {
            let location = try #require(DatabaseLocation(text))
            let error = storageError { () throws(StorageError) in _ = try location.connect() }
            guard case .cannotOpen = error else {
                Issue.record("\(text): \(String(describing: error))")
                return
            }
        }
    }

    @Test(arguments: [
        "postgres://user:secret-value@127.0.0.1:1/db", "postgres://user:secret-value@[::1/db",
        "postgres://user:secret-value@127.0.0.1:x/db", "postgres://127.0.0.1:1/db?password=secret-value&colour=red",
        "postgres://u:secret-value%zz@h/db", "postgres://127.0.0.1:1?password=secret-value",
    ])
    func `a password is never shown`(text: String) throws {
        let location = try #require(DatabaseLocation(text))
        let error = storageError { () throws(StorageError) in _ = try location.connect() }
        #expect(error != nil)
        var shown = "\(location) \(String(reflecting: location)) \(String(describing: error))"
        dump(location, to: &shown)
        #expect(!shown.contains("secret-value"), "\(shown)")
    }

    @Test(arguments: [
        "postgres:/secret-value", "pg://u:secret-value@h/db", "Postgresql://u:secret-value@h/db",
        "host=h password=secret-value",
        "postgres://u:secret-value/x@h/db", "postgres://u:secret-value@x@h/db", "postgres://u:secret-value?x@h/db",
        "postgres://u:p/secret-value?x@h/db", "postgres://u@secret-value/db?user=a@b",
    ])
    func `an address that can't be read is refused without a word of it`(text: String) {
        #expect(DatabaseLocation(text) == nil)
        #expect(!DatabaseLocation.shown(text).contains("secret-value"))
    }

    @Test(arguments: ["mysql://x", "sqlite:", "sqlite:/a@b\0", "offers.db"])
    func `a location that holds no password is shown as it was written`(text: String) {
        #expect(DatabaseLocation(text) == nil)
        #expect(DatabaseLocation.shown(text) == text)
    }

    @Test(arguments: [
        "postgres://h/db", "postgres://u%40x:p%2F%3F%40@h,i:5433/db?sslmode=require",
        "postgresql:///db?host=/run/postgresql",
    ])
    func `an address whose name and password are percent-encoded is one`(text: String) {
        #expect(DatabaseLocation(text) != nil)
    }
}
