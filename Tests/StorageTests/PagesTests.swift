// SPDX-License-Identifier: Apache-2.0
import Storage
import Testing

/// Answers of any length, read some rows at a time.
@Suite struct PagesTests {
    private static let question = SQL("SELECT id FROM t ORDER BY id")

    private func table(in place: Place, rows count: Int) throws -> any DatabaseConnection {
        let connection = try place.connect()
        try connection.run(SQL("CREATE TABLE t (id BIGINT PRIMARY KEY)"))
        try connection.transaction { () throws(StorageError) in
            for id in 0..<count { try connection.enqueue(SQL("INSERT INTO t (id) VALUES (?)", .integer(Int64(id)))) }
        }
        return connection
    }

    @Test(arguments: Engine.allCases, [0, 1, 255, 256, 257, 1000])
    func `all rows come, in their order`(engine: Engine, count: Int) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try table(in: place, rows: count)
        try connection.transaction { () throws(StorageError) in
            var found: [Int64] = []
            for _ in 1...2 { try connection.rowsInPages(Self.question) { found.append($0.integer(0)) } }
            let all = (0..<Int64(count)).map(\.self)
            #expect(found == all + all)
        }
    }

    @Test(arguments: Engine.allCases)
    func `other statements may be run between two rows`(engine: Engine) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try table(in: place, rows: 600)
        try connection.transaction { () throws(StorageError) in
            var sum: Int64 = 0
            try connection.rowsInPages(Self.question) { row in
                let next = SQL("SELECT id + 1 FROM t WHERE id = ?", .integer(row.integer(0)))
                sum += (try? connection.first(next) { $0.integer(0) }) ?? 0
            }
            #expect(sum == 600 * 601 / 2)
        }
    }

    @Test(arguments: Engine.allCases)
    func `what was read can be read again after a column was another kind`(engine: Engine) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try table(in: place, rows: 600)
        try connection.transaction { () throws(StorageError) in
            #expect(throws: StorageError.unexpectedValue(column: 0)) {
                try connection.rowsInPages(Self.question) { row in _ = row.text(0) }
            }
            var count = 0
            try connection.rowsInPages(Self.question) { _ in count += 1 }
            #expect(count == 600)
        }
    }

    @Test func `on PostgreSQL, no more than some rows are in memory`() async throws {
        let place = try Place(.postgreSQL)
        defer { withExtendedLifetime(place) {} }
        // A process of its own: what other tests keep in memory is not to count.
        await #expect(processExitsWith: .success) { [address = place.address as String] in
            let connection = try #require(DatabaseLocation(address)).connect()
            // 256 MB in all.
            let question = SQL("SELECT n, repeat('x', 65536) FROM generate_series(1, 4096) AS s (n)")
            let before = try MemoryUse.settledResidentBytes()
            var (count, most) = (0, before)
            try connection.transaction { () throws(StorageError) in
                try connection.rowsInPages(question) { row in
                    count += 1
                    #expect(row.text(1).utf8.count == 65536)
                    if count.isMultiple(of: 512) { most = max(most, (try? MemoryUse.residentBytes()) ?? .max) }
                }
            }
            #expect(count == 4096)
            #expect(most - before < 128 << 20)
        }
    }

    @Test
    func `on PostgreSQL, a long answer may take longer than one answer may`() throws {
        let place = try Place(.postgreSQL)
        defer { withExtendedLifetime(place) {} }
        let connection = try place.connect(busyTimeoutMilliseconds: 500, answerTimeoutMilliseconds: 2000)
        // Four seconds in all.
        let question = SQL("SELECT n, pg_sleep(0.001) IS NULL FROM generate_series(1, 4000) AS s (n)")
        try connection.transaction { () throws(StorageError) in
            var count = 0
            try connection.rowsInPages(question) { _ in count += 1 }
            #expect(count == 4000)
        }
    }

    @Test
    func `on PostgreSQL, pages are refused where they can't be had`() throws {
        let place = try Place(.postgreSQL)
        defer { withExtendedLifetime(place) {} }
        let connection = try table(in: place, rows: 1)
        func isRefused(_ sql: SQL) -> Bool {
            do throws(StorageError) { try connection.rowsInPages(sql) { _ in } } catch {
                if case .misuse = error { return true }
            }
            return false
        }
        #expect(isRefused(Self.question))
        try connection.transaction { () throws(StorageError) in
            #expect(isRefused(SQL("SELECT id FROM t WHERE id = ?", .integer(0))))
            #expect(!isRefused(Self.question))
        }
    }
}
