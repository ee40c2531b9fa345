// SPDX-License-Identifier: Apache-2.0

/// Copies all rows of a table into another database, of the same engine or the other one.
///
/// This is the only code that builds a statement from names in a schema (decision 77). The table's name is a constant
/// of the program. The column names come from the source's schema, and each may contain only small letters, digits and
/// `_`, so that it needs no quotes. Values are bound, as everywhere.
package struct TableCopy: Sendable {
    /// The question for all rows, in the order of the primary key if the table has one.
    package let select: SQL
    /// How many values a row has.
    package let columnCount: Int
    private let insertion: Insertion

    /// Reads the columns of a table that both databases have; without a target those of the source alone.
    ///
    /// - Throws: ``StorageError/tableDiffers(_:)`` if the databases do not have the same columns, with the same types and key.
    package init(
        _ table: StaticString,
        from source: any DatabaseConnection,
        to target: (any DatabaseConnection)?
    ) throws(StorageError) {
        let columns = try source.columns(of: table)
        let other = try target?.columns(of: table) ?? columns
        guard columns == other, !columns.isEmpty, columns.allSatisfy(\.hasPlainName) else {
            throw .tableDiffers("\(table)")
        }
        let names = columns.map(\.name)
        let key = columns.filter { $0.placeInKey > 0 }.sorted { $0.placeInKey < $1.placeInKey }.map(\.name)
        let order = key.isEmpty ? "" : " ORDER BY \(key.joined(separator: ", "))"
        select = SQL(.keeping("SELECT \(names.joined(separator: ", ")) FROM \(table)\(order)"))
        insertion = Insertion(into: table.description, columns: names, onConflict: .fails)
        columnCount = columns.count
    }

    /// Copies the rows of a question, which have the columns of the insertion.
    package init(select: StaticString, columnCount: Int, into insertion: Insertion) {
        (self.select, self.columnCount, self.insertion) = (SQL(select), columnCount, insertion)
    }

    /// Reads the rows in pages, and inserts each if there is a target; calls the closure after each.
    ///
    /// Both connections must be within a transaction.
    package func run(
        from source: any DatabaseConnection,
        to target: (any DatabaseConnection)?,
        _ each: () -> Void
    ) throws(StorageError) {
        var failure: StorageError?
        try source.rowsInPages(select) { row in
            guard failure == nil else { return }
            var values: [SQLValue] = []
            for column in 0..<columnCount { values.append(row.value(column)) }
            do throws(StorageError) { try target?.insert(values, into: insertion) } catch { failure = error }
            each()
        }
        if let failure { throw failure }
    }
}

/// A column as the schema has it.
private struct Column: Equatable {
    let name: String
    /// In SQLite's words, the same for both engines.
    let type: String
    /// From 1; 0 if it is no part of the primary key.
    let placeInKey: Int64

    /// Whether it needs no quotes, and cannot end the name.
    var hasPlainName: Bool {
        name.utf8.allSatisfy {
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
                || $0 == UInt8(ascii: "_")
        }
    }
}

extension DatabaseConnection {
    /// The columns of a table, in their order; none if there is no such table.
    fileprivate func columns(of table: StaticString) throws(StorageError) -> [Column] {
        let text: StaticString =
            isRemote
            ? """
            SELECT CAST(a.attname AS TEXT), upper(replace(format_type(a.atttypid, NULL), 'bytea', 'blob')),
                coalesce(array_position(CAST(i.indkey AS SMALLINT[]), a.attnum) + 1, 0)
            FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
            WHERE a.attrelid = to_regclass(?) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
            """
            : "SELECT name, replace(type, 'INTEGER', 'BIGINT'), pk FROM pragma_table_info(?) ORDER BY cid"
        return try all(SQL(text, .text("\(table)"))) { row in
            Column(name: row.text(0), type: row.text(1), placeInKey: row.integer(2))
        }
    }
}
