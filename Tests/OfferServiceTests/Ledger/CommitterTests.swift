// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing

@testable import Ledger

/// Nothing leaves before its record is durable, and what can't be recorded is not signed.
@Suite(.overBothEngines) struct CommitterTests {
    @Test func `sends no answer, and signs nothing, before the commit returns`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            faults.hold()
            let answered = Recorder()
            try await withThrowingTaskGroup(of: Reply.self) { group in
                group.addTask {
                    let reply = try await service.sign(offer: "open")
                    answered.add()
                    return reply
                }
                #expect(try await eventually { faults.isCommitting })
                // Long enough for an answer that does not wait to show itself.
                try await Task.sleep(for: .milliseconds(200))
                #expect(answered.count == 0)
                #expect(service.metrics[.signatures(key: "ACTIVE0001", form: "v1")] == 0)
                #expect(try service.entries().isEmpty)
                faults.release()
                let reply = try #require(try await group.next())
                #expect(reply.status == 200, "\(reply)")
            }
            #expect(service.metrics[.signatures(key: "ACTIVE0001", form: "v1")] == 1)
            #expect(try service.entries().count == 1)
        }
    }

    @Test func `tells a refusal only once it is on record`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            faults.failCommits(Faults.diskFull)
            let body = offerBody("open").replacing("true", with: "false")
            #expect(try await service.send(service.call(body)).problem == "audit-unavailable")
            #expect(try await service.send(service.call(body)).problem == "not-eligible")
            #expect(try service.entries("sign.deny").count == 1)
        }
    }

    @Test(arguments: [Faults.diskFull, Faults.ioFailure])
    func `refuses a whole batch if its commit fails, signs nothing of it, and recovers`(
        error: StorageError
    ) async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            let calls = (0..<20).map { service.call(offer: "once", #""customerId": "customer-\#($0)""#) }
            let replies = try await batch(
                of: calls,
                in: service,
                faults,
                beforeItCommits: { faults.failCommits(error) }
            )
            for reply in replies {
                #expect(reply.status == 503)
                #expect(reply.problem == "audit-unavailable", "\(reply)")
                #expect(reply.headers["retry-after"] == "5")
                #expect(reply.json["signature"] == .null)
            }
            #expect(service.metrics[.signatures(key: "ACTIVE0001", form: "v1")] == 1, "the one before the batch")
            #expect(try service.entries("sign.intent").count == 1)
            let failed = try await service.send(.get("/health/ready"))
            #expect(failed.json["obstacles"].elements.map(\.["name"].text) == ["audit-unavailable"])
            #expect(faults.opened == 1)

            let again = try await service.send(calls)
            #expect(again.allSatisfy { $0.status == 200 }, "no grant was counted")
            #expect(faults.opened == (error.requiresReopening ? 2 : 1))
            #expect(try service.entries("sign.intent").count == 21)
            #expect(try await service.send(.get("/health/ready")).status == 200)
            #expect(try await service.send(calls).allSatisfy { $0.problem == "not-eligible" })
        }
    }

    @Test func `undoes the whole batch when one statement of it fails`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            let calls = (0..<10).map { service.call(offer: "budget", #""customerId": "customer-\#($0)""#) }
            let rollbacks = faults.rollbacks
            let replies = try await batch(
                of: calls,
                in: service,
                faults,
                beforeItBegins: { faults.failStatements(Faults.diskFull) }
            )
            #expect(replies.allSatisfy { $0.problem == "audit-unavailable" })
            #expect(faults.rollbacks == rollbacks + 1)
            #expect(try await service.send(calls).count { $0.status == 200 } == 3, "nothing of the budget was spent")
        }
    }

    @Test func `refuses as long as no connection can be opened, then goes on`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            faults.failCommits(Faults.ioFailure)
            faults.failOpening(Faults.ioFailure, Faults.diskFull)
            for _ in 0..<3 {
                #expect(try await service.sign(offer: "open").problem == "audit-unavailable")
            }
            #expect(try await service.sign(offer: "open").status == 200)
            #expect(faults.opened == 2)
            #expect(service.metrics[.commitFailures(reason: "io-failure")] == 2)
            #expect(service.metrics[.commitFailures(reason: "disk-full")] == 1)
        }
    }

    @Test func `refuses what is more than it will hold, at once, and answers the others`() async throws {
        let faults = Faults()
        try await withService(maximumWaiting: 5, wrap: faults.wrap) { service in
            faults.hold()
            try await withThrowingTaskGroup(of: Reply.self) { group in
                group.addTask { try await service.sign(offer: "open") }
                #expect(try await eventually { faults.isCommitting })
                for _ in 0..<5 { group.addTask { try await service.sign(offer: "open") } }
                #expect(try await eventually { service.committer.waiting == 5 })
                async let refused = service.sign(offer: "open")
                let refusals = Metric.requests(route: .offers(.promotionalOfferSignature), status: 503)
                #expect(try await eventually { service.metrics[refusals] == 1 }, "while the others still wait")
                faults.release()
                let reply = try await refused
                #expect(reply.status == 503)
                #expect(reply.problem == "overloaded", "\(reply)")
                #expect(reply.headers["retry-after"] == "1")
                for try await reply in group { #expect(reply.status == 200, "\(reply)") }
            }
            #expect(try service.entries("sign.intent").count == 6)
        }
    }

    @Test func `writes what waits before it stops, and nothing afterwards`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            faults.hold()
            try await withThrowingTaskGroup(of: Reply.self) { group in
                group.addTask { try await service.sign(offer: "open") }
                #expect(try await eventually { faults.isCommitting })
                for _ in 0..<10 { group.addTask { try await service.sign(offer: "open") } }
                #expect(try await eventually { service.committer.waiting == 10 })
                async let stopped: Void = service.stop()
                faults.release()
                await stopped
                for try await reply in group { #expect(reply.status == 200, "\(reply)") }
            }
            #expect(try service.entries("sign.intent").count == 11)
            #expect(try await service.sign(offer: "open").problem == "audit-unavailable")
            #expect(throws: LedgerError.stopped) { try service.committer.appendBlocking([.serviceStopped]) }
        }
    }

    @Test func `commits together what arrived while a commit ran`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            let calls = (0..<20).map { _ in service.call(offer: "open") }
            let replies = try await batch(of: calls, in: service, faults)
            #expect(replies.allSatisfy { $0.status == 200 })
            let page = try MetricsPage(try await service.send(.get("/metrics")))
            #expect(page.samples["offer_signer_commit_batch_requests_count"] == 2)
            #expect(page.samples["offer_signer_commit_batch_requests_sum"] == 21)
        }
    }

    @Test func `forgets idempotency keys past their day at a pace that outruns new ones, and little at a time`()
        async throws
    {
        try await withService { service async throws in
            func kept() throws -> Int64? {
                try service.ledger.openForReading().first(SQL("SELECT count(*) FROM idempotency_keys")) {
                    $0.integer(0)
                }
            }
            func sign(_ names: Range<Int>) async throws {
                let replies = try await service.send(
                    names.map { service.call(offer: "open").with("Idempotency-Key", "key-\($0)") }
                )
                #expect(replies.allSatisfy { $0.status == 200 })
            }
            /// Commits one job, ten seconds after the last one that did.
            func clean(afterSeconds seconds: Int = 10) async throws {
                service.clock.advance(seconds: seconds)
                try await service.committer.append([.serviceStopped])
            }
            try await sign(0..<1000)
            service.clock.advance(hours: 23)
            try await sign(1000..<1100)
            try await clean()
            #expect(try kept() == 1100, "none is a day old")
            service.clock.advance(hours: 2)
            try await clean()
            #expect(try kept() == 1100 - (256 + 2 * 1))
            try await clean(afterSeconds: 9)
            try await sign(1100..<1200)
            #expect(try kept() == 942, "ten seconds are not over")
            try await clean(afterSeconds: 1)
            #expect(try kept() == 942 - (256 + 2 * 102), "two for each that came meanwhile")
            try await clean()
            try await clean()
            #expect(try kept() == 200, "those of less than a day may still be asked for again")
            service.clock.advance(hours: 23)
            try await clean()
            #expect(try kept() == 100)
        }
    }

    /// Sends the calls so that they make one batch, after a first one that succeeds, and returns their answers.
    private func batch(
        of calls: [Call],
        in service: TestService,
        _ faults: Faults,
        beforeItBegins: () -> Void = {},
        beforeItCommits: () -> Void = {}
    ) async throws -> [Reply] {
        faults.hold()
        async let first = service.sign(offer: "open")
        #expect(try await eventually { faults.isCommitting })
        async let replies = service.send(calls)
        #expect(try await eventually { service.committer.waiting == calls.count })
        beforeItBegins()
        faults.releaseOne()
        #expect(try await first.status == 200)
        // The batch commits, or it has failed before that.
        #expect(try await eventually { faults.isCommitting || faults.rollbacks > 0 })
        beforeItCommits()
        faults.release()
        return try await replies
    }
}
