// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// No signature is made after the record of what stops it.
@Suite(.overBothEngines) struct SealOrderTests {
    /// What is to stop signatures, and the entry that says so.
    struct Row: CustomTestStringConvertible {
        let path: String
        let body: String
        let entry: String
        let problem: String

        var testDescription: String { path }
    }

    static let rows = [
        Row(path: "/v1/seal", body: #"{"reason": "leak"}"#, entry: "service.seal", problem: "sealed"),
        Row(path: "/v1/keys/ACTIVE0001/disable", body: "", entry: "key.disable", problem: "key-unavailable"),
    ]

    @Test(arguments: Wire.allCases, rows)
    func `under load nothing is signed after the record, and all is answered`(wire: Wire, row: Row) async throws {
        try await withService(wire) { service async throws in
            let load = Task { try await Self.load(on: service) }
            #expect(try await eventually { service.madeSignatures > 40 }, "there is load")
            let stop = try await service.act(row.path, body: row.body)
            let made = service.madeSignatures
            #expect(stop.status == 200, "\(stop)")
            #expect(try await service.sign(offer: "open").problem == row.problem)
            let replies = try await load.value
            #expect(service.madeSignatures == made, "no signature after the answer, nor, then, after the record")
            let entries = try service.entries().map(Tree.init)
            let place = try #require(entries.firstIndex { $0["ev"] == .text(row.entry) })
            #expect(!entries[place...].contains { $0["ev"] == .text("sign.intent") })
            // Grants that are not signed any more are recorded as failed.
            let intents = entries.count { $0["ev"] == .text("sign.intent") }
            let failures = entries.count { $0["ev"] == .text("sign.failed") }
            let delivered = replies.count { $0.status == 200 } * 2
            #expect(delivered > 0 && replies.contains { $0.problem == row.problem }, "the stop came amid the load")
            #expect(replies.allSatisfy { $0.status == 200 || $0.problem == row.problem })
            #expect(service.madeSignatures >= delivered && intents >= service.madeSignatures)
            #expect(failures <= replies.count { $0.problem == row.problem })
        }
    }

    /// Asks for many signatures at once, for a while.
    private static func load(on service: TestService) async throws -> [Reply] {
        var replies: [Reply] = []
        for _ in 0..<30 {
            let calls = (0..<20).map { _ in service.call(offer: "open", #""formats": ["v1", "jws"]"#) }
            replies += try await service.send(calls)
        }
        return replies
    }

    @Test(arguments: rows)
    func `what was granted before the stop and not yet signed is not signed any more`(row: Row) async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            faults.hold()
            try await withThrowingTaskGroup(of: Reply.self) { group in
                group.addTask { try await service.sign(offer: "open") }
                #expect(try await eventually { faults.isCommitting })
                group.addTask { try await service.act(row.path, body: row.body) }
                // Key uses are blocked although no disk has answered.
                let key = try KeyID("ACTIVE0001")
                #expect(try await eventually { service.committer.keyUseGuard.stop(of: key) != nil })
                faults.release()
                var statuses: [Int] = []
                for try await reply in group {
                    statuses.append(reply.status)
                    if reply.status != 200 { #expect(reply.problem == row.problem, "\(reply)") }
                }
                #expect(statuses.sorted() == [200, 503])
            }
            #expect(service.madeSignatures == 0)
            let events = try service.entries().map(Tree.init)
            #expect(Set(events.map(\.["ev"].text)) == ["sign.intent", row.entry, "sign.failed"])
            #expect(events[0]["ev"] == .text("sign.intent"))
        }
    }

    @Test(arguments: rows)
    func `the uses of the key that have begun are waited for, and then recorded behind`(row: Row) async throws {
        try await withService { service async throws in
            let key = try KeyID("ACTIVE0001")
            let (hasBegun, mayEnd) = (Recorder(), Recorder())
            let keyUseGuard = service.committer.keyUseGuard
            async let use: Void = mayBlock {
                _ = keyUseGuard.use(key) {
                    hasBegun.add()
                    while mayEnd.count == 0 {}
                }
            }
            #expect(try await eventually { hasBegun.count == 1 })
            async let stop = service.act(row.path, body: row.body)
            #expect(try await eventually { keyUseGuard.stop(of: key) != nil })
            try await Task.sleep(for: .milliseconds(100))
            #expect(try service.entries().isEmpty, "the use has not ended")
            mayEnd.add()
            await use
            #expect(try await stop.status == 200)
            #expect(try service.entries(row.entry).count == 1)
        }
    }

    @Test func `what can't be recorded is off nevertheless, says so, and is recorded later`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            faults.failCommits(Faults.diskFull)
            let reply = try await service.act("/v1/seal", body: #"{"reason": "leak"}"#)
            #expect(reply.status == 503 && reply.problem == "audit-unavailable", "\(reply)")
            #expect(reply.json["detail"].text?.contains("is in effect") == true)
            #expect(try await service.sign(offer: "open").problem == "sealed")
            let ready = try await service.send(.get("/health/ready")).json["obstacles"].elements
            #expect(ready.contains { $0["detail"].text?.contains("not on record yet") == true }, "\(ready)")
            service.seal.recordWhatIsHeld()
            #expect(try await eventually { try service.entries("service.seal").count == 1 })
            #expect(try service.entries("service.seal")[0]["caller"] == .text("admin"))

            _ = try await service.act("/v1/unseal", body: #"{"reason": "over"}"#)
            faults.failCommits(Faults.diskFull)
            #expect(try await service.act("/v1/keys/ACTIVE0001/disable").problem == "audit-unavailable")
            #expect(try await service.sign(offer: "open").problem == "key-unavailable")
            service.seal.recordWhatIsHeld()
            #expect(try await eventually { try service.entries("key.disable").count == 1 })
            #expect(try await service.act("/v1/keys/ACTIVE0001/enable").status == 200)
            #expect(try await service.sign(offer: "open").status == 200)
        }
    }

    @Test func `is not opened before that is on record`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            #expect(try await service.act("/v1/seal", body: #"{"reason": "leak"}"#).status == 200)
            faults.failCommits(Faults.diskFull)
            #expect(try await service.act("/v1/unseal", body: #"{"reason": "over"}"#).problem == "audit-unavailable")
            #expect(try await service.sign(offer: "open").problem == "sealed")
            // As the service does each second: a refusal that is not on record shows nothing of the disk.
            try await service.committer.append([])
            #expect(try await service.act("/v1/unseal", body: #"{"reason": "over"}"#).status == 200)
            #expect(try await service.sign(offer: "open").status == 200)
        }
    }

    @Test func `is not refused because too many wait`() async throws {
        let faults = Faults()
        try await withService(maximumWaiting: 2, wrap: faults.wrap) { service async throws in
            faults.hold()
            try await withThrowingTaskGroup(of: Reply.self) { group in
                group.addTask { try await service.sign(offer: "open") }
                #expect(try await eventually { faults.isCommitting })
                for _ in 0..<2 { group.addTask { try await service.sign(offer: "open") } }
                #expect(try await eventually { service.committer.waiting == 2 })
                group.addTask { try await service.act("/v1/seal", body: #"{"reason": "flood"}"#) }
                #expect(try await eventually { service.committer.waiting == 3 })
                faults.release()
                for try await reply in group { #expect(reply.status == 200 || reply.problem == "sealed", "\(reply)") }
            }
            #expect(try service.entries("service.seal").count == 1)
        }
    }

    // MARK: - Other processes

    @Test func `the very next decision applies a seal of another process, and acknowledges it`() async throws {
        try await withService { service async throws in
            #expect(try await service.sign(offer: "open").status == 200)
            try service.sealFromElsewhere()
            #expect(!service.seal.isSealed, "the service has not looked yet")
            #expect(try await service.sign(offer: "open").problem == "sealed")
            let events = try service.entries().map(Tree.init).map(\.["ev"].text)
            #expect(events == ["sign.intent", "service.seal", "service.sealed"])
            #expect(try await service.act("/v1/unseal", body: #"{"reason": "over"}"#).status == 200)
            #expect(try await service.sign(offer: "open").status == 200)
        }
    }

    @Test func `a seal of another process is acknowledged behind the uses of keys that have begun`() async throws {
        try await withService { service async throws in
            let key = try KeyID("ACTIVE0001")
            let (hasBegun, mayEnd) = (Recorder(), Recorder())
            let keyUseGuard = service.committer.keyUseGuard
            async let use: Void = mayBlock {
                _ = keyUseGuard.use(key) {
                    hasBegun.add()
                    while mayEnd.count == 0 {}
                }
            }
            #expect(try await eventually { hasBegun.count == 1 })
            try service.sealFromElsewhere()
            async let reply = service.sign(offer: "open")
            #expect(try await eventually { keyUseGuard.stop(of: key) != nil })
            try await Task.sleep(for: .milliseconds(100))
            #expect(try service.entries("service.sealed").isEmpty, "the use has not ended")
            mayEnd.add()
            await use
            #expect(try await reply.problem == "sealed")
            #expect(try service.entries("service.sealed").count == 1)
        }
    }

    @Test func `a key is waited for alone, whatever other keys are used for`() async throws {
        let (keyUseGuard, hasBegun, mayEnd, hasWaited) = (KeyUseGuard(), Recorder(), Recorder(), Recorder())
        let (key, other) = (try KeyID("ACTIVE0001"), try KeyID("ACTIVE0002"))
        async let use: Void = mayBlock {
            _ = keyUseGuard.use(other) {
                hasBegun.add()
                while mayEnd.count == 0 {}
            }
        }
        #expect(try await eventually { hasBegun.count == 1 })
        async let wait: Void = mayBlock {
            keyUseGuard.waitUntilUnused(key)
            hasWaited.add()
        }
        #expect(try await eventually { hasWaited.count == 1 })
        mayEnd.add()
        await use
        await wait
    }

    @Test func `the very next decision signs nothing with a key that another process disables`() async throws {
        try await withService { service async throws in
            #expect(try await service.sign(offer: "open").status == 200)
            let keys = KeyDisabling(ledger: service.ledger, clock: service.clock.wallClock)
            try keys.set(try KeyID("ACTIVE0001"), isDisabled: true)
            #expect(try await service.sign(offer: "open").problem == "key-unavailable", "though no snapshot was made")
            #expect(service.committer.keyUseGuard.stored.keys == [try KeyID("ACTIVE0001"): true], "acknowledged")
            try keys.set(try KeyID("ACTIVE0001"), isDisabled: false)
            #expect(try await service.sign(offer: "open").status == 200)
        }
    }

    @Test func `a seal is noticed also where it has the place of an entry that was undone`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            #expect(try await service.sign(offer: "open").status == 200)
            faults.failCommits(Faults.diskFull)
            #expect(try await service.sign(offer: "open").problem == "audit-unavailable")
            // One entry was undone, and one is written by another process: as many as the writer thinks there are.
            try service.sealFromElsewhere()
            #expect(try await service.sign(offer: "open").problem == "sealed")
        }
    }

    // MARK: - What goes on

    @Test(arguments: Wire.ofRun)
    func `what signs nothing goes on`(wire: Wire) async throws {
        try await withService(wire) { service async throws in
            #expect(try await service.act("/v1/seal", body: #"{"reason": "leak"}"#).status == 200)
            let body = #"""
                {"bundleId": "com.example.app", "facts": {"subscribedBefore": true},
                 "offerIds": ["open"]}
                """#
            var eligibility = service.call(body)
            eligibility.path = "/v1/eligibility"
            let reply = try await service.send(eligibility)
            #expect(reply.status == 200, "\(reply)")
            var transfer = service.call(
                #"{"bundleId": "com.example.app", "from": {"anonymousId": "a"}, "to": {"customerId": "b"}}"#
            )
            transfer.path = "/v1/customers/transfers"
            #expect(try await service.send(transfer).status == 200)
            for path in ["/health/live", "/metrics", "/openapi.yaml"] {
                #expect(try await service.send(.get(path)).status == 200)
            }
            #expect(try await service.send(service.authorized(.get("/v1/keys"), as: "auditor")).status == 200)
        }
    }
}

extension TestService {
    /// Signatures that were made with the first key, delivered or not.
    var madeSignatures: Int {
        metrics[.signatures(key: "ACTIVE0001", form: "v1")] + metrics[.signatures(key: "ACTIVE0001", form: "jws")]
    }

    /// Seals as a command beside the service does.
    func sealFromElsewhere(_ cause: SealCause = .administrator) throws {
        try DatabaseSeal(ledger: ledger, clock: clock.wallClock).seal(cause, detail: "leak")
    }
}
