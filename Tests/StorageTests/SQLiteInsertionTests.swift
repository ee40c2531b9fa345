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
        let insertion = SQLiteInsertion(statement.text)
        #expect(insertion?.parameterCount == statement.columns)
        #expect(insertion?.table ?? "t" == "t")
    }
}
