// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing
import TransparencyLog

@testable import Ledger

/// The index over the audit log answers what looking at every entry answers.
struct AuditIndexTests {
    /// Small runs, so that a small log has many; short keys, so that many values share one.
    private static let formats = [
        AuditIndexFormat(entriesPerRun: 64), AuditIndexFormat(entriesPerRun: 128, keyBits: 4),
        AuditIndexFormat(entriesPerRun: 64, keyBits: 1),
    ]

    /// All pages of a query, joined.
    private static func pages(
        _ query: AuditQuery,
        in log: RandomLog,
        _ format: AuditIndexFormat,
        _ tail: IndexRunBuilder?,
        steps: Int
    ) throws -> [Int64] {
        let connection = try log.ledger.openForReading()
        var found: [Int64] = []
        var position: Int64?
        var pages = 0
        repeat {
            let search = try AuditSearch(connection: connection, format: format, tail: tail, steps: steps)
            let page = try search.page(query, from: position)
            #expect(page.entries.count <= query.limit && page.size == log.size)
            found += page.entries.map(\.index)
            #expect(page.next == nil || page.next != position)
            position = page.next
            pages += 1
        } while position != nil && pages < 10_000
        return found
    }

    private static func expectSameAnswers(
        _ log: RandomLog,
        _ format: AuditIndexFormat,
        _ tail: IndexRunBuilder?,
        queries: Int = TestRing.rounds(8, nightly: 25)
    ) throws {
        for _ in 0..<queries {
            let query = log.query()
            let steps = log.random.pick([40, 300, AuditSearch.standardSteps])
            let found = try pages(query, in: log, format, tail, steps: steps)
            #expect(found == (try log.scanned(query)), "\(query)")
        }
    }

    @Test(arguments: formats, 1...UInt64(TestRing.rounds(1, nightly: 2)))
    func `answers every query as a look at each entry does, in both orders and page by page`(
        format: AuditIndexFormat,
        seed: UInt64
    ) async throws {
        let log = try RandomLog(seed: seed)
        try log.grow(by: 1000)
        try await withIndex(over: log, format, until: { $0.tail?.nextEntry == log.size }) { index in
            #expect(try AuditIndexTables(connection: log.connection).runs().count == 1000 / format.entriesPerRun)
            try Self.expectSameAnswers(log, format, index.tail)
            try Self.expectSameAnswers(log, format, nil)
        }
    }

    @Test func `goes on where it was after a stop, however often, and never answers less meanwhile`() async throws {
        let format = Self.formats[0]
        let log = try RandomLog(seed: 3)
        for _ in 0..<TestRing.rounds(5, nightly: 12) {
            try log.grow(by: Int.random(in: 1...150, using: &log.random))
            // Stopped as soon as it has begun, as often as not before it is done.
            let isWholeRound = log.random.chance(in: 2)
            try await withIndex(over: log, format, until: { !isWholeRound || $0.tail?.nextEntry == log.size }) {
                index in
                try Self.expectSameAnswers(log, format, index.tail, queries: TestRing.rounds(4, nightly: 10))
                try log.grow(by: 30)
                try Self.expectSameAnswers(log, format, index.tail, queries: TestRing.rounds(4, nightly: 10))
            }
        }
        try await withIndex(over: log, format, until: { $0.tail?.nextEntry == log.size }) { index in
            let runs = try AuditIndexTables(connection: log.connection).runs()
            #expect(runs == Array(0..<log.size / 64))
        }
    }

    /// What may happen to the tables of an index behind our back.
    static let damages: [SQL] = [
        SQL("DELETE FROM audit_index_runs WHERE run = 3"),
        SQL("DELETE FROM audit_index_parts WHERE run = 2"),
        SQL("DELETE FROM audit_index_parts WHERE run = 4"),
        SQL("DELETE FROM audit_index_parts WHERE run % 2 = 0 AND first_key = 0"),
        SQL("DELETE FROM audit_index_parts"),
        SQL("UPDATE audit_index_parts SET postings = zeroblob(length(postings)) WHERE run = 5"),
        SQL("UPDATE audit_index_parts SET postings = substr(postings, 1, length(postings) - 1)"),
        SQL("UPDATE audit_index_parts SET postings = x'' WHERE run < 4"),
        SQL("UPDATE audit_index_parts SET first_key = first_key + 1 WHERE run = 6"),
        SQL("UPDATE audit_index_parts SET run = run + 100"),
        SQL("UPDATE audit_index_state SET hash_key = zeroblob(16)"),
        SQL("UPDATE audit_index_state SET version = 99"),
        SQL("DELETE FROM audit_index_state"),
        SQL("DROP TABLE audit_index_parts"),
        SQL("DROP TABLE audit_index_state"),
    ]

    @Test(arguments: damages.indices)
    func `loses no answer when its tables are damaged or incomplete`(damage: Int) async throws {
        let format = Self.formats[0]
        let log = try RandomLog(seed: 4)
        try log.grow(by: 700)
        let tail = try await withIndex(over: log, format, until: { $0.tail?.nextEntry == log.size }) { $0.tail }
        try log.connection.run(Self.damages[damage])
        try Self.expectSameAnswers(log, format, tail, queries: TestRing.rounds(3, nightly: 12))
        try Self.expectSameAnswers(log, format, nil, queries: TestRing.rounds(3, nightly: 12))
    }

    @Test func `rebuilds missing runs, and deletes runs that the log does not have`() async throws {
        let format = Self.formats[0]
        let log = try RandomLog(seed: 5)
        try log.grow(by: 700)
        let tables = AuditIndexTables(connection: log.connection)
        try await withIndex(over: log, format, until: { $0.tail?.nextEntry == log.size }) { _ in }
        let before = try (0..<10).map { try tables.stored($0) }
        try log.connection.run(SQL("DELETE FROM audit_index_runs WHERE run IN (0, 4)"))
        try log.connection.run(SQL("INSERT INTO audit_index_runs VALUES (12, x'5B5D')"))
        try await withIndex(over: log, format, until: { $0.tail?.nextEntry == log.size }) { _ in }
        #expect(try tables.runs() == Array(0..<10))
        #expect(try (0..<10).map { try tables.stored($0) } == before)
        #expect(before.allSatisfy { $0 != nil })
    }

    @Test func `looks at no more entries than its budget for a page, and says where to go on`() async throws {
        let format = AuditIndexFormat(entriesPerRun: 256)
        let log = try RandomLog(seed: 6)
        try log.grow(by: 5000)
        let query = AuditQuery(fields: [.nonce: "nowhere"], order: .newest, limit: 10)
        let connection = try log.ledger.openForReading()
        let page = try AuditSearch(connection: connection, format: format, steps: 1000).page(query)
        #expect(page.entries.isEmpty)
        let next = try #require(page.next)
        #expect((3900...4100).contains(next), "\(next)")
    }

    @Test func `finds by key without looking at other entries, in runs and among the newest`() async throws {
        let format = AuditIndexFormat(entriesPerRun: 256)
        let log = try RandomLog(seed: 7)
        try log.grow(by: 5000)
        try await withIndex(over: log, format, until: { $0.tail?.nextEntry == log.size }) { index in
            let query = AuditQuery(fields: [.digest: "17", .key: "KEY0000001"], order: .newest, limit: 500)
            let expected = try log.scanned(query)
            // Four steps for each of the 20 runs, and one for each entry that is found.
            let steps = 80 + expected.count
            let connection = try log.ledger.openForReading()
            let search = try AuditSearch(connection: connection, format: format, tail: index.tail, steps: steps)
            let page = try search.page(query)
            #expect(page.next == nil && page.entries.map(\.index) == expected)
        }
    }

    @Test func `names an entry that is damaged or missing, and answers nothing in its place`() async throws {
        let format = Self.formats[0]
        let log = try RandomLog(seed: 8)
        try log.grow(by: 300)
        try await withIndex(over: log, format, until: { $0.tail?.nextEntry == log.size }) { _ in }
        try log.connection.run(SQL("DELETE FROM audit_entries WHERE entry_index = 70"))
        let search = try AuditSearch(connection: try log.ledger.openForReading(), format: format)
        #expect(throws: AuditReadError.damaged(index: 70)) { try search.page(AuditQuery()) }
    }

    @Test(arguments: damages.indices)
    func `reports differences from the log, and none after a rebuild`(damage: Int) async throws {
        let format = Self.formats[0]
        let log = try RandomLog(seed: 9)
        try log.grow(by: 700)
        try await withIndex(over: log, format, until: { $0.tail?.nextEntry == log.size }) { _ in }
        let maintenance = try AuditIndexMaintenance(log.ledger, format: format)
        #expect(try maintenance.compare().differences.isEmpty)
        let statement = Self.damages[damage]
        try log.connection.run(statement)
        guard !Self.dropsTable(damage) else { return }
        #expect(try !maintenance.compare().differences.isEmpty, "\(statement)")
        #expect(try maintenance.rebuild() == 10)
        #expect(try maintenance.compare().differences.isEmpty)
        try Self.expectSameAnswers(log, format, nil, queries: 6)
    }

    /// A table that is gone comes back with no rebuild, only with a migration.
    private static func dropsTable(_ damage: Int) -> Bool { damage >= damages.count - 2 }

    @Test func `is the same index, made at once or little by little`() async throws {
        let format = Self.formats[0]
        let log = try RandomLog(seed: 10)
        for _ in 0..<5 {
            try log.grow(by: 150)
            try await withIndex(over: log, format, until: { $0.tail?.nextEntry == log.size }) { _ in }
        }
        let tables = AuditIndexTables(connection: log.connection)
        let grown = try (0..<11).map { try tables.stored($0) }
        #expect(try AuditIndexMaintenance(log.ledger, format: format).rebuild() == 11)
        #expect(try (0..<11).map { try tables.stored($0) } == grown)
    }
}
