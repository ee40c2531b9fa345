// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import HTTP
import OfferDomain
import OfferService
import ServiceRuntime
import TestSupport
import Testing

@testable import Ledger

/// What is counted instead of being an entry each.
@Suite(.overBothEngines) struct CountedEventsTests {
    @Test func `counts requests that get no entry, by call and problem`() async throws {
        try await withService { service in
            for _ in 0..<3 { _ = try await service.send(service.call("{").with("Authorization", "Bearer nobody")) }
            for path in ["/a", "/b", "/c", "/d"] { _ = try await service.send(.get(path)) }
            _ = try await service.send(service.call("{"))
            _ = try await service.send(service.call(offerBody("no-such-offer")))
            // Of these there are entries.
            for offer in ["open", "gold"] { _ = try await service.sign(offer: offer) }
            let traffic = try #require(service.traffic.take(until: service.clock.now))
            let route = Route.offers(.promotionalOfferSignature)
            #expect(
                traffic.counts == [
                    UnauthenticatedTraffic(route: route, problem: "unauthenticated"): 3,
                    UnauthenticatedTraffic(route: .unknown, problem: "not-found"): 4,
                    UnauthenticatedTraffic(route: route, problem: "malformed-json"): 1,
                    UnauthenticatedTraffic(route: route, problem: "unknown-offer"): 1,
                ]
            )
            #expect(service.traffic.take(until: service.clock.now) == nil, "no entry where there was none")
        }
    }

    @Test
    func `records unauthenticated traffic and fetches when the minute or the service ends, and only if there was any`()
        async throws
    {
        let place = try RunningPlace()
        try await place.run { service async throws in
            for _ in 0..<5 { _ = try await place.send(.get("/nothing"), to: service) }
        }
        try await place.run { _ in }
        let traffic = try place.entries().filter { $0["ev"] == .text("noise") }
        #expect(traffic.count == 1)
        let rows = try #require(traffic.first)["counts"].elements
        #expect(rows.count == 1 && rows[0]["problem"] == .text("not-found"))
        #expect(rows[0]["call"] == .text("other") && rows[0]["count"] == .number(5))
    }

    @Test func `stays bounded, whatever is counted, and loses no count`() throws {
        let counter = MinuteCounter<Int>(mostKeys: 8)
        let time = Timestamp(milliseconds: 1_782_907_200_123)
        for key in 0..<1000 { counter.count(key, at: time) }
        let taken = try #require(counter.take(until: time))
        #expect(taken.counts.count == 8 && taken.others == 992)
        counter.count(5000, at: time)
        counter.restore(taken)
        let again = try #require(counter.take(until: time))
        #expect(again.counts.count == 8 && again.counts.values.reduce(0, +) + again.others == 1001)
    }

    @Test func `an entry of counts has room for the longest names, and sums up the rest`() throws {
        let longest = try #require(CallerID(String(repeating: "x", count: 64)))
        let time = Timestamp(milliseconds: 1_782_907_200_123)
        var counts: [AuditFetch: Int] = [:]
        for (index, call) in AuditCall.allCases.enumerated() {
            for letter in "abcdefgh" {
                let caller = try #require(CallerID("\(letter)\(longest.text.dropFirst())"))
                counts[AuditFetch(caller: caller, call: call)] = 1_000_000 + index
            }
        }
        let event = AuditEvent.records(.fetched(Counted(from: time, until: time, counts: counts, others: 7)))
        let bytes = AuditEntry.bytes(of: event, recordedAt: time)
        #expect(bytes.count <= AuditEntry.maximumBytes)
        let entry = try Tree(String(decoding: bytes, as: UTF8.self))
        let named = entry["counts"].elements.compactMap(\.["count"].integer).reduce(0, +)
        let others = try #require(entry["others"].integer)
        #expect(named + others == Int64(counts.values.reduce(7, +)))
    }

    /// A condition of a query, and how it is recorded.
    static let conditions: [(name: AuditQuery.Field, value: String, text: String)] = [
        (.event, "sign.intent", "event=sign.intent"), (.key, "ABC123DEFG", "key=ABC123DEFG"),
        (.user, "ada@example.com", "user"), (.user, "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60", "user"),
        (.user, "hmac:1:\(String(repeating: "A", count: 43))", "user=hmac:1:\(String(repeating: "A", count: 43))"),
        (.user, "hmac:1:ada", "user"), (.product, "a b", "product"), (.caller, "", "caller"),
        (.rule, String(repeating: "r", count: 129), "rule"),
    ]

    @Test(arguments: conditions)
    func `a condition is recorded with its value only if that identifies no person`(
        _ condition: (name: AuditQuery.Field, value: String, text: String)
    ) throws {
        let query = AuditQuery(fields: [condition.name: condition.value])
        #expect(query.conditions.map(\.text) == [condition.text])
    }

    @Test func `a question to the log is an entry, and is counted when nothing can be recorded`() async throws {
        try await withService { service in
            let log = Log(level: .debug, clock: service.clock.wallClock, sink: service.log.sink)
            let reads = ReadRecorder(committer: service.committer, clock: service.clock.wallClock, log: log)
            let caller = try #require(CallerID("auditor"))
            await reads.note(caller: caller, call: .entries, conditions: [AuditCondition("key", "K")], count: 2)
            let entries = try service.entries("audit.read")
            #expect(entries.count == 1)
            #expect(entries[0]["caller"] == .text("auditor") && entries[0]["count"] == .number(2))
            #expect(entries[0]["for"].elements.map(\.text) == ["key=K"])
            // What is in no entry may be anything, such as a key that was pasted into the wrong field.
            let searched = [AuditCondition("nonce", "pasted"), AuditCondition("from", "2026-01-01T00:00:00Z")]
            await reads.note(caller: caller, call: .entries, conditions: searched, count: 0)
            #expect(
                try service.entries("audit.read")[1]["for"].elements.map(\.text)
                    == ["nonce", "from=2026-01-01T00:00:00Z"]
            )
            await service.stop()
            await reads.note(caller: caller, call: .entries, conditions: [], count: 2)
            reads.noteFetch(caller: nil, call: .tile)
            let fetches = try #require(reads.fetches.take(until: service.clock.now))
            #expect(
                fetches.counts == [
                    AuditFetch(caller: caller, call: .entries): 1, AuditFetch(caller: nil, call: .tile): 1,
                ]
            )
        }
    }
}
