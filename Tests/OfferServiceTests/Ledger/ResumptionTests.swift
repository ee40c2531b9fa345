// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing

@testable import Ledger

/// The service records that it can write records again before it reports that; only a record proves it.
@Suite(.overBothEngines) struct ResumptionTests {
    /// Asks what one customer could have, which records nothing.
    private func preview(_ service: TestService) async throws -> Reply {
        var call = service.call(
            #"{"bundleId": "com.example.app", "facts": {"subscribedBefore": true}, "offerIds": ["open"]}"#
        )
        call.path = "/v1/eligibility"
        return try await service.send(call)
    }

    private func isReady(_ service: TestService) async throws -> Bool {
        try await service.send(.get("/health/ready")).status == 200
    }

    @Test func `a commit that records nothing does not end a failure, and is not failed by it`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            faults.failCommits(Faults.diskFull)
            #expect(try await service.sign(offer: "open").problem == "audit-unavailable")
            #expect(try await preview(service).status == 200)
            try await service.committer.change { _ in }
            #expect(try await !isReady(service))
            #expect(service.seal.causes.map(\.cause) == [.logUnwritable])
            #expect(!service.log.lines.contains { $0.contains("can be written again") })
            #expect(try service.entries().isEmpty)

            #expect(try await service.sign(offer: "open").status == 200)
            #expect(try await isReady(service))
            #expect(try service.entries("audit.resume").count == 1)
        }
    }

    @Test func `no offer is promised while records can't be written`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            faults.failCommits(Faults.diskFull)
            #expect(try await service.sign(offer: "open").problem == "audit-unavailable")
            let sealed = try await preview(service)
            #expect(sealed.json["offers"][0]["outcome"].text == "eligible", "\(sealed)")
            #expect(sealed.json["offers"][0]["obstacle"].text == "sealed")
            #expect(sealed.headers["cache-control"] == "private, max-age=0")
            try await service.committer.append([])
            let open = try await preview(service)
            #expect(open.json["offers"][0]["obstacle"].text == nil, "\(open)")
        }
    }

    @Test func `the first record after a failure comes with one of since when there were none`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            let since = service.clock.now
            faults.failCommits(Faults.diskFull, Faults.ioFailure, Faults.diskFull)
            for _ in 0..<3 {
                #expect(try await service.sign(offer: "open").problem == "audit-unavailable")
                service.clock.advance(seconds: 10)
            }
            for _ in 0..<2 { #expect(try await service.sign(offer: "open").status == 200) }
            let entries = try service.entries().map(Tree.init)
            #expect(entries.map(\.["ev"].text) == ["sign.intent", "audit.resume", "sign.intent"])
            #expect(entries[1]["since"].integer == since.milliseconds)
            #expect(entries[1]["t"].integer == since.adding(seconds: 30).milliseconds)
            #expect(service.log.lines.count { $0.contains("can be written again") } == 1)
        }
    }

    @Test func `retries without any request, and records nothing if nothing failed`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            try await service.committer.append([])
            #expect(try service.entries().isEmpty)
            faults.failCommits(Faults.diskFull)
            #expect(try await service.sign(offer: "open").problem == "audit-unavailable")
            faults.failStatements(Faults.diskFull)
            await #expect(throws: LedgerError.self) { try await service.committer.append([]) }
            #expect(try await !isReady(service))
            for _ in 0..<2 { try await service.committer.append([]) }
            #expect(try await isReady(service))
            #expect(try service.entries().map(Tree.init).map(\.["ev"].text) == ["audit.resume"])
        }
    }

    @Test(.aboutSQLite) func `an idle service goes on by itself, and has that on record`() async throws {
        let place = try RunningPlace()
        try await place.run { service async throws in
            let connection = try place.ledger.openPatiently()
            try connection.begin()
            let refused = try await place.sign(service, offer: "open")
            #expect(refused.problem == "audit-unavailable", "\(refused)")
            connection.rollback()
            #expect(try await place.eventually(200, .get("/health/ready"), service))
        }
        #expect(try place.entries().count { $0["ev"] == .text("audit.resume") } == 1)
    }
}
