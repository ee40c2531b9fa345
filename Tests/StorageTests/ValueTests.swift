// SPDX-License-Identifier: Apache-2.0
import Foundation
import Storage
import Testing

/// Values go into the database and come back as they were.
@Suite struct ValueTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let value: SQLValue

        init(_ name: String, _ value: SQLValue) {
            (self.name, self.value) = (name, value)
        }

        var testDescription: String { name }
    }

    static let rows = [
        Row("null", .null),
        Row("zero", .integer(0)),
        Row("the largest integer", .integer(.max)),
        Row("the smallest integer", .integer(.min)),
        Row("a fraction", .real(0.1)),
        Row("the smallest fraction", .real(.leastNonzeroMagnitude)),
        Row("the largest fraction", .real(-.greatestFiniteMagnitude)),
        Row("infinity", .real(.infinity)),
        Row("empty text", .text("")),
        Row("text", .text("é😀 'quoted' \"twice\" ; -- ?")),
        Row("text with NUL", .text("a\0b\0")),
        Row("nothing but NUL", .text("\0")),
        Row("text in two normal forms", .text("\u{E9}e\u{301}")),
        Row("long text", .text(String(repeating: "0123456789", count: 10_000))),
        Row("empty blob", .blob([])),
        Row("blob", .blob([0, 1, 0xFF, 0])),
        Row("long blob", .blob([UInt8](repeating: 0xA5, count: 100_000))),
    ]

    private func table(in place: Place) throws(StorageError) -> any DatabaseConnection {
        let connection = try place.connect()
        let columns = SQL("CREATE TABLE kept (integer BIGINT, real DOUBLE PRECISION, text TEXT, blob BLOB)")
        try connection.run(columns)
        return connection
    }

    /// A value goes into the column of its kind, since only SQLite has columns for any.
    static func insertion(_ value: SQLValue) -> SQL {
        switch value {
        case .null, .integer: SQL("INSERT INTO kept (integer) VALUES (?)", value)
        case .real: SQL("INSERT INTO kept (real) VALUES (?)", value)
        case .text: SQL("INSERT INTO kept (text) VALUES (?)", value)
        case .blob: SQL("INSERT INTO kept (blob) VALUES (?)", value)
        }
    }

    @Test(arguments: Engine.allCases, rows)
    func `a value comes back as it was`(engine: Engine, row: Row) throws {
        let place = try Place(engine)
        let connection = try table(in: place)
        if engine == .postgreSQL, case .text(let text) = row.value, text.utf8.contains(0) {
            let error = storageError { () throws(StorageError) in try connection.run(Self.insertion(row.value)) }
            guard case .misuse(let report) = error else {
                Issue.record("PostgreSQL keeps U+0000: \(String(describing: error))")
                return
            }
            #expect(report.state == "22021" && !report.message.contains("0x00"))
            return
        }
        for _ in 0..<2 { #expect(try connection.run(Self.insertion(row.value)) == 1) }
        let kept = try connection.all(SQL("SELECT integer, real, text, blob FROM kept")) { kept in
            (0..<4).map { kept.value($0) }.first { $0 != .null } ?? .null
        }
        #expect(kept == [row.value, row.value])
        if case .text(let text) = row.value, case .text(let read)? = kept.first {
            #expect(Array(text.utf8) == Array(read.utf8))
        }
    }

    @Test(arguments: Engine.allCases)
    func `values keep to their places, whatever their lengths`(engine: Engine) throws {
        let place = try Place(engine)
        let connection = try table(in: place)
        let values: [SQLValue] = [.text("a"), .blob([]), .text(""), .null, .text(String(repeating: "b", count: 999))]
        for _ in 0..<2 {
            let sql = SQL("SELECT ?, ?, ?, ?, ?", values)
            let read = try connection.first(sql) { row in (0..<5).map { row.value($0) } }
            #expect(read == values)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a value of one use does not show in the next`(engine: Engine) throws {
        let place = try Place(engine)
        let connection = try table(in: place)
        for value in [SQLValue.text("secret"), .null] {
            let read = try connection.first(SQL("SELECT ?, 1", value)) { $0.value(0) }
            #expect(read == value)
        }
    }

    @Test(arguments: Engine.allCases)
    func `columns read as their kind, or as nothing where they are null`(engine: Engine) throws {
        let place = try Place(engine)
        let connection = try table(in: place)
        try connection.rows(SQL("SELECT 7, CAST(0.5 AS DOUBLE PRECISION), 'x', x'01', NULL")) { row in
            #expect(row.integer(0) == 7)
            #expect(row.real(1) == 0.5)
            #expect(row.text(2) == "x")
            #expect(row.blob(3) == [1])
            #expect(row.optionalInteger(0) == 7)
            #expect(row.optionalInteger(4) == nil)
            #expect(row.optionalReal(4) == nil)
            #expect(row.optionalText(4) == nil)
            #expect(row.optionalBlob(4) == nil)
        }
    }

    struct Misreading: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let read: @Sendable (borrowing Storage.Row) -> Void

        init(_ name: String, _ read: @escaping @Sendable (borrowing Storage.Row) -> Void) {
            (testDescription, self.read) = (name, read)
        }
    }

    static let misreadings = [
        Misreading("text as integer") { _ = $0.integer(0) },
        Misreading("text as optional integer") { _ = $0.optionalInteger(0) },
        Misreading("text as real") { _ = $0.real(0) },
        Misreading("text as blob") { _ = $0.blob(0) },
        Misreading("integer as text") { _ = $0.text(1) },
        Misreading("integer as real") { _ = $0.real(1) },
        Misreading("null as integer") { _ = $0.integer(2) },
        Misreading("null as text") { _ = $0.text(2) },
        Misreading("text that is not UTF-8") { _ = $0.text(3) },
        Misreading("optional text that is not UTF-8") { _ = $0.optionalText(3) },
        Misreading("a column too many") { _ = $0.optionalInteger(4) },
        Misreading("a column before the first") { _ = $0.value(-1) },
    ]

    @Test(arguments: Engine.allCases, misreadings)
    func `a column of another kind fails the query`(engine: Engine, misreading: Misreading) throws {
        let connection = try Place(engine).connect()
        // PostgreSQL holds no text that is not UTF-8.
        let sql =
            engine == .sqlite
            ? SQL("SELECT '5', 5, NULL, CAST(x'ff' AS TEXT)") : SQL("SELECT '5', 5, NULL, x'ff'")
        let error = storageError { () throws(StorageError) in try connection.rows(sql, misreading.read) }
        guard case .unexpectedValue = error else {
            Issue.record("read without error: \(String(describing: error))")
            return
        }
        #expect(storageError { () throws(StorageError) in try connection.rows(sql) { _ in } } == nil)
    }

    @Test(arguments: Engine.allCases)
    func `rows may be read while other statements run`(engine: Engine) throws {
        let place = try Place(engine)
        let connection = try table(in: place)
        for number in 1...5 {
            try connection.run(SQL("INSERT INTO kept (integer) VALUES (?)", .integer(Int64(number))))
        }
        var pairs: [String] = []
        let outer = SQL("SELECT integer, ? FROM kept ORDER BY integer", .text("outer"))
        try connection.rows(outer) { row in
            let inner = SQL("SELECT ?, count(*) FROM kept WHERE integer <= ?", .text("inner"), row.value(0))
            let found = try? connection.first(inner) { "\($0.text(0))\($0.integer(1))" }
            pairs.append("\(row.text(1))\(row.integer(0))\(found ?? "")")
        }
        #expect(pairs == (1...5).map { "outer\($0)inner\($0)" })
    }

    @Test(arguments: Engine.allCases)
    func `counts only the changes of the statement itself`(engine: Engine) throws {
        let place = try Place(engine)
        let connection = try table(in: place)
        for number in 1...3 {
            try connection.run(SQL("INSERT INTO kept (integer) VALUES (?)", .integer(Int64(number))))
        }
        #expect(try connection.run(SQL("UPDATE kept SET integer = integer + 1 WHERE integer > 1")) == 2)
        #expect(try connection.run(SQL("CREATE TABLE other (id BIGINT)")) == 0)
        #expect(try connection.run(SQL("SELECT 1")) == 0)
        #expect(try connection.run(SQL("DELETE FROM kept WHERE integer = 99")) == 0)
        #expect(try connection.run(SQL("DELETE FROM kept")) == 3)
    }
}
