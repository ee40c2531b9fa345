// SPDX-License-Identifier: Apache-2.0
import Storage
import Testing

/// A table copied by what the schema says of it.
@Suite struct TableCopyTests {
    private func connect(_ place: Place, _ table: StaticString) throws -> any DatabaseConnection {
        let connection = try place.connect()
        try connection.run(SQL(table))
        return connection
    }

    private static let table: StaticString = """
        CREATE TABLE t (note TEXT, part BIGINT NOT NULL, whole BLOB NOT NULL, PRIMARY KEY (whole, part)) WITHOUT ROWID
        """

    @Test(arguments: Engine.allCases, Engine.allCases)
    func `all rows arrive as they are, read in the order of the key`(from: Engine, to: Engine) throws {
        let places = (try Place(from), try Place(to))
        defer { withExtendedLifetime(places) {} }
        let (source, target) = (try connect(places.0, Self.table), try connect(places.1, Self.table))
        let texts: [SQLValue] = [.null, .text(""), .text("'; DROP TABLE t; --"), .text("ü\u{1F600}")]
        try source.transaction { () throws(StorageError) in
            for number in (0..<600).reversed() {
                let row: [SQLValue] = [
                    texts[number % 4], .integer(Int64(number)), .blob([UInt8](repeating: 7, count: number % 3)),
                ]
                try source.enqueue(SQL("INSERT INTO t (note, part, whole) VALUES (?, ?, ?)", row))
            }
        }
        let copy = try TableCopy("t", from: source, to: target)
        var count = 0
        try source.transaction { () throws(StorageError) in
            try target.transaction { () throws(StorageError) in
                try copy.run(from: source, to: target) { count += 1 }
            }
        }
        func rows(_ connection: any DatabaseConnection) throws -> [[SQLValue]] {
            try connection.all(copy.select) { row in [row.value(0), row.value(1), row.value(2)] }
        }
        let (sent, arrived) = (try rows(source), try rows(target))
        #expect(count == 600 && sent.count == 600 && sent == arrived)
        let keys = try source.all(SQL("SELECT part FROM t ORDER BY whole, part")) { SQLValue.integer($0.integer(0)) }
        #expect(arrived.map { $0[1] } == keys)
    }

    /// Columns of the target where the source has those of ``table``; or of both.
    static let others: [StaticString] = [
        "CREATE TABLE t (note TEXT, part BIGINT NOT NULL, PRIMARY KEY (part))",
        "CREATE TABLE t (note TEXT, part BIGINT NOT NULL, whole BLOB NOT NULL, more TEXT, PRIMARY KEY (whole, part))",
        "CREATE TABLE t (note TEXT, part BIGINT NOT NULL, whole TEXT NOT NULL, PRIMARY KEY (whole, part))",
        "CREATE TABLE t (note TEXT, part BIGINT NOT NULL, whole BLOB NOT NULL, PRIMARY KEY (part, whole))",
        "CREATE TABLE t (note TEXT, part BIGINT NOT NULL, entire BLOB NOT NULL, PRIMARY KEY (entire, part))",
        "CREATE TABLE u (note TEXT)",
    ]

    @Test(arguments: Engine.allCases, others.indices)
    func `a table with other columns is refused`(engine: Engine, index: Int) throws {
        let places = (try Place(.sqlite), try Place(engine))
        defer { withExtendedLifetime(places) {} }
        let (source, target) = (try connect(places.0, Self.table), try connect(places.1, Self.others[index]))
        #expect(throws: StorageError.tableDiffers("t")) { try TableCopy("t", from: source, to: target) }
    }

    static let names: [StaticString] = [
        #"CREATE TABLE t ("a b" TEXT)"#, #"CREATE TABLE t ("a; DROP TABLE t; --" TEXT)"#,
        #"CREATE TABLE t ("a""b" TEXT)"#, #"CREATE TABLE t ("ä" TEXT)"#,
    ]

    @Test(arguments: Engine.allCases, names.indices)
    func `a column whose name needs quotes is never put into a statement`(engine: Engine, index: Int) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try connect(place, Self.names[index])
        #expect(throws: StorageError.tableDiffers("t")) { try TableCopy("t", from: connection, to: connection) }
    }

    @Test func `a row that the target refuses ends the copy`() throws {
        let places = (try Place(.sqlite), try Place(.postgreSQL))
        defer { withExtendedLifetime(places) {} }
        let (source, target) = (try connect(places.0, Self.table), try connect(places.1, Self.table))
        let row = SQL("INSERT INTO t (part, whole) VALUES (1, x'00')")
        for connection in [source, target] { try connection.run(row) }
        let copy = try TableCopy("t", from: source, to: target)
        #expect(throws: StorageError.self) {
            try source.transaction { () throws(StorageError) in
                try target.transaction { () throws(StorageError) in try copy.run(from: source, to: target) {} }
            }
        }
    }
}
