// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing

@testable import Ledger

/// What a batch is granted is committed together, and caps hold within it and between batches.
@Suite(.overBothEngines) struct BatchLedgerTests {
    @Test(arguments: Wire.ofRun)
    func `grants only the first of several requests for one customer in a batch`(wire: Wire) async throws {
        try await withService(wire) { service in
            let bodies = ["ada", "grace", "ADA", "ada", "edsger"].map { customerBody("once", $0) }
            let reply = try await service.send(service.batch(bodies))
            #expect(reply.statuses == [200, 200, 403, 403, 200], "\(reply)")
            for refused in reply.results[2...3] {
                let findings = refused["problem"]["decision"]["findings"]
                #expect(findings[1]["code"] == .text("grants-cap-reached"))
            }
            let again = try await service.send(service.batch(bodies.reversed()))
            #expect(again.statuses == Array(repeating: 403, count: 5))
        }
    }

    @Test(arguments: Wire.ofRun)
    func `spends a budget in the order of the body`(wire: Wire) async throws {
        try await withService(wire) { service in
            let reply = try await service.send(
                service.batch((0..<32).map { customerBody("budget", "customer-\($0)") })
            )
            #expect(reply.statuses == Array(repeating: 200, count: 3) + Array(repeating: 403, count: 29))
        }
    }

    @Test(arguments: Wire.allCases)
    func `grants 200 customers, named in 100 batches at the same time, exactly one offer each`(
        wire: Wire
    ) async throws {
        try await withService(wire) { service in
            let asked = (0..<200).flatMap { number in
                (0..<5).map { $0 % 2 == 0 ? "customer-\(number)" : "CUSTOMER-\(number)" }
            }
            .shuffled()
            let batches = stride(from: 0, to: asked.count, by: 10).map { Array(asked[$0..<$0 + 10]) }
            let replies = try await service.send(
                batches.map { names in service.batch(names.map { customerBody("once", $0) }) }
            )
            var granted: [String: Int] = [:]
            for (names, reply) in zip(batches, replies) {
                #expect(reply.status == 200 && reply.results.count == 10, "\(reply)")
                for (name, status) in zip(names, reply.statuses) where status == 200 {
                    granted[name.lowercased(), default: 0] += 1
                }
            }
            #expect(granted.count == 200)
            #expect(granted.values.allSatisfy { $0 == 1 })
            #expect(try service.entries("sign.intent").count == 200)
            #expect(try service.entries("sign.deny").count == 800)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `commits a batch at once, and counts its requests`(wire: Wire) async throws {
        try await withService(wire) { service in
            let before = try MetricsPage(try await service.send(.get("/metrics")))
            let reply = try await service.send(service.batch((0..<16).map { customerBody("once", "customer-\($0)") }))
            #expect(reply.statuses == Array(repeating: 200, count: 16))
            let after = try MetricsPage(try await service.send(.get("/metrics")))
            let name = "offer_signer_commit_batch_requests"
            #expect(after.growth(of: "\(name)_count", since: before) == 1)
            #expect(after.growth(of: "\(name)_sum", since: before) == 16)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `grants nothing if the records can't be written, and says so once`(wire: Wire) async throws {
        let faults = Faults()
        try await withService(wire, wrap: faults.wrap) { service in
            let call = service.batch(["ada", "grace"].map { customerBody("once", $0) } + ["{}"])
            faults.failCommits(Faults.diskFull)
            let reply = try await service.send(call)
            #expect(reply.status == 503 && reply.problem == "audit-unavailable", "\(reply)")
            #expect(reply.headers["retry-after"] == "5")
            #expect(try service.entries("sign.intent").isEmpty)
            #expect(try await service.send(call).statuses == [200, 200, 400])
        }
    }

    @Test func `counts every request of a batch against those that may wait`() async throws {
        let faults = Faults()
        try await withService(maximumWaiting: 8, wrap: faults.wrap) { service in
            faults.hold()
            async let first = service.send(service.batch([offerBody("open")]))
            #expect(try await eventually { faults.isCommitting })
            async let second = service.send(service.batch(Array(repeating: offerBody("open"), count: 8)))
            #expect(try await eventually { service.committer.waiting == 8 })
            let third = try await service.send(service.batch([offerBody("open")]))
            #expect(third.status == 503 && third.problem == "overloaded", "\(third)")
            faults.release()
            #expect(try await first.statuses == [200])
            #expect(try await second.statuses == Array(repeating: 200, count: 8))
        }
    }

    @Test func `loses none of the others by one that can't be recorded`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            // Of the whole, and then of the first alone.
            faults.failStatements(.unexpectedValue(column: 4), .unexpectedValue(column: 4))
            let reply = try await service.send(service.batch(["ada", "grace"].map { customerBody("once", $0) }))
            #expect(reply.statuses == [503, 200], "\(reply)")
            #expect(reply.problems == ["audit-unavailable", nil])
            #expect(reply.results[0]["retryAfter"].integer == 5)
            #expect(try service.entries("sign.intent").count == 1)
        }
    }
}
