// SPDX-License-Identifier: Apache-2.0

/// The tables with one kind of key, as the statements are made that find, rename or remove a key wherever it is.
///
/// All names are written in the program. Used by one thread, inside an open transaction.
package struct KeyTables: Sendable {
    /// One of the tables.
    package struct Table: Sendable {
        fileprivate let name: String
        fileprivate let primaryKey, renamed, removed: [String]

        /// A table with that primary key.
        ///
        /// Keys are found and renamed in the columns `renamed`; each column needs an index. Rows can be removed by keys
        /// in the columns `removed`; a removal reads every row.
        package init(_ name: StaticString, primaryKey: StaticString, renamed: StaticString, removed: StaticString) {
            func names(_ list: StaticString) -> [String] {
                list.description.split { $0 == "," || $0.isWhitespace }.map { String($0) }
            }
            self.name = name.description
            self.primaryKey = names(primaryKey)
            (self.renamed, self.removed) = (names(renamed), names(removed))
        }
    }

    /// Gives the rows with a key another one.
    private struct Renaming: Sendable {
        let update: SQLText
        /// Removes rows that were left, because the table has one with the other key; `nil` where several may have it.
        let remove: SQLText?
    }

    private let tables: [Table]
    private let find: SQLText
    private let renamings: [Renaming]

    package init(_ tables: [Table]) {
        self.tables = tables
        let finds = tables.flatMap { table in
            table.renamed.map { "EXISTS (SELECT 1 FROM \(table.name) WHERE \($0) = ?)" }
        }
        find = .keeping("SELECT 1 WHERE \(finds.joined(separator: " OR "))")
        renamings = tables.flatMap { table in table.renamed.map { Self.renaming($0, in: table) } }
    }

    private static func renaming(_ column: String, in table: Table) -> Renaming {
        let update = "UPDATE \(table.name) SET \(column) = ? WHERE \(column) = ?"
        guard table.primaryKey.contains(column) else { return Renaming(update: .keeping(update), remove: nil) }
        let rest = table.primaryKey.filter { $0 != column }.map { " AND other.\($0) = \(table.name).\($0)" }.joined()
        let taken = "SELECT 1 FROM \(table.name) AS other WHERE other.\(column) = ?\(rest)"
        return Renaming(
            update: .keeping("\(update) AND NOT EXISTS (\(taken))"),
            remove: .keeping("DELETE FROM \(table.name) WHERE \(column) = ?")
        )
    }

    /// Whether the key is in one of the columns in which keys are renamed.
    package func have(_ key: [UInt8], _ connection: any DatabaseConnection) throws(StorageError) -> Bool {
        let values = Array(repeating: SQLValue.blob(key), count: renamings.count)
        return try connection.first(SQL(find, values)) { _ in true } ?? false
    }

    /// Gives rows with the key the other one; a row goes if its table has such a row with the other key already.
    package func rename(
        _ key: [UInt8],
        to other: [UInt8],
        _ connection: any DatabaseConnection
    ) throws(StorageError) {
        let (old, new) = (SQLValue.blob(key), SQLValue.blob(other))
        for renaming in renamings {
            guard let remove = renaming.remove else {
                try connection.enqueue(SQL(renaming.update, [new, old]))
                continue
            }
            try connection.enqueue(SQL(renaming.update, [new, old, new]))
            try connection.enqueue(SQL(remove, [old]))
        }
    }

    /// Removes the rows with a key that has these bytes, and no more, after the first `count`.
    package func removeRows(
        endingIn bytes: [UInt8],
        after count: Int,
        _ connection: any DatabaseConnection
    ) throws(StorageError) {
        for table in tables {
            let tests = table.removed.map { "substr(\($0), \(count + 1)) = ?" }
            let text = "DELETE FROM \(table.name) WHERE \(tests.joined(separator: " OR "))"
            try connection.run(SQL(.keeping(text), tests.map { _ in .blob(bytes) }))
        }
    }
}
