// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

@testable import Stores

/// `POST /v1/notifications/app-store`: what is taken, what is refused, and when it is answered.
@Suite(.overBothEngines) struct NotificationTests {
    @Test(arguments: Wire.allCases)
    func `is answered 200 once it is on record, the first time and each time after`(wire: Wire) async throws {
        try await withStoreService(wire) { world in
            let ids = try world.customer([.init(.expired)])
            let body = try world.store.signNotification(
                .init("EXPIRED", "VOLUNTARY", transactionID: ids.subscriptions[0].originalTransactionID)
            ).body
            for _ in 0..<3 {
                let reply = try await world.service.send(.notification(body))
                #expect(reply.status == 200 && reply.body.isEmpty, "\(reply)")
            }
            let entries = try world.service.entries("store.notification")
            #expect(entries.count == 1)
            #expect(entries.first?["type"] == .text("EXPIRED") && entries.first?["subtype"] == .text("VOLUNTARY"))
            #expect(entries.first?["env"] == .text("production"))
            let metrics = world.service.metrics
            #expect(metrics[.notifications(type: "EXPIRED", environment: "production", outcome: "recorded")] == 1)
            #expect(metrics[.notifications(type: "EXPIRED", environment: "production", outcome: "repeated")] == 2)
            #expect(try world.store.counts().toAPI == 0, "a notification causes no outgoing call")
        }
    }

    @Test func `at the same time ten times over is on record once`() async throws {
        try await withStoreService(.loopback) { world in
            let ids = try world.customer([.init(.active)])
            let body = try world.store.signNotification(
                .init("DID_RENEW", transactionID: ids.subscriptions[0].originalTransactionID)
            ).body
            let replies = try await world.service.send(Array(repeating: Call.notification(body), count: 10))
            #expect(replies.allSatisfy { $0.status == 200 }, "\(replies)")
            #expect(try world.service.entries("store.notification").count == 1)
        }
    }

    static let harmless: [FakeAppStore.Notification] = {
        var summary = FakeAppStore.Notification("RENEWAL_EXTENSION", "SUMMARY")
        summary.summary = [
            "requestIdentifier": "57246542-96fe-1a63-e053-0824d011072a", "environment": "Production",
            "appAppleId": 1_234_567_890, "bundleId": "com.example.app", "productId": "com.example.monthly",
            "succeededCount": 3, "failedCount": 0, "storefrontCountryCodes": ["USA"],
        ]
        var token = FakeAppStore.Notification("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED")
        token.externalPurchaseToken = [
            "externalPurchaseId": "b2158121-7af9-49d4-9561-1f588205523e", "tokenCreationDate": 1_698_148_950_000,
            "appAppleId": 1_234_567_890, "bundleId": "com.example.app",
        ]
        var app = FakeAppStore.Notification("RESCIND_CONSENT")
        app.appData = ["appAppleId": 1_234_567_890, "bundleId": "com.example.app", "environment": "Production"]
        var sandbox = FakeAppStore.Notification("TEST")
        sandbox.environment = .sandbox
        return [FakeAppStore.Notification("TEST"), sandbox, summary, token, app, .init("MUSIC", "LOUD")]
    }()

    @Test func `records tests, notifications of no customer and unknown types, and changes nothing else`()
        async throws
    {
        try await withStoreService { world in
            for notification in Self.harmless { try await world.deliver(notification) }
            let types = try world.service.entries("store.notification").compactMap(\.["type"].text)
            #expect(types == Self.harmless.map(\.type))
            let rows = try world.service.storeTables()
            #expect(rows.count == Self.harmless.count && rows.allSatisfy { $0.hasPrefix("notification ") }, "\(rows)")
            let metrics = world.service.metrics
            #expect(metrics[.notifications(type: "other", environment: "production", outcome: "recorded")] == 1)
            #expect(metrics[.notifications(type: "TEST", environment: "sandbox", outcome: "recorded")] == 1)
            let page = try MetricsPage(try await world.service.send(.get("/metrics")))
            #expect(!page.samples.keys.contains { $0.contains("MUSIC") })
        }
    }

    /// Wrong in ways that do not matter here: it may be old, since it may be late, and both environments are taken.
    private static let acceptable: Set<FakeAppStore.Fault> = [.signedLongAgo, .otherEnvironment]

    @Test func `is refused with every wrong chain, JWS and claim, and nothing is recorded or asked`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.active)])
            let id = ids.subscriptions[0].originalTransactionID
            let faults = FakeAppStore.Fault.allCases.filter { !$0.isAcceptable && !Self.acceptable.contains($0) }
            for fault in faults {
                // Keeps below the rate limit for unauthenticated traffic, which another test covers.
                world.service.clock.advance(seconds: 1)
                var notification = FakeAppStore.Notification("DID_RENEW", transactionID: id)
                notification.fault = fault
                let reply = try await world.send(notification)
                if fault == .oversized {
                    #expect(reply.problem == "malformed-json" || reply.status == 413, "\(fault): \(reply)")
                } else {
                    #expect(reply.problem == "invalid-signed-data" && reply.status == 400, "\(fault): \(reply)")
                    #expect(reply.pointers == ["/signedPayload"])
                }
            }
            #expect(try world.service.entries().isEmpty)
            #expect(try world.service.storeTables().isEmpty)
            #expect(try world.store.counts().toAPI == 0)
            let page = try MetricsPage(try await world.service.send(.get("/metrics")))
            let refused = page.samples.filter { $0.key.hasPrefix("offer_signer_notifications_refused_total") }
            #expect(refused.values.reduce(0, +) == Double(faults.count), "\(refused)")
        }
    }

    @Test func `is refused as a whole if the transaction or the renewal info in it is wrong`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.active)])
            let id = ids.subscriptions[0].originalTransactionID
            let faults: [FakeAppStore.Fault] = [.badSignature, .otherRoot, .xcode, .noSignedDate, .otherEnvironment]
            for fault in faults {
                world.service.clock.advance(seconds: 1)
                var notification = FakeAppStore.Notification("DID_RENEW", transactionID: id)
                notification.transactionFault = fault
                #expect(try await world.send(notification).problem == "invalid-signed-data", "\(fault)")
                // A renewal info of the other environment is left out.
                if fault == .otherEnvironment { continue }
                notification.transactionFault = nil
                notification.renewalInfoFault = fault
                #expect(try await world.send(notification).problem == "invalid-signed-data", "\(fault)")
            }
            var foreign = FakeAppStore.Notification("DID_RENEW", transactionID: id)
            foreign.transactionFault = .otherBundle
            #expect(try await world.send(foreign).problem == "invalid-signed-data")
            #expect(try world.service.storeTables().isEmpty)
            #expect(try world.service.entries().isEmpty)
        }
    }

    @Test func `says that a notification is of version 1, counts it and logs it once a minute`() async throws {
        try await withStoreService { world in
            for bundleID in ["com.example.app", "com.example.app", "com.attacker"] {
                let body = """
                    {"notification_type": "DID_RENEW", "bid": "\(bundleID)", "environment": "PROD", "password": "secret", \
                    "unified_receipt": {"latest_receipt": "x"}}
                    """
                let reply = try await world.service.send(.notification(body))
                #expect(reply.problem == "invalid-request" && reply.pointers == ["/signedPayload"], "\(reply)")
                #expect(reply.body.contains("version 1") && reply.body.contains("choose version 2"))
            }
            #expect(world.service.metrics[.notificationsRefused(reason: "version-1")] == 3)
            let lines = world.service.log.lines.filter { $0.contains("a notification was refused") }
            #expect(
                lines.count == 2 && lines.allSatisfy { $0.contains("DID_RENEW") && $0.contains("PROD") },
                "\(lines)"
            )
            #expect(!lines.contains { $0.contains("attacker") || $0.contains("secret") })
        }
    }

    @Test func `counts a body without a signed payload, and one that is no JSON`() async throws {
        try await withStoreService { world async throws in
            for body in ["{}", #"{"signedPayload": 7}"#, "no"] {
                #expect(try await world.service.send(.notification(body)).status == 400)
            }
            #expect(world.service.metrics[.notificationsRefused(reason: "no-signed-payload")] == 2)
            #expect(world.service.metrics[.notificationsRefused(reason: "body-not-json")] == 1)
        }
    }

    @Test func `logs of what it refuses the member, the app, the type and the environment`() async throws {
        try await withStoreService(environments: [.sandbox]) { world in
            let ids = try world.customer([.init(.active)])
            let id = ids.subscriptions[0].originalTransactionID
            #expect(try await world.send(.init("DID_RENEW", transactionID: id)).problem == "invalid-signed-data")
            let lines = world.service.log.lines.filter { $0.contains("a notification was refused") }
            let words = ["/data/environment", "com.example.app", "DID_RENEW", "Production", "environment-not-taken"]
            #expect(lines.count == 1 && words.allSatisfy { word in lines.allSatisfy { $0.contains(word) } }, "\(lines)")
        }
    }

    @Test func `counts without its renewal info if that is of another subscription`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.active)])
            let id = ids.subscriptions[0].originalTransactionID
            let mismatches: [FakeAppStore.Members] = [["originalTransactionId": "77"], ["environment": "Sandbox"]]
            for mismatch in mismatches {
                var notification = FakeAppStore.Notification("DID_RENEW", transactionID: id)
                notification.renewalInfo = mismatch
                try await world.deliver(notification)
            }
            #expect(try world.service.storeTables().count { $0.hasPrefix("transaction ") } == 1)
            let kept: StaticString = "SELECT record FROM subscription_records WHERE record LIKE '%renewal%'"
            #expect(try world.service.rows([kept]).isEmpty)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `is answered 503 while it can't be recorded, and taken when it comes again`(wire: Wire) async throws {
        let faults = Faults()
        try await withStoreService(wire, wrap: faults.wrap) { world in
            let body = try world.store.signNotification(.init("TEST")).body
            faults.failCommits(Faults.diskFull, Faults.ioFailure)
            for _ in 0..<2 {
                let reply = try await world.service.send(.notification(body))
                #expect(reply.status == 503 && reply.problem == "audit-unavailable", "\(reply)")
                #expect(try world.service.storeTables().isEmpty)
            }
            let failed = StoreMetric.notifications(type: "TEST", environment: "production", outcome: "failed")
            #expect(world.service.metrics[failed] == 2)
            #expect(try await world.service.send(.notification(body)).status == 200)
            #expect(try world.service.storeTables().count == 1)
        }
    }

    struct BodyRow: Sendable, CustomTestStringConvertible {
        let body: String
        let problem: String
        let pointers: [String]
        var testDescription: String { body }

        init(_ body: String, _ problem: String, _ pointers: [String] = []) {
            (self.body, self.problem, self.pointers) = (body, problem, pointers)
        }
    }

    static let bodies = [
        BodyRow("", "malformed-json", [""]), BodyRow("signedPayload", "malformed-json", [""]),
        BodyRow("[]", "invalid-request", [""]),
        BodyRow(#"{"unified_receipt": {}}"#, "invalid-request", ["/signedPayload"]),
        BodyRow(#"{"signedPayload": null}"#, "invalid-request", ["/signedPayload"]),
        BodyRow(#"{"signedPayload": 7}"#, "invalid-request", ["/signedPayload"]),
        BodyRow(#"{"signedPayload": ""}"#, "invalid-signed-data", ["/signedPayload"]),
        BodyRow(#"{"signedPayload": "a.b.c"}"#, "invalid-signed-data", ["/signedPayload"]),
    ]

    @Test(.overSQLite, arguments: bodies)
    func `is refused with a body that is none of Apple's`(row: BodyRow) async throws {
        try await withService { service in
            let reply = try await service.send(.notification(row.body))
            #expect(reply.status == 400 && reply.problem == row.problem, "\(reply)")
            #expect(reply.pointers == row.pointers)
        }
    }

    @Test func `is taken with members that Apple may add, and whatever the content type is`() async throws {
        try await withStoreService { world in
            let jws = try world.store.signNotification(.init("TEST")).jws
            var call = Call.notification(#"{"version": 3, "signedPayload": "\#(jws)", "more": {"a": [1, null]}}"#)
            call.fields = []
            #expect(try await world.service.send(call).status == 200)
            call.method = "GET"
            #expect(try await world.service.send(call).problem == "method-not-allowed")
        }
    }
}
