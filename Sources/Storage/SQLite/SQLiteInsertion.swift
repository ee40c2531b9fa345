// SPDX-License-Identifier: Apache-2.0

/// Rows of a transaction that one statement is yet to insert, and that statement for many rows at once.
///
/// To set out for a statement costs SQLite about half as much as a row of it.
final class SQLiteInsertion {
    /// So many rows the latter inserts.
    private static let manyRows = 16

    /// The statement for one row.
    let text: SQLText
    let table: String
    /// Of one row.
    let parameterCount: Int
    /// In UTF-8.
    private let manyText: [UInt8]
    private var many: SQLiteStatement?
    private var rows: [[SQLValue]] = []

    /// Nil for every other statement than `INSERT INTO table (columns) VALUES (?, …)`, which may end with `ON CONFLICT DO
    /// NOTHING`.
    init?(_ text: SQLText) {
        let whole = text.description
        guard let closing = whole.lastIndex(of: ")"), !whole.contains("'"), !whole.contains("\"") else { return nil }
        let (words, end) = (whole[...closing], whole[closing...].dropFirst())
        parameterCount = words.count { $0 == "?" }
        let row = "(" + Array(repeating: "?", count: parameterCount).joined(separator: ", ") + ")"
        let parts = words.split(whereSeparator: \.isWhitespace)
        let values = "VALUES \(row)"
        let columns = parts.dropFirst(3).joined(separator: " ").dropLast(values.count)
        guard parameterCount > 0, parts.count > 3, parts[0] == "INSERT", parts[1] == "INTO",
            words.hasSuffix(values), columns.hasPrefix("("), columns.hasSuffix(") "),
            columns.count(where: { $0 == "(" }) == 1,
            ["", "ON CONFLICT DO NOTHING"].contains(end.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        else { return nil }
        self.text = text
        table = String(parts[2])
        let others = String(repeating: ", \(row)", count: Self.manyRows - 1)
        manyText = Array("\(words)\(others)\(end)".utf8)
    }

    var isEmpty: Bool { rows.isEmpty }

    /// Whether there are as many rows as ``statementForMany(_:)`` inserts.
    var isFull: Bool { rows.count >= Self.manyRows }

    func add(_ row: [SQLValue]) throws(StorageError) {
        guard row.count == parameterCount else {
            throw .misuse(EngineReport("\(row.count) values for \(parameterCount) placeholders"))
        }
        if rows.isEmpty { rows.reserveCapacity(Self.manyRows) }
        rows.append(row)
    }

    /// All rows; none are left.
    func take() -> [[SQLValue]] {
        defer { rows = [] }
        return rows
    }

    /// The statement that inserts as many rows as make it full.
    func statementForMany(_ connection: OpaquePointer) throws(StorageError) -> SQLiteStatement {
        if let many { return many }
        let statement = try unsafe manyText.withUnsafeBufferPointer { bytes throws(StorageError) in
            try unsafe SQLiteStatement(bytes, connection: connection)
        }
        many = statement
        return statement
    }
}
