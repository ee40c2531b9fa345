// SPDX-License-Identifier: Apache-2.0

/// How rows are added to a table: which columns they have, and what happens where the table has such a row.
///
/// Each is made once and kept, because connections compare identities. Its table has no triggers.
package final class Insertion: Sendable {
    /// What happens to a row if the table has another with its key.
    package enum Conflict: Sendable {
        /// The transaction fails.
        case fails
        /// The other row stays as it is.
        case keeps
        /// The other row gets the new values. The first `keyColumns` columns are the key.
        case replaces(keyColumns: Int)
        /// The other row is changed by this SQL. The first `keyColumns` columns are the key.
        case updates(keyColumns: Int, StaticString)
    }

    /// How many rows ``many`` inserts: to start a statement costs SQLite about half as much as a row of it.
    static let rowsOfMany = 16

    let table: String
    /// How many of the first columns are the key of a row that is changed; 0 if none is.
    ///
    /// PostgreSQL refuses a statement that changes a row twice.
    let keyColumns: Int
    /// The question that finds the rows of a list of values; nil if the values are the row.
    let select: SQLText?
    /// The words before and behind the rows.
    let start, end: String
    /// The statement for one list of values.
    let one: SQLText
    /// The statement for ``rowsOfMany`` rows.
    let many: SQLText?

    /// Of rows with values for all the columns.
    package convenience init(into table: StaticString, columns: StaticString, onConflict: Conflict = .fails) {
        let columns = columns.description.split { $0 == "," || $0.isWhitespace }.map { String($0) }
        self.init(into: table.description, columns: columns, onConflict: onConflict)
    }

    /// Of the rows that a question to other tables finds for a list of values, unless the table has them.
    package init(into table: StaticString, columns: StaticString, selecting select: StaticString) {
        (self.table, keyColumns, self.select, many) = (table.description, 0, SQLText(select), nil)
        (start, end) = ("INSERT INTO \(table) (\(columns)) ", "ON CONFLICT DO NOTHING")
        one = .keeping("\(start)\(select) \(end)")
    }

    init(into table: String, columns: [String], onConflict: Conflict) {
        (self.table, select) = (table, nil)
        (keyColumns, end) = onConflict.clause(columns)
        start = "INSERT INTO \(table) (\(columns.joined(separator: ", "))) "
        let row = "(\(columns.map { _ in "?" }.joined(separator: ", ")))"
        one = .keeping("\(start)VALUES \(row) \(end)")
        many = .keeping("\(start)VALUES \(row)\(String(repeating: ", \(row)", count: Self.rowsOfMany - 1)) \(end)")
    }

    /// Whether it matters which of their rows come first.
    func concerns(_ other: Insertion) -> Bool { table == other.table || select != nil || other.select != nil }
}

extension Insertion.Conflict {
    fileprivate func clause(_ columns: [String]) -> (keyColumns: Int, text: String) {
        switch self {
        case .fails: return (0, "")
        case .keeps: return (0, "ON CONFLICT DO NOTHING")
        case .replaces(let keyColumns):
            let changes = columns.dropFirst(keyColumns).map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
            return (keyColumns, Self.update(columns.prefix(keyColumns), changes))
        case .updates(let keyColumns, let changes):
            return (keyColumns, Self.update(columns.prefix(keyColumns), changes.description))
        }
    }

    private static func update(_ key: some Sequence<String>, _ changes: String) -> String {
        "ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(changes)"
    }
}

/// Rows that a transaction has yet to insert, so that those of one ``Insertion`` go together.
///
/// They are inserted in the order of the insertions' first rows, and before anything that may see them. Only rows of
/// different tables change places with one another: rows that others refer to must all come before the first of those.
struct InsertBuffer {
    /// The rows of one insertion, in their order.
    struct Group {
        let insertion: Insertion
        fileprivate(set) var rows: [[SQLValue]]
    }

    private(set) var groups: [Group] = []
    /// Of the values of all rows.
    private(set) var byteCount = 0
    /// More are not kept.
    private static let mostBytes = 1 << 20

    var isEmpty: Bool { groups.isEmpty }

    /// Adds a row; false where those that wait must be inserted first.
    mutating func add(_ row: [SQLValue], to insertion: Insertion) -> Bool {
        guard byteCount < Self.mostBytes else { return false }
        if let place = groups.firstIndex(where: { $0.insertion === insertion }) {
            groups[place].rows.append(row)
        } else {
            guard !groups.contains(where: { $0.insertion.concerns(insertion) }) else { return false }
            groups.append(Group(insertion: insertion, rows: [row]))
        }
        byteCount += row.reduce(0) { $0 + $1.byteCount }
        return true
    }

    /// All rows; none are left.
    mutating func take() -> [Group] {
        defer { self = InsertBuffer() }
        return groups
    }
}
