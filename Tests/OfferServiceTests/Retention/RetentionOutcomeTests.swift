// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import ServiceRuntime
import Storage
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService
@testable import Stores

/// What subscribers did after they were shown something, as metrics and reconciliation tell it.
@Suite(.overBothEngines) struct RetentionOutcomeTests {
    /// What becomes of one answer.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let type: String
        let subtype: String?
        /// After the answer.
        let hours: Int
        let outcome: RetentionOutcome.Outcome?

        init(_ name: String, _ type: String, _ subtype: String?, hours: Int, _ outcome: RetentionOutcome.Outcome?) {
            (testDescription, self.type, self.subtype) = (name, type, subtype)
            (self.hours, self.outcome) = (hours, outcome)
        }
    }

    static let rows = [
        Row("canceled", "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", hours: 23, .canceled),
        Row("canceled too late", "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", hours: 25, .kept),
        Row("renewal turned on", "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", hours: 23, nil),
        Row("another notification", "DID_RENEW", nil, hours: 25, .kept),
        Row("a notification that is too early", "DID_RENEW", nil, hours: 23, nil),
    ]

    @Test func `an answer of an instance that has not read the next secret is forgotten with its own`() async throws {
        try await withRetention { world in
            let outdated = world.service.current.value
            try world.service.beginSecretVersion("2")
            world.service.clock.advance(seconds: 60)
            let next = world.service.current.value
            world.service.current.swap(outdated)
            #expect(try await world.ask(about: try world.subscriber()).shown?.answer == "message")
            let answers: [StaticString] = ["SELECT answer FROM retention_answers"]
            #expect(try world.service.rows(answers) == ["message"])
            world.service.current.swap(next)
            try world.service.destroySecretVersion("1")
            #expect(try world.service.rows(answers).isEmpty)
        }
    }

    @Test(arguments: rows)
    func `an answer is settled by what the App Store tells in 24 hours`(row: Row) async throws {
        try await withRetention { world in
            let id = try world.subscriber()
            #expect(try await world.ask(about: id).shown?.answer == "promotionalOffer")
            world.service.clock.advance(seconds: row.hours * 3600)
            try await world.deliver(world.notification(row.type, row.subtype, id))
            world.service.clock.advance(seconds: (26 - row.hours) * 3600)
            await world.settle()
            for outcome in [RetentionOutcome.Outcome.kept, .canceled] {
                #expect(world.outcomes("promotionalOffer", "once", outcome) == (row.outcome == outcome ? 1 : 0))
            }
            await world.settle()
            let found = try await world.service.get("/v1/audit/reconciliation", as: "auditor").json["retention"]
            #expect(found.elements.count == 1)
            let first = try #require(found.elements.first)
            #expect(first["answer"] == .text("promotionalOffer") && first["rule"] == .text("once"))
            #expect(first["shown"].integer == 1)
            #expect(first["kept"].integer == (row.outcome == .kept ? 1 : 0))
            #expect(first["canceled"].integer == (row.outcome == .canceled ? 1 : 0))
        }
    }

    @Test func `each answer of a subscriber counts once, whatever it was, and others' do not`() async throws {
        try await withRetention { world in
            let (id, other) = (try world.subscriber(), try world.subscriber("bert"))
            let same: FakeAppStore.Members = ["requestIdentifier": "b7a1c1de-0000-4000-8000-00000000000f"]
            for _ in 0..<2 { #expect(try await world.ask(about: id, changing: same).shown != nil) }
            #expect(try await world.ask(about: id).shown?.answer == "alternateProduct")
            let weekly: FakeAppStore.Members = ["productId": "com.example.weekly"]
            #expect(try await world.ask(about: id, changing: weekly).shown?.answer == "message")
            #expect(try await world.ask(about: other).shown?.answer == "promotionalOffer")
            for _ in 0..<2 {
                let canceled = world.notification("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", id)
                try await world.deliver(canceled)
            }
            for (answer, offer) in [("promotionalOffer", "once"), ("alternateProduct", ""), ("message", "")] {
                #expect(world.outcomes(answer, offer, .canceled) == 1, "\(answer)")
            }
            world.service.clock.advance(seconds: 25 * 3600)
            try await world.deliver(world.notification("DID_RENEW", nil, other))
            await world.settle()
            #expect(world.outcomes("promotionalOffer", "once", .kept) == 1)
        }
    }

    @Test func `a redeemed offer is counted beside what was shown, and all is forgotten after 30 days`() async throws {
        try await withRetention { world in
            let id = try world.subscriber()
            #expect(try await world.ask(about: id).shown?.answer == "promotionalOffer")
            world.service.clock.advance(seconds: 60)
            var notification = world.notification("OFFER_REDEEMED", nil, id)
            notification.transaction = [
                "transactionId": .text("\(id)9"), "offerType": 2, "offerIdentifier": "store_once",
                "purchaseDate": .integer(Int(world.service.clock.now.milliseconds - 30_000)),
            ]
            try await world.deliver(notification)
            let path = "/v1/audit/reconciliation"
            let found = try await world.service.get(path, as: "auditor").json["retention"].elements
            #expect(found.map(\.["redeemed"].integer) == [1] && found.map(\.["shown"].integer) == [1])
            let sandbox = try await world.service.get(path + "?environment=sandbox", as: "auditor")
            #expect(sandbox.json["retention"].elements.isEmpty)
            world.service.clock.advance(seconds: 31 * 86_400)
            await world.settle()
            let rows = try world.service.ledger.openForReading()
                .all(SQL("SELECT outcome FROM retention_answers")) { $0.optionalText(0) }
            #expect(rows.isEmpty)
            #expect(world.outcomes("promotionalOffer", "once", .kept) == 0, "no outcome after the first day")
        }
    }

    @Test func `the message counts that was sent in place of an offer`() async throws {
        let (faults, deadline) = (Faults(), Deadline())
        try await withRetention(changing: { $0.retentionPause = deadline.pause }, wrap: faults.wrap) { world in
            let id = try world.subscriber()
            faults.hold(after: 2)
            async let first = world.ask(about: id)
            #expect(try await eventually { faults.isCommitting })
            deadline.pass()
            let reply = try await first
            faults.release()
            #expect(try await eventually { try world.keeps(reply) })
            try await world.deliver(world.notification("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", id))
            #expect(world.outcomes("message", "", .canceled) == 1)
            #expect(world.outcomes("promotionalOffer", "once", .canceled) == 0)
        }
    }
}

extension StoreService {
    /// A notification that the App Store signs at the time of the service.
    fileprivate func notification(_ type: String, _ subtype: String?, _ id: String) -> FakeAppStore.Notification {
        var notification = FakeAppStore.Notification(type, subtype, transactionID: id)
        notification.signedDate = Int(service.clock.now.milliseconds)
        return notification
    }

    /// Does what the service does every five minutes.
    fileprivate func settle() async {
        let clock = service.clock.wallClock
        let recorder = UnredeemedRecorder(
            ledger: service.ledger,
            committer: service.committer,
            clock: clock,
            log: Log(level: .error, clock: clock)
        )
        await mayBlock { recorder.look() }
    }

    fileprivate func outcomes(_ answer: String, _ offer: String, _ outcome: RetentionOutcome.Outcome) -> Int {
        let found = RetentionOutcome(environment: "production", answer: answer, offer: offer, outcome: outcome)
        return service.metrics[.retentionOutcomes(found)]
    }
}
