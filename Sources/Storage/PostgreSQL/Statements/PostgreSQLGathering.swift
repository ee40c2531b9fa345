// SPDX-License-Identifier: Apache-2.0

/// Rows that are to be inserted, gathered so that those of one statement are sent as one.
///
/// Rows of different tables may so change places with one another, which nobody sees: whatever else is sent is sent after
/// them all.
struct PostgreSQLGathering {
    private var groups: [Group] = []
    /// Of the values of all rows.
    private(set) var byteCount = 0

    /// The rows of one statement.
    struct Group {
        /// The statement, with the first row.
        let sql: SQL
        let insertion: PostgreSQLInsertion
        private(set) var many = PostgreSQLMany()
        private var keys: Set<[SQLValue]> = []

        init(_ sql: SQL, _ insertion: PostgreSQLInsertion) {
            (self.sql, self.insertion) = (sql, insertion)
        }
    }

    /// More is not kept for later.
    private static let mostBytes = 1 << 20

    var isEmpty: Bool { groups.isEmpty }

    /// Adds a row; false where what was gathered must be sent first, or the row alone.
    mutating func add(_ sql: SQL, _ insertion: PostgreSQLInsertion) -> Bool {
        guard byteCount < Self.mostBytes else { return false }
        // What is found is what all that came before has left.
        if insertion.question != nil || groups.contains(where: { $0.insertion.question != nil }) {
            guard groups.allSatisfy({ $0.sql.address == sql.address }) else { return false }
        }
        if let place = groups.firstIndex(where: { $0.insertion.table == insertion.table }) {
            guard groups[place].add(sql) else { return false }
        } else {
            var group = Group(sql, insertion)
            guard group.add(sql) else { return false }
            groups.append(group)
        }
        byteCount += sql.values.reduce(0) { $0 + $1.wireBytes }
        return true
    }

    /// What was gathered, in the order in which the first row of each came; nothing is left.
    mutating func take() -> [Group] {
        defer { self = PostgreSQLGathering() }
        return groups
    }
}

extension PostgreSQLGathering.Group {
    /// Adds a row of the same statement, unless the statement would change it a second time.
    fileprivate mutating func add(_ other: SQL) -> Bool {
        guard other.address == sql.address else { return false }
        guard insertion.keyColumns > 0 else { return many.append(other.values) }
        let key = Array(other.values.prefix(insertion.keyColumns))
        guard !keys.contains(key), many.append(other.values) else { return false }
        keys.insert(key)
        return true
    }
}
