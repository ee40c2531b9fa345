// SPDX-License-Identifier: Apache-2.0

/// Many lists of values for one statement: one array for each position, which `unnest` turns back into rows.
///
/// A position that is null in all lists has no type, and so no array.
struct PostgreSQLMany {
    private(set) var lists: [[SQLValue]] = []
    /// For each position a value that is not null, if there is one.
    private(set) var samples: [SQLValue] = []

    /// None, until lists are added.
    init() {}

    /// Rows as few statements insert them: one of its lists has no two with the same key or with values of other types.
    static func batches(of group: InsertBuffer.Group) -> [PostgreSQLMany] {
        let keyColumns = group.insertion.keyColumns
        var batches = [PostgreSQLMany()]
        var keys: Set<[SQLValue]> = []
        for row in group.rows {
            let isNew = keyColumns == 0 || keys.insert(Array(row.prefix(keyColumns))).inserted
            if isNew, batches[batches.count - 1].append(row) { continue }
            var next = PostgreSQLMany()
            _ = next.append(row)
            batches.append(next)
            keys = [Array(row.prefix(keyColumns))]
        }
        return batches
    }

    /// Lists that are all of the same types.
    init(of lists: [[SQLValue]]) throws(StorageError) {
        for list in lists where list.allSatisfy({ $0 == .null }) || !append(list) {
            throw .misuse(EngineReport("values of other types, or of none"))
        }
    }

    /// Adds a list; false, and nothing is changed, where it has values of other types than those before it.
    mutating func append(_ list: [SQLValue]) -> Bool {
        if lists.isEmpty { samples = list }
        let fits = zip(list, samples).allSatisfy { $0.kind == $1.kind || $0 == .null || $1 == .null }
        let hasType = lists.isEmpty || list.contains { $0 != .null }
        guard fits, hasType, list.count == samples.count else { return false }
        for place in list.indices where samples[place] == .null { samples[place] = list[place] }
        lists.append(list)
        return true
    }

    /// The types of the arrays, by their numbers.
    var types: [UInt32] { samples.compactMap { $0.postgreSQLType?.array } }

    /// The arrays, as values of the statement.
    var values: PostgreSQLValues {
        var values = PostgreSQLValues([])
        for (place, sample) in samples.enumerated() {
            if let type = sample.postgreSQLType { values.append(lists, at: place, of: type) }
        }
        return values
    }
}

extension PostgreSQLValues {
    /// Adds an array of the values at one position of all lists.
    fileprivate mutating func append(_ lists: [[SQLValue]], at place: Int, of type: PostgreSQLType) {
        appendValue { values in
            let hasNull = lists.contains { $0[place] == .null }
            // One dimension; its positions count from 1.
            for word in [1, hasNull ? 1 : 0, type.rawValue, UInt32(lists.count), 1] { values.append(word) }
            for list in lists {
                guard list[place] != .null else {
                    values.append(UInt32.max)
                    continue
                }
                values.append(UInt32(list[place].byteCount))
                values.append(bytesOf: list[place])
            }
        }
    }
}

extension PostgreSQLType {
    /// The number of the type of arrays of it, for those that values have.
    fileprivate var array: UInt32? {
        switch self {
        case .int8: 1016
        case .bytea: 1001
        case .text: 1009
        case .float8: 1022
        case .bool, .int2, .int4, .float4, .varchar: nil
        }
    }
}
