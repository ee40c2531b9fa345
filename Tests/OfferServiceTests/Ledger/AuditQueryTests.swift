// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing
import TransparencyLog

@testable import Ledger

/// Finding entries by their members and their time.
@Suite(.overBothEngines) struct AuditQueryTests {
    /// A log of 1,500 entries; several have the same time, and some times have no entry.
    private static func manyEntries(_ directory: TemporaryDirectory) throws -> (LedgerAccess, times: [Int64]) {
        let clock = SettableClock(milliseconds: 1_000_000)
        let location = try #require(DatabaseLocation(directory.database("ledger.db")))
        let ledger = LedgerAccess(location: location, clock: clock.wallClock)
        var times: [Int64] = []
        for batch in 0..<75 {
            // Every third batch has the time of the one before it.
            if batch % 3 != 0 { clock.advance(milliseconds: Int64(batch % 7) + 1) }
            try ledger.change { _ throws(Never) in
                (0..<20).map { .records(.exported(from: Int64(batch), count: Int64($0))) }
            }
            times += Array(repeating: clock.now.milliseconds, count: 20)
        }
        return (ledger, times)
    }

    private static func indices(_ query: AuditQuery, in ledger: LedgerAccess, from first: Int64 = 0) throws -> [Int64] {
        var found: [Int64] = []
        try AuditReader(connection: try ledger.openForReading()).entries(matching: query, from: first) { index, _ in
            found.append(index)
        }
        return found
    }

    @Test func `finds the entries of every span of time, as looking at each would`() throws {
        let directory = try TemporaryDirectory()
        let (ledger, times) = try Self.manyEntries(directory)
        let instants = Set(times.flatMap { [$0 - 1, $0, $0 + 1] }).sorted() + [0, 9_000_000]
        for (position, from) in instants.enumerated() {
            let until = instants[(position * 7 + 3) % instants.count]
            var query = AuditQuery(from: Timestamp(milliseconds: from))
            let later = times.indices.filter { times[$0] >= from }.map(Int64.init)
            #expect(try Self.indices(query, in: ledger) == later)
            query.until = Timestamp(milliseconds: until)
            #expect(try Self.indices(query, in: ledger) == later.filter { times[Int($0)] < until })
        }
    }

    @Test func `stops at the limit, and starts at an index`() throws {
        let directory = try TemporaryDirectory()
        let (ledger, times) = try Self.manyEntries(directory)
        #expect(try Self.indices(AuditQuery(), in: ledger) == times.indices.map(Int64.init))
        for limit in [0, 1, 511, 512, 513, 1500, 1501] {
            #expect(try Self.indices(AuditQuery(limit: limit), in: ledger).count == min(limit, 1500))
        }
        #expect(try Self.indices(AuditQuery(limit: 3), in: ledger, from: 1498) == [1498, 1499])
        let lastOfAll = AuditQuery(from: Timestamp(milliseconds: try #require(times.last)), limit: 1)
        #expect(try Self.indices(lastOfAll, in: ledger, from: 1495) == [1495], "the later of both starts holds")
    }

    @Test(arguments: [
        SQL("UPDATE audit_entries SET entry = ? WHERE entry_index = 40", .blob([0x7B])),
        SQL("DELETE FROM audit_entries WHERE entry_index = 40"),
    ])
    func `names an entry that is damaged or missing, and does not read past it`(_ damage: SQL) throws {
        let directory = try TemporaryDirectory()
        let (ledger, _) = try Self.manyEntries(directory)
        try ledger.openPatiently().run(damage)
        var found: [Int64] = []
        #expect(throws: AuditReadError.damaged(index: 40)) {
            try AuditReader(connection: try ledger.openForReading()).entries(matching: AuditQuery()) { index, _ in
                found.append(index)
            }
        }
        #expect(found == Array(0..<40))
    }

    @Test func `finds nothing in an empty log`() throws {
        let directory = try TemporaryDirectory()
        let location = try #require(DatabaseLocation(directory.database("ledger.db")))
        let ledger = LedgerAccess(location: location, clock: SettableClock().wallClock)
        _ = try ledger.openPatiently()
        #expect(try Self.indices(AuditQuery(from: Timestamp(milliseconds: 0)), in: ledger).isEmpty)
    }

    /// This service has nothing at Google Play.
    @Test(arguments: AuditQuery.Field.allCases.filter { $0 != .package })
    func `finds entries by each of their members`(field: AuditQuery.Field) async throws {
        try await withService { service in
            for (caller, customer) in [("backend", "ada"), ("second-backend", "grace"), ("backend", "ada")] {
                for offer in ["once", "spaced"] {
                    _ = try await service.sign(as: caller, offer: offer, #""customerId": "\#(customer)""#)
                }
                let other = offerBody("once", #""customerId": "\#(customer)""#)
                _ = try await service.send(service.call(other.replacing("example.app", with: "example.other")))
                let yearly = offerBody("yearly").replacing("monthly", with: "yearly")
                _ = try await service.send(service.call(as: caller, yearly))
            }
            let entries = try service.entries().map(Tree.init)
            let values = Set(entries.flatMap { Self.texts($0[field.member]) })
            #expect(!values.isEmpty)
            for value in values {
                let expected = entries.indices.filter { Self.texts(entries[$0][field.member]).contains(value) }
                let found = try Self.indices(AuditQuery(fields: [field: value]), in: service.ledger)
                #expect(found == expected.map(Int64.init), "\(field) \(value)")
                #expect(field == .rule || field == .bundle || field == .product || found.count < entries.count)
            }
            for near in [String(try #require(values.first).dropLast()), "x", ""] {
                #expect(try Self.indices(AuditQuery(fields: [field: near]), in: service.ledger).isEmpty)
            }
        }
    }

    @Test func `holds every condition at once: who used a key for an offer, and when`() async throws {
        try await withService { service in
            var expected: [Int64] = []
            let from = service.clock.now.adding(hours: 1)
            for hour in 0..<4 {
                for (offer, caller) in [("open", "backend"), ("spaced", "backend"), ("open", "second-backend")] {
                    if offer == "open", caller == "backend", (1...2).contains(hour) {
                        expected.append(Int64(try service.entries().count))
                    }
                    _ = try await service.sign(as: caller, offer: offer)
                }
                service.clock.advance(hours: 1)
            }
            let query = AuditQuery(
                from: from,
                until: from.adding(hours: 2),
                fields: [.event: "sign.intent", .key: "ACTIVE0001", .offer: "store_open", .caller: "backend"]
            )
            #expect(try Self.indices(query, in: service.ledger) == expected)
            #expect(expected.count == 2)
        }
    }

    private static func texts(_ value: Tree) -> [String] {
        ([value] + value.elements).compactMap(\.text)
    }
}
