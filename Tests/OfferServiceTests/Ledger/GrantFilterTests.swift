// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService
@testable import Storage

/// Subjects without grants are not looked up in the database; subjects with grants are never missed.
@Suite(.aboutSQLite) struct GrantFilterTests {
    private static func subject(_ number: Int) -> [UInt8] {
        Array(SHA256.digest(of: Array("\(number)".utf8)).bytes.prefix(LedgerKey.byteCount))
    }

    private static func grant(to number: Int, in table: String, _ connection: any DatabaseConnection) throws {
        let isNew = table == "grants_by_time"
        // Two have an entry in common.
        let entry = Int64(number / 2)
        try connection.run(
            SQL(
                isNew
                    ? "INSERT INTO grants_by_time (place, subject, offer_key, grant_id) VALUES (?, ?, 7, ?)"
                    : "INSERT INTO grants (entry_index, subject, offer_key, grant_id) VALUES (?, ?, 7, ?)",
                .integer(isNew ? GrantLogRow.first(of: entry) + Int64(number % 2) : entry),
                .blob(subject(number)),
                .blob([UInt8](repeating: UInt8(number % 256), count: 16))
            )
        )
    }

    private static func mistakes(_ granted: GrantFilter) -> Int {
        (0..<1000).count { granted.mayHave(subject(1_000_000 + $0)) }
    }

    @Test(arguments: [1, 3, 64, 1000])
    func `knows every subject with grants in either table, whatever the batch size`(rows: Int) throws {
        let place = try LogPlace()
        let connection = try place.ledger.openPatiently()
        for number in 0..<60 { try Self.grant(to: number, in: number < 40 ? "grants" : "grants_by_time", connection) }
        var granted = GrantFilter(room: 64)
        var portions = 0
        while granted.isReadingDue {
            #expect(Self.mistakes(granted) == 1000, "before all is read, it knows nothing")
            try granted.readSome(rows, ofLog: 30, from: connection)
            portions += 1
        }
        #expect(portions >= 60 / rows)
        #expect((0..<60).allSatisfy { granted.mayHave(Self.subject($0)) })
        #expect(Self.mistakes(granted) < 20)
        granted.forgetAll()
        #expect(Self.mistakes(granted) == 1000)
    }

    @Test func `grows without reading anything again, and misses no subject meanwhile`() throws {
        let place = try LogPlace()
        let connection = try place.ledger.openPatiently()
        for number in 0..<600 { try Self.grant(to: number, in: "grants", connection) }
        var granted = GrantFilter(room: 64)
        var next = 600
        while granted.isReadingDue {
            try granted.readSome(16, ofLog: 0, from: connection)
            granted.insert(Self.subject(next))
            next += 1
        }
        for number in next..<2000 {
            granted.insert(Self.subject(number))
            #expect(!granted.isReadingDue)
            let isKnown = granted.mayHave(Self.subject(number / 2))
            #expect(isKnown)
        }
        #expect((0..<2000).allSatisfy { granted.mayHave(Self.subject($0)) })
        #expect(Self.mistakes(granted) < 20)
    }

    @Test func `skips a row that the service did not write`() throws {
        let place = try LogPlace()
        let connection = try place.ledger.openPatiently()
        try connection.run(SQL("INSERT INTO grants VALUES (x'01', 7, x'01', 3)"))
        try Self.grant(to: 1, in: "grants", connection)
        var granted = GrantFilter(room: 64)
        while granted.isReadingDue { try granted.readSome(1, ofLog: 0, from: connection) }
        let isKnown = granted.mayHave(Self.subject(1))
        #expect(isKnown)
    }

    private static let question = "FROM grants WHERE subject = ?"

    /// As the committer does between two batches, until all is read.
    private static func readAll(
        _ table: GrantTable,
        _ connection: any DatabaseConnection,
        ofLog entries: Int64 = 1
    ) throws {
        try connection.begin()
        try table.begun()
        try connection.commit()
        while table.isFilterDue { try table.fillFilter(ofLog: entries) }
    }

    @Test func `queries the database only for subjects with grants`() throws {
        let place = try LogPlace()
        let statements = Statements()
        let connection = try statements.wrap(place.ledger.openPatiently())
        try Self.grant(to: 1, in: "grants", connection)
        let table = GrantTable(connection: connection)
        #expect(!table.isFilterDue, "before a transaction, the table cannot know what others do")
        #expect(try table.grants(of: 7, to: Self.subject(2)).isEmpty)
        #expect(statements.count(of: Self.question) == 1)
        try Self.readAll(table, connection)
        #expect(try table.grants(of: 7, to: Self.subject(2)).isEmpty)
        #expect(try table.grants(to: Self.subject(2)).isEmpty)
        #expect(statements.count(of: Self.question) == 1)
        #expect(try table.grants(of: 7, to: Self.subject(1)).count == 1)
        #expect(try table.grants(to: Self.subject(1)).count == 1)
        #expect(statements.count(of: Self.question) == 3)
        try connection.begin()
        try table.begun()
        table.ledgerChanged()
        #expect(try table.grants(of: 7, to: Self.subject(2)).isEmpty)
        #expect(statements.count(of: Self.question) == 3, "no other connection has written")
        connection.rollback()
    }

    @Test func `subjects without grants are not looked up among the new grants either`() throws {
        let place = try LogPlace()
        let statements = Statements()
        let connection = try statements.wrap(place.ledger.openPatiently())
        let table = GrantTable(connection: connection)
        // So alike that they share a place in memory.
        let stranger = Self.subject(1).prefix(3) + [UInt8](repeating: 7, count: 15)
        let question = "FROM grants_by_time WHERE place >= ? AND place < ? AND subject"
        try connection.begin()
        try table.begun()
        try table.add(.version4(1, 2), of: 7, to: Self.subject(1), entry: 0)
        try connection.commit()
        table.committed(nextEntry: 1)
        #expect(try table.grants(of: 7, to: Array(stranger)).isEmpty)
        #expect(statements.count(of: question) == 1, "before all is read, every subject is looked up")
        while table.isFilterDue { try table.fillFilter(ofLog: 1) }
        #expect(try table.grants(of: 7, to: Array(stranger)).isEmpty)
        #expect(try table.grants(to: Array(stranger)).isEmpty)
        #expect(statements.count(of: question) == 1)
        #expect(try table.grants(of: 7, to: Self.subject(1)).count == 1)
        #expect(statements.count(of: question) == 2)
    }

    @Test func `looks among compacted grants only for subjects that may have some there`() throws {
        let place = try LogPlace()
        let statements = Statements()
        let connection = try statements.wrap(place.ledger.openPatiently())
        var policy = CompactionOptions()
        policy.mostOffsetsOfSubject = 2
        let table = GrantTable(connection: connection, compaction: policy)
        try Self.readAll(table, connection)
        func change(_ body: () throws -> Void) throws {
            try connection.begin()
            try table.begun()
            try body()
            try connection.commit()
            table.committed(nextEntry: 10)
        }
        func grants(_ number: Int, looksThere: Bool) throws -> Int {
            let before = statements.count(of: Self.question)
            let count = try table.grants(of: 7, to: Self.subject(number)).count
            #expect(try table.grants(to: Self.subject(number))[7]?.count == count)
            #expect(statements.count(of: Self.question) == before + (looksThere ? 2 : 0))
            return count
        }
        try change {
            for number in 0..<3 {
                for entry in 0...number as ClosedRange<Int> {
                    let id = UniqueID.version4(UInt64(number), UInt64(entry))
                    try table.add(id, of: 7, to: Self.subject(number), entry: Int64(3 * number + entry))
                }
            }
        }
        #expect(try grants(0, looksThere: false) == 1)
        #expect(try grants(1, looksThere: false) == 2)
        #expect(try grants(2, looksThere: true) == 3, "the third went there at once")
        try change { try table.settle(Self.subject(0)) }
        #expect(try grants(0, looksThere: true) == 1)
        try change { table.change(Self.subject(1)) }
        #expect(try grants(1, looksThere: true) == 2, "another table may have put some there")
        let other = GrantTable(connection: connection, compaction: policy)
        try Self.readAll(other, connection, ofLog: 10)
        for number in 0..<3 { #expect(try other.grants(of: 7, to: Self.subject(number)).count == number + 1) }
    }

    @Test func `finds a grant that another writer added without an entry`() throws {
        let place = try LogPlace()
        let connection = try place.ledger.openPatiently()
        let table = GrantTable(connection: connection)
        try Self.readAll(table, connection)
        try Self.grant(to: 1, in: "grants", place.ledger.openPatiently())
        try connection.begin()
        try table.begun()
        #expect(try table.grants(of: 7, to: Self.subject(1)).count == 1)
        connection.rollback()
        #expect(table.isFilterDue)
    }

    @Test(arguments: ["SELECT subject, place FROM grants_by_time", "SELECT subject FROM grants"])
    func `if the filter read fails, every subject is looked up and the read is not retried`(text: String) throws {
        let place = try LogPlace()
        let statements = Statements()
        let connection = try statements.wrap(place.ledger.openPatiently())
        try Self.grant(to: 1, in: "grants", connection)
        let table = GrantTable(connection: connection)
        statements.refuse(text, with: Faults.diskFull)
        #expect(throws: StorageError.self) { try Self.readAll(table, connection) }
        #expect(!table.isFilterDue)
        #expect(try table.grants(of: 7, to: Self.subject(1)).count == 1)
        #expect(try table.grants(of: 7, to: Self.subject(2)).isEmpty)
        #expect(statements.count(of: Self.question) == 2)
    }

    @Test func `keeps reading earlier grants while no request arrives`() async throws {
        let statements = Statements()
        var policy = CompactionOptions()
        policy.rowsAtOnce = 1
        try await withService(compaction: policy, wrap: statements.wrap) { service async throws in
            // A row is read after each of these: all that is there at the first is read before the last of them.
            for number in 0..<10 {
                #expect(try await service.sign(offer: "once", #""customerId": "\#(number)""#).status == 200)
            }
            for number in 0..<11 { try Self.grant(to: number, in: "grants", service.ledger.openPatiently()) }
            statements.reset()
            #expect(try await service.sign(offer: "once", #""customerId": "last""#).status == 200)
            // Eleven in the log, eleven in the other table, and the ends of both.
            #expect(try await eventually { statements.count(of: "SELECT subject FROM grants") == 12 })
            #expect(statements.count(of: "SELECT subject, place FROM grants_by_time") == 12)
            let before = statements.count(of: Self.question)
            #expect(try await service.sign(offer: "once", #""customerId": "stranger""#).status == 200)
            #expect(statements.count(of: Self.question) == before)
        }
    }

    @Test(arguments: [Faults.ioFailure, Faults.diskFull])
    func `a service that can't read it goes on, and says so once`(error: StorageError) async throws {
        let statements = Statements()
        statements.refuse("SELECT subject FROM grants", with: error)
        try await withService(wrap: statements.wrap) { service async throws in
            for number in 0..<5 {
                #expect(try await service.sign(offer: "once", #""customerId": "\#(number)""#).status == 200)
                #expect(try await service.sign(offer: "once", #""customerId": "\#(number)""#).problem == "not-eligible")
                #expect(service.health.commitFailure == nil)
            }
            #expect(statements.count(of: "SELECT subject FROM grants") == 1)
            #expect(
                service.metrics[.commitFailures(reason: error == Faults.ioFailure ? "io-failure" : "disk-full")] == 0
            )
        }
    }
}
