// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Storage

/// The statements of insertions, and when rows that wait are inserted.
@Suite struct InsertionTests {
    static let statements: [(insertion: Insertion, text: String)] = [
        (Insertion(into: "t", columns: "a"), "INSERT INTO t (a) VALUES (?) "),
        (
            Insertion(into: "t", columns: "a,\n  b", onConflict: .keeps),
            "INSERT INTO t (a, b) VALUES (?, ?) ON CONFLICT DO NOTHING"
        ),
        (
            Insertion(into: "t", columns: "a, b, c, d", onConflict: .replaces(keyColumns: 2)),
            """
            INSERT INTO t (a, b, c, d) VALUES (?, ?, ?, ?) \
            ON CONFLICT (a, b) DO UPDATE SET c = excluded.c, d = excluded.d
            """
        ),
        (
            Insertion(into: "t", columns: "a, b", onConflict: .updates(keyColumns: 1, "b = t.b + excluded.b")),
            "INSERT INTO t (a, b) VALUES (?, ?) ON CONFLICT (a) DO UPDATE SET b = t.b + excluded.b"
        ),
        (
            Insertion(into: "t", columns: "a, b", selecting: "SELECT c, ? FROM u WHERE c > ?"),
            "INSERT INTO t (a, b) SELECT c, ? FROM u WHERE c > ? ON CONFLICT DO NOTHING"
        ),
    ]

    @Test(arguments: statements.indices)
    func `an insertion is one statement for a row, and one for many unless it selects them`(index: Int) {
        let (insertion, text) = Self.statements[index]
        #expect(insertion.one.description == text)
        let placeholders = insertion.many?.description.count { $0 == "?" }
        #expect(placeholders == (insertion.select == nil ? 16 * text.count { $0 == "?" } : nil))
    }

    // MARK: - What is asked meanwhile

    private static let someRows = Insertion(into: "some_rows", columns: "a")

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
        try connection.insert([.integer(1)], into: Self.someRows)
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
