// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Storage

/// Which statements SQLite is given for many rows at once.
@Suite struct SQLiteInsertionTests {
    struct Statement: CustomTestStringConvertible, Sendable {
        let text: StaticString
        let columns: Int?

        init(_ text: StaticString, _ columns: Int?) {
            (self.text, self.columns) = (text, columns)
        }

        var testDescription: String { text.description }
    }

    static let statements = [
        Statement("INSERT INTO t (a) VALUES (?)", 1),
        Statement("INSERT INTO t (a, b, c) VALUES (?, ?, ?)", 3),
        Statement("INSERT INTO t (a, b)\n    VALUES (?, ?)", 2),
        Statement("INSERT INTO t (a, b) VALUES (?, ?)\nON CONFLICT  DO NOTHING", 2),
        Statement("INSERT INTO t\n    (a, b)\nVALUES (?, ?)", 2),
        Statement("INSERT INTO t (a, b) VALUES (?, 7)", nil),
        Statement("INSERT INTO t (a, b) VALUES (?, ?), (?, ?)", nil),
        Statement("INSERT INTO t (a, b) VALUES (?, '?')", nil),
        Statement("INSERT INTO t VALUES (?, ?)", nil),
        Statement("INSERT INTO t (a) VALUES (?) ON CONFLICT (a) DO UPDATE SET a = 1", nil),
        Statement("INSERT INTO t (a) VALUES (?) RETURNING a", nil),
        Statement("INSERT OR REPLACE INTO t (a) VALUES (?)", nil),
        Statement("INSERT INTO t (a) SELECT b FROM u WHERE b = ?", nil),
        Statement("INSERT INTO t (a) SELECT b FROM u UNION ALL VALUES (?)", nil),
        Statement("INSERT INTO t (a) SELECT (1) UNION ALL VALUES (?)", nil),
        Statement("UPDATE t SET a = ?", nil),
        Statement("DELETE FROM t", nil),
    ]

    @Test(arguments: statements)
    func `only what inserts one row, and says no more, is made a statement for many`(statement: Statement) throws {
        let insertion = SQLiteInsertion(SQLText(statement.text))
        #expect(insertion?.parameterCount == statement.columns)
        #expect(insertion?.table ?? "t" == "t")
    }

    // MARK: - What is asked meanwhile

    /// Two tables, and a transaction in which one of them was given a row that it can't have.
    private func withWrongRow(_ body: (any DatabaseConnection) throws -> Void) throws {
        let place = try Place(.sqlite)
        defer { withExtendedLifetime(place) {} }
        let connection = try place.connect()
        for table in ["CREATE TABLE some_rows (a INTEGER PRIMARY KEY)", "CREATE TABLE others (some INTEGER)"]
            as [StaticString]
        {
            try connection.run(SQL(table))
        }
        try connection.run(SQL("INSERT INTO some_rows (a) VALUES (?)", .integer(1)))
        try connection.begin()
        try connection.enqueue(SQL("INSERT INTO some_rows (a) VALUES (?)", .integer(1)))
        try body(connection)
        connection.rollback()
    }

    private static let elsewhere: [StaticString] = [
        "SELECT some FROM others", "SELECT 1", "SELECT count(*) FROM others AS some_row WHERE some > 1",
    ]

    @Test(arguments: elsewhere)
    func `rows wait while other tables are asked, and are not forgotten`(question: StaticString) throws {
        try withWrongRow { connection in
            try connection.rows(SQL(question)) { _ in }
            #expect(throws: StorageError.self) { try connection.commit() }
        }
    }

    private static let same: [StaticString] = [
        "SELECT a FROM some_rows", "SELECT a FROM Some_Rows", "SELECT 1 WHERE EXISTS (SELECT a FROM \"some_rows\")",
        "SELECT some FROM others JOIN some_rows ON a = some", "WITH t AS (SELECT 1) SELECT * FROM t",
        "INSERT INTO others (some) SELECT a FROM some_rows RETURNING some", "PRAGMA quick_check",
    ]

    @Test(arguments: same)
    func `rows are there before their table is asked, or something that may depend on it`(question: StaticString) throws
    {
        try withWrongRow { connection in
            #expect(throws: StorageError.self) { try connection.rows(SQL(question)) { _ in } }
        }
    }

    @Test func `rows of before are asked for without those that wait, which are there later`() throws {
        try withWrongRow { connection in
            var found: [Int64] = []
            try connection.earlierRows(SQL("SELECT a FROM some_rows")) { found.append($0.integer(0)) }
            #expect(found == [1])
            #expect(throws: StorageError.self) { try connection.rows(SQL("SELECT a FROM some_rows")) { _ in } }
        }
    }
}
