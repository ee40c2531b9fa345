// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferDomain
import OfferService
import TestSupport
import Testing

/// `POST /v1/retention/app-store/{app}`: which requests are taken, and each of them once.
@Suite(.overBothEngines) struct RetentionRequestTests {
    /// Wrong in ways that do not matter here: a real-time request has no bundle id.
    private static let acceptable: Set<FakeAppStore.Fault> = [.otherBundle, .otherEnvironment]

    @Test func `refuses what Apple did not sign for this app, or not just now`() async throws {
        try await withRetention { world in
            let id = try world.subscriber()
            for fault in FakeAppStore.Fault.allCases where !fault.isAcceptable && !Self.acceptable.contains(fault) {
                world.service.clock.advance(seconds: 1)
                let reply = try await world.ask(about: id, fault: fault)
                if fault == .oversized {
                    #expect(reply.problem == "malformed-json" || reply.status == 413, "\(fault): \(reply)")
                } else {
                    #expect(reply.status == 400 && reply.problem == "invalid-signed-data", "\(fault): \(reply)")
                    #expect(reply.pointers == ["/signedPayload"])
                }
            }
            #expect(try world.service.entries().isEmpty)
            #expect(try world.store.counts().toAPI == 0)
        }
    }

    /// What a request says that is wrong, and why it is refused.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let members: FakeAppStore.Members
        let reason: String

        init(_ name: String, _ members: FakeAppStore.Members, _ reason: String) {
            (testDescription, self.members, self.reason) = (name, members, reason)
        }

        static func signed(secondsAgo: Int) -> FakeValue {
            .integer(Int(Date().timeIntervalSince1970 - Double(secondsAgo)) * 1000)
        }
    }

    static let rows = [
        Row("another app", ["appAppleId": 987_654_321], "other-app-apple-id"),
        Row("no app in production", ["appAppleId": .null], "member-missing"),
        Row("another app in the sandbox", ["appAppleId": 987_654_321, "environment": "Sandbox"], "other-app-apple-id"),
        Row("six minutes old", ["signedDate": Row.signed(secondsAgo: 360)], "too-old"),
        // The rows are made when the run begins, and each may be tried much later.
        Row("a day to come", ["signedDate": Row.signed(secondsAgo: -86_400)], "signed-in-future"),
        Row("a local test", ["environment": "LocalTesting"], "local-test-data"),
        Row("no request identifier", ["requestIdentifier": .null], "member-missing"),
        Row("an identifier that is none", ["requestIdentifier": "one"], "member-unfit"),
        Row("no product", ["productId": .null], "member-missing"),
        Row("no subscription", ["originalTransactionId": .null], "member-missing"),
    ]

    @Test(arguments: rows)
    func `refuses a request that is not for this app, or not as Apple makes it`(row: Row) async throws {
        try await withRetention { world in
            let reply = try await world.ask(about: try world.subscriber(), changing: row.members)
            #expect(reply.status == 400 && reply.problem == "invalid-signed-data", "\(reply)")
            #expect(world.count("refused", row.reason) == 1, "\(reply)")
            #expect(try world.service.entries().isEmpty)
        }
    }

    @Test func `takes the environments of the app alone, and in the sandbox a request that names no app`() async throws
    {
        try await withRetention(environments: [.sandbox]) { world in
            let id = try world.subscriber("bert", environment: .sandbox)
            for number: FakeValue in [.null, 0, 1_234_567_890] {
                let reply = try await world.ask(about: id, changing: ["appAppleId": number])
                #expect(reply.shown != nil, "\(number): \(reply)")
            }
            let reply = try await world.ask(about: id, changing: ["environment": "Production"])
            #expect(reply.problem == "invalid-signed-data")
            #expect(world.count("refused", "environment-not-taken") == 1)
        }
    }

    @Test func `is of apps that have retention alone, and needs a signed payload`() async throws {
        try await withRetention { world in
            let id = try world.subscriber()
            for app in ["com.example.other", "com.example.nobody", "COM.example.app"] {
                let reply = try await world.ask(about: id, app: app)
                #expect(reply.status == 404 && reply.problem == "not-configured", "\(app): \(reply)")
            }
            let bodies = [
                ("", "malformed-json"), ("[]", "invalid-request"), (#"{"signedPayload": 1}"#, "invalid-request"),
            ]
            for (body, problem) in bodies {
                #expect(try await world.service.send(.retention(body)).problem == problem, "\(body)")
            }
            let notification = try world.store.signNotification(.init("TEST")).body
            #expect(try await world.service.send(.retention(notification)).problem == "invalid-signed-data")
        }
    }

    // MARK: - Once

    @Test(arguments: Wire.allCases)
    func `a repetition gets the same bytes, also at the same time, and takes nothing more`(wire: Wire) async throws {
        try await withRetention(wire) { world in
            let (id, other) = (try world.subscriber(), try world.subscriber("bert"))
            let one = try world.store.signRealtimeRequest(id).body
            let replies = try await world.service.send(Array(repeating: Call.retention(one), count: 20))
            #expect(Set(replies.map(\.body)).count == 1 && replies[0].shown?.answer == "promotionalOffer")
            let identifier = "b7a1c1de-0000-4000-8000-00000000000c"
            let first = try await world.ask(about: id, changing: ["requestIdentifier": "\(identifier)"])
            #expect(first.shown?.answer == "alternateProduct", "the cap is reached")
            world.service.clock.advance(seconds: 100)
            let again = try await world.ask(
                about: id,
                changing: ["requestIdentifier": "\(identifier.uppercased())", "userLocale": "de-AT"]
            )
            #expect(again.body == first.body && world.count("repeated", "repeated") >= 1)
            let grants = Set(try world.service.entries("sign.intent").map(\.["grant"].text))
            #expect(grants.count == 1)
            let stranger = try await world.ask(about: other, changing: ["requestIdentifier": "\(identifier)"])
            #expect(stranger.shown != nil && stranger.body != first.body, "an identifier belongs to one subscription")
        }
    }

    @Test func `a repetition gets the same bytes after a restart`() async throws {
        let store = try FakeAppStore()
        defer { store.stop() }
        var files = TestFiles()
        files.offers = retentionOffers
        files.appStore = TestFiles.StorePlace(
            productionURL: store.apiOrigin(.production, .https),
            sandboxURL: store.apiOrigin(.sandbox, .https),
            rootsPath: store.rootPEMPath,
            trustedCertificatesPath: store.tlsCAPath
        )
        let place = try RunningPlace(files)
        let ahead = Int64(Date().timeIntervalSince1970) - place.clock.now.milliseconds / 1000
        place.clock.advance(seconds: Int(ahead))
        let subscription = FakeAppStore.Subscription(.active)
        let id = try store.setCustomer(FakeAppStore.Customer("anna", subscriptions: [subscription])).subscriptions[0]
            .originalTransactionID
        let calls = try [
            Call.retention(store.signRealtimeRequest(id).body), Call.retention(store.signRealtimeRequest(id).body),
        ]
        var answers: [[String]] = []
        for _ in 0..<2 {
            let service = try place.service { $0.retentionMilliseconds = 60_000 }
            try service.start()
            var bodies: [String] = []
            for call in calls { bodies.append(try await place.send(call, to: service).body) }
            answers.append(bodies)
            await mayBlock { service.stop() }
        }
        #expect(answers[0] == answers[1])
        #expect(answers[0][0].contains("promotionalOffer") && answers[0][1].contains("alternateProduct"), "\(answers)")
    }

    @Test(arguments: Wire.allCases)
    func `caps are exact under 200 requests at the same time`(wire: Wire) async throws {
        try await withRetention(wire) { world in
            let id = try world.subscriber()
            let calls = try (0..<200).map { number in
                let members: FakeAppStore.Members = [
                    "productId": "com.example.five", "originalTransactionId": "\(2_000_000_000_000 + number)",
                ]
                return Call.retention(try world.store.signRealtimeRequest(id, changing: members).body)
            }
            let replies = try await world.service.send(calls)
            #expect(replies.count { $0.shown?.answer == "promotionalOffer" } == 5)
            #expect(replies.count { $0.shown?.answer == "message" } == 195, "\(replies.first { $0.shown == nil })")
            #expect(try world.service.entries("sign.intent").count == 5)
        }
    }
}
