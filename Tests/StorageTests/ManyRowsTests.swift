// SPDX-License-Identifier: Apache-2.0
import Storage
import Testing

/// Rows that an engine may gather before it sends them, and questions that it may ask together.
@Suite struct ManyRowsTests {
    private func table(in place: Place) throws -> any DatabaseConnection {
        let connection = try place.connect()
        try connection.run(
            SQL(
                "CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT, data BLOB, part DOUBLE PRECISION, n BIGINT NOT NULL)"
            )
        )
        try connection.run(SQL("CREATE TABLE u (a BLOB, b BIGINT, n BIGINT, PRIMARY KEY (a, b))"))
        return connection
    }

    private func insert(_ connection: any DatabaseConnection, _ values: [SQLValue]) throws(StorageError) {
        try connection.insert(values, into: Self.rows)
    }

    private static let rows = Insertion(into: "t", columns: "id, name, data, part, n")
    private static let others = Insertion(into: "u", columns: "a, b, n")

    private func all(_ connection: any DatabaseConnection) throws -> [[SQLValue]] {
        try connection.all(SQL("SELECT id, name, data, part, n FROM t ORDER BY id")) { row in
            (0..<5).map { row.value($0) }
        }
    }

    struct Rows: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let rows: [[SQLValue]]
    }

    static let kinds: [Rows] = [
        Rows(
            testDescription: "every kind, empty, extreme, null",
            rows: [
                [.integer(.min), .text(""), .blob([]), .real(-0.5), .integer(.max)],
                [.integer(-1), .text("ü ' \\ {,}\n\""), .blob([0, 0xFF]), .real(.infinity), .integer(-1)],
                [.integer(3), .null, .null, .null, .integer(0)],
                [.integer(4), .text("NULL"), .blob(Array(repeating: 7, count: 70_000)), .real(1e300), .integer(256)],
            ]
        ),
        Rows(
            testDescription: "columns that are null throughout",
            rows: (1...5).map { [.integer($0), .null, .null, .null, .integer($0)] }
        ),
        Rows(
            testDescription: "null before there is a value",
            rows: [
                [.integer(1), .null, .null, .null, .integer(1)],
                [.integer(2), .text("b"), .null, .real(2), .integer(1)],
            ]
        ),
        Rows(testDescription: "one", rows: [[.integer(1), .text("a"), .blob([1]), .real(1), .integer(1)]]),
        Rows(
            testDescription: "more bytes than are kept",
            rows: (1...40).map { [.integer($0), .null, .blob(Array(repeating: 1, count: 60_000)), .null, .integer(0)] }
        ),
        Rows(
            testDescription: "very many",
            rows: (1...5000).map { [.integer($0), .text("\($0)"), .null, .null, .integer(-$0)] }
        ),
    ]

    @Test(arguments: Engine.allCases, kinds)
    func `enqueued rows are stored as they were given`(engine: Engine, given: Rows) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try table(in: place)
        try connection.transaction { () throws(StorageError) in
            for row in given.rows { try insert(connection, row) }
        }
        #expect(try all(connection) == given.rows)
    }

    @Test func `on PostgreSQL, rows without end neither wait in memory nor for one answer`() async throws {
        let place = try Place(.postgreSQL)
        defer { withExtendedLifetime(place) {} }
        // A process of its own: what other tests keep in memory is not to count.
        await #expect(processExitsWith: .success) { [address = place.address as String] in
            let location = try #require(DatabaseLocation(address))
            let connection = try location.connect(answerTimeoutMilliseconds: 3000)
            // Each row takes the server a twentieth of a second, and all of them together longer than one answer may.
            try connection.run(
                SQL("CREATE TABLE slow (id BIGINT PRIMARY KEY, data BLOB CHECK (pg_sleep(0.05) IS NOT NULL))")
            )
            let insertion = Insertion(into: "slow", columns: "id, data")
            let data = [UInt8](repeating: 7, count: 1 << 20)
            let before = try MemoryUse.settledResidentBytes()
            var most = before
            try connection.transaction { () throws(StorageError) in
                for id in 0..<128 {
                    try connection.insert([.integer(Int64(id)), .blob(data)], into: insertion)
                    most = max(most, (try? MemoryUse.residentBytes()) ?? .max)
                }
            }
            #expect(try connection.first(SQL("SELECT count(*) FROM slow")) { $0.integer(0) } == 128)
            #expect(most - before < 64 << 20)
        }
    }

    @Test(arguments: Engine.allCases)
    func `what is asked or changed later finds the rows that came before it`(engine: Engine) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try table(in: place)
        try connection.transaction { () throws(StorageError) in
            for id in 1...3 { try insert(connection, [.integer(Int64(id)), .null, .null, .null, .integer(0)]) }
            #expect(try connection.first(SQL("SELECT count(*) FROM t")) { $0.integer(0) } == 3)
            try insert(connection, [.integer(4), .null, .null, .null, .integer(0)])
            #expect(try connection.run(SQL("UPDATE t SET n = n + 1")) == 4)
            try insert(connection, [.integer(5), .null, .null, .null, .integer(0)])
            try connection.enqueue(SQL("UPDATE t SET n = n + 1 WHERE id > ?", .integer(3)))
            try insert(connection, [.integer(6), .null, .null, .null, .integer(0)])
            var found: [Int] = []
            try connection.rows("SELECT n FROM t WHERE id = ?", forEach: [[.integer(6)], [.integer(5)]]) { place, _ in
                found.append(place)
            }
            #expect(found.sorted() == [0, 1])
        }
        #expect(try connection.all(SQL("SELECT n FROM t ORDER BY id")) { $0.integer(0) } == [1, 1, 1, 2, 1, 0])
    }

    @Test(arguments: Engine.allCases)
    func `a row that is there already is changed as often as it is given`(engine: Engine) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try table(in: place)
        let sums = Insertion(
            into: "u",
            columns: "a, b, n",
            onConflict: .updates(keyColumns: 2, "n = u.n + excluded.n")
        )
        try connection.transaction { () throws(StorageError) in
            for (a, b, n) in [(1, 1, 1), (1, 2, 10), (2, 1, 100), (1, 1, 1000), (1, 1, 10_000), (2, 1, 5)] {
                try connection.insert([.blob([UInt8(a)]), .integer(Int64(b)), .integer(Int64(n))], into: sums)
            }
        }
        #expect(try connection.all(SQL("SELECT n FROM u ORDER BY a, b")) { $0.integer(0) } == [11_001, 10, 105])
    }

    @Test(arguments: Engine.allCases)
    func `two statements for one table keep their order, and one is left as it was first given`(engine: Engine) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try table(in: place)
        let firsts = Insertion(into: "u", columns: "a, b, n", onConflict: .keeps)
        let tens = Insertion(into: "u", columns: "a, b, n", onConflict: .updates(keyColumns: 2, "n = 10 * u.n"))
        try connection.transaction { () throws(StorageError) in
            for n in 1...3 as ClosedRange<Int64> {
                try connection.insert([.blob([1]), .integer(1), .integer(n)], into: firsts)
                try connection.insert([.blob([1]), .integer(1), .integer(0)], into: tens)
            }
        }
        #expect(try connection.all(SQL("SELECT n FROM u")) { $0.integer(0) } == [1000])
    }

    @Test(arguments: Engine.allCases)
    func `rows are copied as often as they are asked for, after what came before them`(engine: Engine) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try table(in: place)
        let copies = Insertion(
            into: "u",
            columns: "a, b, n",
            selecting: "SELECT data, n, ? FROM t WHERE id >= ? AND id < ?"
        )
        try connection.transaction { () throws(StorageError) in
            func copyRows(_ mark: Int64, _ from: Int64, _ to: Int64) throws(StorageError) {
                try connection.insert([.integer(mark), .integer(from), .integer(to)], into: copies)
            }
            for id in 1...9 as ClosedRange<Int64> {
                try insert(connection, [.integer(id), .null, .blob([UInt8(id)]), .null, .integer(10 * id)])
            }
            try copyRows(1, 1, 3)
            try copyRows(2, 2, 6)
            try copyRows(3, 100, 200)
            try copyRows(4, 5, 7)
            try insert(connection, [.integer(10), .null, .blob([10]), .null, .integer(100)])
            try copyRows(5, 10, 11)
            try connection.insert([.blob([11]), .integer(110), .integer(6)], into: Self.others)
            try copyRows(7, 9, 12)
            try insert(connection, [.integer(12), .null, .blob([12]), .null, .integer(120)])
            try copyRows(8, 12, 99)
            // Too late to be copied.
            try insert(connection, [.integer(13), .null, .blob([13]), .null, .integer(130)])
        }
        let marks = try connection.all(SQL("SELECT n FROM u ORDER BY a")) { $0.integer(0) }
        #expect(marks == [1, 1, 2, 2, 2, 4, 7, 5, 6, 8])
    }

    @Test(arguments: Engine.allCases)
    func `what is copied within a table is found by the next`(engine: Engine) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try table(in: place)
        try connection.transaction { () throws(StorageError) in
            try connection.run(SQL("INSERT INTO u (a, b, n) VALUES (?, ?, ?)", .blob([0]), .integer(1), .integer(5)))
            for step in 1...4 as ClosedRange<UInt8> {
                try connection.enqueue(
                    SQL(
                        "INSERT INTO u (a, b, n) SELECT ?, b, n FROM u WHERE a = ? ON CONFLICT DO NOTHING",
                        .blob([step]),
                        .blob([step - 1])
                    )
                )
            }
        }
        #expect(try connection.all(SQL("SELECT n FROM u")) { $0.integer(0) } == [5, 5, 5, 5, 5])
    }

    @Test(arguments: Engine.allCases)
    func `a row too many undoes the transaction, and says why`(engine: Engine) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try table(in: place)
        let error = storageError { () throws(StorageError) in
            try connection.transaction { () throws(StorageError) in
                for id in [1, 2, 1] as [Int64] {
                    try insert(connection, [.integer(id), .null, .null, .null, .integer(0)])
                }
            }
        }
        switch (engine, error) {
        case (.sqlite, .constraint(.primaryKey, _)), (.postgreSQL, .constraint(.unique, _)): break
        default: Issue.record("\(String(describing: error))")
        }
        #expect(try all(connection) == [])
        // What was not sent is gone with its transaction.
        try connection.begin()
        try insert(connection, [.integer(1), .null, .null, .null, .integer(0)])
        connection.rollback()
        try connection.transaction { () throws(StorageError) in
            try insert(connection, [.integer(2), .null, .null, .null, .integer(0)])
        }
        #expect(try connection.all(SQL("SELECT id FROM t")) { $0.integer(0) } == [2])
    }

    @Test(arguments: Engine.allCases, [1, 15, 16, 17, 31, 32, 33, 50])
    func `rows of several tables take turns, however many there are`(engine: Engine, count: Int64) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try table(in: place)
        let numbers = Array(1...count)
        for start in [0, 1000] as [Int64] {
            try connection.transaction { () throws(StorageError) in
                for n in numbers {
                    try insert(connection, [.integer(start + n), .text("\(n)"), .blob([UInt8(n)]), .null, .integer(n)])
                    guard n % 3 != 0 else { continue }
                    try connection.insert([.blob([UInt8(n)]), .integer(start), .integer(n)], into: Self.others)
                }
            }
        }
        #expect(try all(connection).map { $0[4] } == (numbers + numbers).map(SQLValue.integer))
        let others = try connection.all(SQL("SELECT n FROM u ORDER BY b, n")) { $0.integer(0) }
        #expect(others == (numbers + numbers).filter { $0 % 3 != 0 })
    }

    @Test(arguments: Engine.allCases, [1, 3, 15, 16, 20])
    func `rows that refer to others come after them`(engine: Engine, parents: Int64) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try place.connect()
        try connection.run(SQL("CREATE TABLE parents (id BIGINT PRIMARY KEY)"))
        try connection.run(
            SQL("CREATE TABLE children (id BIGINT PRIMARY KEY, parent BIGINT NOT NULL REFERENCES parents (id))")
        )
        let (ofParents, ofChildren) = (
            Insertion(into: "parents", columns: "id"), Insertion(into: "children", columns: "id, parent")
        )
        try connection.transaction { () throws(StorageError) in
            for id in 1...parents { try connection.insert([.integer(id)], into: ofParents) }
            for id in 1...40 as ClosedRange<Int64> {
                try connection.insert([.integer(id), .integer(1 + id % parents)], into: ofChildren)
            }
        }
        #expect(try connection.first(SQL("SELECT count(*) FROM children")) { $0.integer(0) } == 40)
    }

    @Test(arguments: Engine.allCases)
    func `who goes on after a statement that failed commits nothing`(engine: Engine) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try table(in: place)
        try connection.begin()
        try insert(connection, [.integer(1), .null, .null, .null, .integer(0)])
        try? connection.enqueue(SQL("UPDATE t SET n = NULL"))
        try? insert(connection, [.integer(2), .null, .null, .null, .integer(0)])
        #expect(throws: StorageError.self) { try connection.commit() }
        #expect(try all(connection) == [])
    }

    @Test(arguments: Engine.allCases)
    func `of rows that are there already none is added, and the others are`(engine: Engine) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try table(in: place)
        let firsts = Insertion(into: "u", columns: "a, b, n", onConflict: .keeps)
        try connection.transaction { () throws(StorageError) in
            for n in 1...60 as ClosedRange<Int64> {
                try connection.insert([.blob([UInt8(n % 40)]), .integer(n % 2), .integer(n)], into: firsts)
            }
        }
        let found = try connection.all(SQL("SELECT n FROM u ORDER BY n")) { $0.integer(0) }
        #expect(found == Array(1...40))
    }

    @Test(arguments: Engine.allCases, [2, 15, 16, 17, 20])
    func `who goes on after a row too many commits nothing`(engine: Engine, count: Int64) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try table(in: place)
        try connection.begin()
        for id in 1...count { try? insert(connection, [.integer(id), .null, .null, .null, .integer(0)]) }
        try? insert(connection, [.integer(1), .null, .null, .null, .integer(0)])
        for id in 100..<100 + count {
            try? insert(connection, [.integer(id), .null, .null, .null, .integer(0)])
            try? connection.enqueue(SQL("UPDATE t SET n = 7"))
        }
        #expect(throws: StorageError.self) { try connection.commit() }
        #expect(try all(connection) == [])
        try connection.transaction { () throws(StorageError) in
            try insert(connection, [.integer(1), .null, .null, .null, .integer(0)])
        }
        #expect(try connection.all(SQL("SELECT id FROM t")) { $0.integer(0) } == [1])
    }

    @Test(arguments: Engine.allCases)
    func `a question for each of many gets the answers of each`(engine: Engine) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try table(in: place)
        for (id, name) in [(1, "a"), (2, "b"), (3, "a"), (4, "?")] as [(Int64, String)] {
            try insert(connection, [.integer(id), .text(name), .blob([UInt8(id)]), .null, .integer(id * id)])
        }
        var found: [Int: [String]] = [:]
        let lists: [[SQLValue]] = [
            [.text("a"), .integer(0)], [.text("none"), .integer(0)], [.text("b"), .integer(9)], [.text("b"), .null],
            [.text("a"), .integer(1)], [.text("b"), .integer(1)], [.text("?"), .integer(0)],
        ]
        let question: StaticString = "SELECT n, data, '?' FROM t WHERE name = ? AND n > ? ORDER BY id DESC"
        try connection.rows(question, forEach: lists) { place, row in
            found[place, default: []].append("\(row.integer(0)) \(row.blob(1)) \(row.text(2))")
        }
        #expect(
            found == [0: ["9 [3] ?", "1 [1] ?"], 4: ["9 [3] ?"], 5: ["4 [2] ?"], 6: ["16 [4] ?"]]
        )
        try connection.rows(question, forEach: []) { _, _ in Issue.record("nothing was asked") }
        let error = storageError { () throws(StorageError) in
            try connection.rows(question, forEach: lists) { _, row in _ = row.text(0) }
        }
        #expect(error == .unexpectedValue(column: 0))
    }
}
