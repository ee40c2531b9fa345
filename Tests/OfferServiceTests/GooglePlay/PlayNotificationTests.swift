// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing

@testable import Ledger
@testable import Stores

/// `POST /v1/notifications/google-play`: what is taken, what is refused, and when it is answered.
@Suite(.overBothEngines) struct PlayNotificationTests {
    @Test(arguments: Wire.allCases)
    func `is acknowledged once what it led to is on record, the first time and each time after`(wire: Wire) async throws
    {
        try await withPlayService(wire) { world in
            try world.play.answer("token", PlaySample("ACTIVE") { $0.accountID = try? world.accountID("anna") })
            for _ in 0..<3 { try await world.deliver(PlayService.change(4, "token"), id: "17") }
            let entries = try world.service.entries("store.notification")
            #expect(entries.count == 1)
            #expect(entries.first?["type"] == .text("SUBSCRIPTION_PURCHASED"))
            #expect(entries.first?["package"] == .text(PlayService.packageName))
            #expect(entries.first?["bundle"] == .text("com.example.app"))
            #expect(entries.first?["notification"] == .text("17") && entries.first?["env"] == .text("production"))
            let metrics = world.service.metrics
            let type = "SUBSCRIPTION_PURCHASED"
            #expect(metrics[.notifications(type: type, environment: "production", outcome: "recorded")] == 1)
            #expect(metrics[.notifications(type: type, environment: "unknown", outcome: "repeated")] == 2)
            #expect(world.play.asked == ["token"], "a repetition costs no question")
            #expect(try world.tables().count { $0.hasPrefix("customer ") } == 1)
        }
    }

    @Test func `a flood of forgeries does not keep Google from being heard`() async throws {
        try await withPlayService(.loopback) { world in
            try world.play.answer("token", PlaySample("ACTIVE"))
            let genuine = PlayService.change(2, "token")
            for token in ["forged", nil] {
                let forgeries = Array(repeating: PlayService.push(genuine, id: "1", token: token), count: 100)
                let replies = try await world.service.send(forgeries)
                #expect(replies.allSatisfy { $0.status == 401 }, "each for what it is")
            }
            try await world.deliver(genuine, id: "17")
            #expect(try world.service.entries("store.notification").count == 1)
        }
    }

    @Test func `at the same time ten times over is on record once`() async throws {
        try await withPlayService(.loopback) { world in
            try world.play.answer("token", PlaySample("ACTIVE"))
            let call = PlayService.push(PlayService.change(2, "token"), id: "17")
            let replies = try await world.service.send(Array(repeating: call, count: 10))
            #expect(replies.allSatisfy { $0.status == 204 }, "\(replies)")
            #expect(try world.service.entries("store.notification").count == 1)
            #expect(try world.tables().count == 2)
        }
    }

    @Test func `follows the state and not the type`() async throws {
        try await withPlayService { world in
            // “Cancelled” may come when the subscription has expired already.
            try world.play.answer(
                "token",
                PlaySample(
                    "EXPIRED",
                    .init {
                        $0.expiresInDays = -1; $0.renews = false
                    }
                )
            )
            try await world.deliver(PlayService.change(3, "token"), id: "1")
            #expect(try world.facts("token").status?.value == .expired)
            try world.play.answer("token", PlaySample("ACTIVE"))
            world.service.clock.advance(seconds: 1)
            try await world.deliver(PlayService.change(13, "token"), id: "2")
            #expect(try world.facts("token").status?.value == .active)
        }
    }

    @Test func `keeps no token, and nothing that names a person`() async throws {
        try await withPlayService { world in
            let token = "24lowercase.AO-J1OsecretToken"
            try world.play.answer(
                token,
                PlaySample("ACTIVE") {
                    $0.linked = "older.AO-J1OsecretToken"
                    $0.profileID = "anna@example.com"
                    $0.more = #""subscribeWithGoogleInfo":{"emailAddress":"anna@example.com","givenName":"Anna"}"#
                }
            )
            try await world.deliver(PlayService.change(4, token), id: "1")
            let kept = try (world.tables() + world.service.entries()).joined() + world.service.log.lines.joined()
            for secret in ["secretToken", "anna", "Anna"] { #expect(!kept.contains(secret)) }
            #expect(try world.tables().count { $0.hasPrefix("customer ") } == 2, "the link to the older purchase")
        }
    }

    @Test func `queries the chain of purchases that a new one replaces, up to a limit`() async throws {
        try await withPlayService { world in
            for index in 0..<20 {
                try world.play.answer("t\(index)", PlaySample("ACTIVE") { $0.linked = "t\((index + 1) % 20)" })
            }
            try await world.deliver(PlayService.change(2, "t0"), id: "1")
            #expect(world.play.asked == ["t0"], "a renewal is in the same place as before")
            try await world.deliver(PlayService.change(4, "t0"), id: "2")
            #expect(world.play.asked.dropFirst() == ["t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8"])
            try world.play.answer("a", PlaySample("ACTIVE") { $0.linked = "b" })
            try world.play.answer("b", PlaySample("ACTIVE") { $0.linked = "a" })
            try await world.deliver(PlayService.change(4, "a"), id: "3")
            #expect(world.play.asked.suffix(2) == ["a", "b"])
            // A refused query for the earlier purchase does not affect the new one.
            try world.play.answer("c", PlaySample("ACTIVE") { $0.linked = "d" })
            world.play.answer("d", .failure(.requestRefused(status: 400, code: 0)))
            try await world.deliver(PlayService.change(4, "c"), id: "4")
            #expect(try world.facts("c").status?.value == .active)
        }
    }

    @Test func `remembers that the store has forgotten a purchase`() async throws {
        try await withPlayService { world in
            try world.play.answer(
                "token",
                PlaySample(
                    "EXPIRED",
                    .init {
                        $0.expiresInDays = -1; $0.renews = false
                    }
                )
            )
            try await world.deliver(PlayService.change(13, "token"), id: "1")
            world.service.clock.advance(days: 61)
            world.play.answer("token", .success(.gone(isSuperseded: false)))
            try await world.deliver(PlayService.change(12, "token"), id: "2")
            let facts = try world.facts("token")
            #expect(facts.status?.value == .revoked, "the last message reported that it was revoked")
            #expect(facts.expiresAt?.value == PlaySample.now.adding(days: -1))
            #expect(facts.subscribedBefore?.value == true)
        }
    }

    @Test func `takes a voided subscription for a refund, and leaves one-time purchases alone`() async throws {
        try await withPlayService { world in
            try world.play.answer("token", PlaySample("ACTIVE"))
            try await world.deliver(PlayService.voided("token", sentDaysAgo: 3), id: "1")
            try await world.deliver(PlayService.voided("token", sentDaysAgo: 3), id: "2")
            try await world.deliver(PlayService.voided("token", productType: 2, sentDaysAgo: 2), id: "3")
            let facts = try world.facts("token")
            #expect(facts.refundsSeen?.value == [Refund(at: PlaySample.now.adding(days: -3))])
            #expect(facts.refundsReportedSince?.value == PlaySample.now.adding(days: -3))
            #expect(world.play.asked == ["token", "token"])
        }
    }

    @Test func `keeps which offer an item took the place of, as no use of its own, and when a pause ends`() async throws
    {
        try await withPlayService { world in
            let item = PlaySample.Item {
                $0.expiresInDays = -1
                $0.more = #""itemReplacement":{"productId":"premium","basePlanId":"monthly","offerId":"winback-50"}"#
            }
            var sample = PlaySample("PAUSED", item) { $0.linked = "older" }
            sample.more = #""pausedStateContext":{"autoResumeTime":"2026-07-15T12:00:00Z"}"#
            try world.play.answer("token", sample)
            try await world.deliver(PlayService.change(10, "token"), id: "1")
            #expect(try world.redemptions().isEmpty)
            #expect(try world.facts("token").offersSeen?.value.map(\.offerID?.text) == ["winback-50"])
            world.service.clock.advance(days: 13)
            #expect(try world.facts("token").status?.value == .paused)
            world.service.clock.advance(days: 1)
            #expect(try world.facts("token").status == nil)
        }
    }

    @Test func `refunds are unknown unless messages cover each purchase from its start`() async throws {
        try await withPlayService { world in
            // Taken back 20 days ago, when the service received no messages.
            let left = PlaySample.Item {
                $0.expiresInDays = -20; $0.renews = false
            }
            try world.play.answer("left", PlaySample("EXPIRED", left))
            try world.play.answer(
                "again",
                PlaySample("ACTIVE") {
                    $0.startedDaysAgo = 1; $0.expired = "left"
                }
            )
            try await world.deliver(PlayService.change(4, "again", sentDaysAgo: 1), id: "1")
            let facts = try world.facts("again")
            #expect(facts.offersUsed?.value == [] && facts.offersUsed?.source == .notification)
            #expect(facts.refundedAt == nil && facts.refundsReportedSince == nil)
            try world.play.answer("old", PlaySample("ACTIVE"))
            try await world.deliver(PlayService.change(2, "old"), id: "2")
            #expect(try world.facts("old").refundedAt == nil)
            try await world.deliver(PlayService.change(4, "old", sentDaysAgo: 39), id: "3")
            #expect(try world.facts("old").refundedAt?.value == [], "the first message came late")
        }
    }

    /// The store's answers without purchase data.
    static let silences: [Result<GooglePlayPurchaseAnswer, StoreError>] = [
        .success(.notFound), .success(.gone(isSuperseded: false)), .failure(.notFound(code: 0)),
        .failure(.requestRefused(status: 400, code: 0)),
    ]

    @Test(arguments: silences)
    func `keeps that a purchase was taken back or refunded, whatever the store says of it`(
        answer: Result<GooglePlayPurchaseAnswer, StoreError>
    ) async throws {
        try await withPlayService { world in
            for token in ["revoked", "voided"] { world.play.answer(token, answer) }
            try await world.deliver(PlayService.change(12, "revoked", sentDaysAgo: 3), id: "1")
            try await world.deliver(PlayService.voided("voided", sentDaysAgo: 3), id: "2")
            #expect(try world.service.entries("store.notification").count == 2)
            #expect(try world.facts("revoked").status == nil, "the service never saw its state")
            for (index, token) in ["revoked", "voided"].enumerated() {
                try world.play.answer(token, PlaySample("ACTIVE"))
                world.service.clock.advance(seconds: 1)
                try await world.deliver(PlayService.change(2, token), id: "\(index + 3)")
                #expect(try world.facts(token).refundsSeen?.value == [Refund(at: PlaySample.now.adding(days: -3))])
            }
        }
    }

    @Test(arguments: silences)
    func `is revoked and won't renew after a revocation message, whatever the store answers`(
        answer: Result<GooglePlayPurchaseAnswer, StoreError>
    ) async throws {
        try await withPlayService { world in
            try world.play.answer("token", PlaySample("ACTIVE"))
            try await world.deliver(PlayService.change(4, "token"), id: "1")
            #expect(try world.facts("token").status?.value == .active)
            world.play.answer("token", answer)
            world.service.clock.advance(seconds: 60)
            try await world.deliver(PlayService.change(12, "token", sentDaysAgo: -1 / 1440), id: "2")
            try await world.deliver(PlayService.voided("token", sentDaysAgo: -1 / 1440), id: "3")
            #expect(try world.facts("token").status?.value == .revoked)
            #expect(try world.facts("token").autoRenews?.value == false)
        }
    }

    /// What changes nothing, and is on record all the same.
    @Test(
        .overSQLite,
        arguments: [
            ("TEST", #""testNotification":{"version":"1.0"}"#),
            (
                "ONE_TIME_PRODUCT",
                #""oneTimeProductNotification":{"notificationType":1,"purchaseToken":"t","sku":"coins"}"#
            ),
            ("PENDING_REFUND_REVIEW", #""pendingRefundReviewNotification":{}"#),
            ("OTHER", #""wonderNotification":{"version":"7"}"#), ("OTHER", #""note":1"#),
        ]
    )
    func `acknowledges and records what is of no subscription`(type: String, body: String) async throws {
        try await withPlayService { world in
            try await world.deliver(PlayService.notification(body), id: "1")
            #expect(try world.service.entries("store.notification").map { $0["type"].text } == [type])
            #expect(world.play.asked.isEmpty)
            #expect(try world.tables().count == 1)
        }
    }

    @Test func `handles an unknown notification type like any other`() async throws {
        try await withPlayService { world in
            try world.play.answer("token", PlaySample("ACTIVE"))
            try await world.deliver(PlayService.change(99, "token"), id: "1")
            #expect(try world.service.entries("store.notification").map { $0["type"].text } == ["SUBSCRIPTION_99"])
            let metrics = world.service.metrics
            #expect(metrics[.notifications(type: "other", environment: "production", outcome: "recorded")] == 1)
            #expect(try world.facts("token").status?.value == .active)
        }
    }

    // MARK: - What is refused

    @Test(arguments: [(nil, "authorization-missing"), ("forged", "signature-wrong"), ("", "signature-wrong")])
    func `refuses what Pub/Sub does not prove to send, and records nothing`(token: String?, label: String) async throws
    {
        try await withPlayService { world in
            try world.play.answer("token", PlaySample("ACTIVE"))
            let reply = try await world.service.send(
                PlayService.push(PlayService.change(4, "token"), id: "1", token: token)
            )
            #expect(reply.status == 401 && reply.problem == "push-unauthenticated", "\(reply)")
            #expect(try world.tables().isEmpty && world.service.entries().isEmpty && world.play.asked.isEmpty)
            #expect(world.service.metrics[.notificationsRefused(reason: label)] == 1)
        }
    }

    static let hopeless: [(name: String, label: String, call: Call)] = [
        ("no JSON", "malformed-message", PlayService.push(body: "{")),
        ("no message", "malformed-message", PlayService.push(body: #"{"subscription":"s"}"#)),
        ("no id", "malformed-message", PlayService.push(body: #"{"message":{"data":"e30="}}"#)),
        ("no data", "malformed-message", PlayService.push(body: #"{"message":{"messageId":"1"}}"#)),
        ("no base64", "malformed-message", PlayService.push(body: #"{"message":{"data":"e30","messageId":"1"}}"#)),
        (
            "an id with a space", "malformed-message",
            PlayService.push(body: #"{"message":{"data":"e30=","messageId":"1 2"}}"#)
        ),
        ("no package", "malformed-notification", PlayService.push("{}", id: "1")),
        ("no notification", "malformed-notification", PlayService.push("x", id: "1")),
        (
            "two notifications", "malformed-notification",
            PlayService.push(
                PlayService.notification(#""testNotification":{},"oneTimeProductNotification":{}"#),
                id: "1"
            )
        ),
        (
            "no token", "malformed-notification",
            PlayService.push(PlayService.notification(#""subscriptionNotification":{"notificationType":4}"#), id: "1")
        ),
        (
            "another app", "unknown-package",
            PlayService.push(PlayService.change(4, "token", package: "com.example.thief"), id: "1")
        ),
        (
            "a purchase that there is not", "purchase-not-found",
            PlayService.push(PlayService.change(4, "nothing"), id: "1")
        ),
        ("a purchase of another app", "purchase-refused", PlayService.push(PlayService.change(4, "foreign"), id: "1")),
    ]

    @Test func `acknowledges what can never be taken in, counts it, and records nothing`() async throws {
        for (name, label, call) in Self.hopeless {
            try await withPlayService { world in
                try world.play.answer("token", PlaySample("ACTIVE"))
                world.play.answer("foreign", .failure(.requestRefused(status: 400, code: 0)))
                let reply = try await world.service.send(call)
                #expect(reply.status == 204, "\(name): \(reply)")
                #expect(try world.tables().isEmpty && world.service.entries().isEmpty, "\(name)")
                #expect(world.service.metrics[.notificationsRefused(reason: label)] == 1, "\(name)")
            }
        }
    }

    @Test func `keeps what is relayed byte for byte, once, also of a purchase that there is not`() async throws {
        try await withPlayService { world in
            let current = world.service.current
            current.swap(Snapshot(current.value, relaying: [.googlePlay]))
            let calls = [
                PlayService.push(PlayService.change(4, "nothing"), id: "1"),
                PlayService.push(PlayService.notification(#""testNotification":{"version":"1.0"}"#), id: "2"),
            ]
            for call in calls + calls { #expect(try await world.service.send(call).status == 204) }
            let connection = try world.service.ledger.openPatiently()
            let bodies = try connection.all(SQL("SELECT body FROM relayed_notifications ORDER BY entry_index")) { row in
                row.blob(0)
            }
            #expect(bodies == calls.map(\.body))
        }
    }

    static let outages: [StoreError] = [
        .unavailable(retryAfter: nil), .rateLimited(retryAfter: nil),
        .budgetSpent(retryAfter: PlaySample.now.adding(seconds: 77)), .credentialsRefused, .appUnknown(code: 1),
        .badAnswer(reason: "odd"), .cannotSign(reason: "no key"), .requestRefused(status: 403, code: 0),
    ]

    @Test(.overSQLite, arguments: outages)
    func `leaves it to Pub/Sub to come again while the store can't be asked`(error: StoreError) async throws {
        try await withPlayService { world in
            world.play.answer("token", .failure(error))
            let call = PlayService.push(PlayService.change(4, "token"), id: "1")
            let reply = try await world.service.send(call)
            #expect(reply.status == 503 && reply.problem == "store-unavailable", "\(reply)")
            #expect(reply.headers["retry-after"] == (error.retryAfter == nil ? "5" : "77"))
            #expect(try world.tables().isEmpty && world.service.entries().isEmpty)
            try world.play.answer("token", PlaySample("ACTIVE"))
            #expect(try await world.service.send(call).status == 204)
            #expect(try world.service.entries("store.notification").count == 1)
        }
    }

    @Test func `does the same while its record can't be written, or Google's keys can't be read`() async throws {
        let faults = Faults()
        try await withPlayService(wrap: faults.wrap) { world in
            try world.play.answer("token", PlaySample("ACTIVE"))
            faults.failCommits(Faults.diskFull)
            let call = PlayService.push(PlayService.change(4, "token"), id: "1")
            let reply = try await world.service.send(call)
            #expect(reply.status == 503 && reply.problem == "audit-unavailable", "\(reply)")
            #expect(try world.tables().isEmpty)
            #expect(try await world.service.send(call).status == 204)
            let keyless = PlayService.push(PlayService.change(4, "token"), id: "2", token: "no-keys")
            #expect(try await world.service.send(keyless).problem == "store-unavailable")
        }
    }

    @Test func `a flood while Google's keys can't be read is one line of the log`() async throws {
        try await withPlayService { world in
            let keyless = PlayService.push(PlayService.change(4, "token"), id: "1", token: "no-keys")
            let replies = try await world.service.send(Array(repeating: keyless, count: 100))
            #expect(replies.allSatisfy { $0.status == 503 })
            #expect(world.service.log.warnedAnswers == 1)
        }
    }

    @Test func `answers 404 while Google Play is not configured`() async throws {
        try await withService { service in
            let reply = try await service.send(PlayService.push(PlayService.change(4, "token"), id: "1"))
            #expect(reply.status == 404 && reply.problem == "not-configured", "\(reply)")
        }
    }
}

extension PlayService {
    /// The facts about the customer of a purchase.
    func facts(_ token: String) throws -> CustomerFacts {
        let purchases = PurchaseTable(connection: try service.ledger.openForReading())
        let key = try place.keys.purchaseKey(of: PurchaseToken(token))
        let scope = GooglePlayScope(productID: try GooglePlayProductID("premium")) { _ in .promotional }
        return try purchases.history(of: [], purchases: [key]).facts(scope, at: service.clock.now)
    }
}
