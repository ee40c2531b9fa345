// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import OfferService

/// A history that moves arrives whole, and its log goes on.
struct LedgerMoveTests {
    /// What no move takes along: what lists the migrations, who uses the database, and what an upgrade leaves for once.
    private static let left: Set = ["schema_migrations", "instances", "reloads", "log_upgrade"]

    @Test func `every table and every column of the schema is moved`() throws {
        let place = try LogPlace()
        let connection = try place.ledger.open()
        let columns = try connection.all(
            SQL(
                """
                SELECT t.name, count(*) FROM sqlite_schema t, pragma_table_info(t.name) c
                WHERE t.type = 'table' GROUP BY t.name
                """
            )
        ) { row in (row.text(0), Int(row.integer(1))) }
        let schema = Dictionary(uniqueKeysWithValues: columns.filter { !Self.left.contains($0.0) })
        let moved = Dictionary(uniqueKeysWithValues: LedgerMove.tables.map { ($0.name, $0.columns) })
        #expect(moved == schema)
        for table in LedgerMove.tables {
            #expect("\(table.select)".contains(table.name) && "\(table.insert)".contains("INTO \(table.name) "))
            #expect("\(table.insert)".count { $0 == "?" } == table.columns, "\(table.name)")
        }
    }

    private static func target() throws -> LogPlace { try LogPlace() }

    @Test func `moves ledger and log, and says so in the log`() async throws {
        try await withService { service async throws in
            for _ in 0..<3 { #expect(try await service.sign(offer: "open").status == 200) }
            let target = try Self.target()
            let before = try LogReader(connection: service.ledger.openForReading()).head()
            let outcome = try LedgerMove(from: service.ledger, to: target.ledger).run()
            #expect(outcome.entries == before.size && outcome.rows > before.size)
            let reader = try target.reader()
            #expect(try reader.rootHash(ofSize: before.size) == before.rootHash)
            #expect(try reader.head() == target.expectedHead())
            let last = try #require(try target.entries().last)
            #expect(String(decoding: last, as: UTF8.self).contains("\"ledger.moved\""))
            let (old, new) = (try service.ledger.openForReading(), try target.ledger.openForReading())
            for table in LedgerMove.tables where !["audit_entries", "log_head", "log_tiles"].contains(table.name) {
                func rows(_ connection: any DatabaseConnection) throws -> [[SQLValue]] {
                    try connection.all(SQL(table.select)) { row in
                        var values: [SQLValue] = []
                        for column in 0..<table.columns { values.append(row.value(column)) }
                        return values
                    }
                }
                #expect(try rows(old) == rows(new), "\(table.name)")
            }
            try target.writer(after: before).add(5)
            #expect(try target.reader().head() == target.expectedHead())
        }
    }

    @Test func `mixes no two histories, and leaves the other as it was`() throws {
        let (source, target) = (try LogPlace(), try LogPlace())
        try source.writer().add(3)
        try target.writer().add(1)
        let before = try target.expectedHead()
        let error = #expect(throws: LedgerMoveError.self) {
            try LedgerMove(from: source.ledger, to: target.ledger).run()
        }
        guard case .targetNotEmpty = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(try target.expectedHead() == before && target.reader().head() == before)
    }

    @Test func `moves nothing that a service uses`() throws {
        let (source, target) = (try LogPlace(), try Self.target())
        try source.writer().add(3)
        let lock = try source.ledger.lockInstance()
        let move = LedgerMove(from: source.ledger, to: target.ledger)
        #expect(throws: LedgerMoveError.self) { try move.run() }
        lock?.release()
        #expect(try move.run().entries == 3)
        let missing = LedgerMove(from: try Self.target().ledger, to: target.ledger)
        let error = #expect(throws: LedgerMoveError.self) { try missing.run() }
        guard case .nothingToMove = error else { return #expect(Bool(false), "\(String(describing: error))") }
    }

    @Test func `moves no log that is not as it was written`() throws {
        let (source, target) = (try LogPlace(), try Self.target())
        try source.writer().add(600)
        try source.run("UPDATE audit_entries SET entry = x'7b7d' WHERE entry_index = 7")
        let error = #expect(throws: LedgerMoveError.self) {
            try LedgerMove(from: source.ledger, to: target.ledger).run()
        }
        guard case .unverified = error else { return #expect(Bool(false), "\(String(describing: error))") }
    }
}
