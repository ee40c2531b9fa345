// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

private let anna = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"

extension TestService {
    /// The answer of `GET /v1/events`.
    func events(as caller: String = "backend", _ parameters: String = "") async throws -> Tree {
        let reply = try await get("/v1/events\(parameters)", as: caller)
        #expect(reply.status == 200, "\(reply)")
        return reply.json
    }

    /// The types of all events.
    func eventTypes(as caller: String = "backend") async throws -> [String] {
        try await events(as: caller)["events"].elements.compactMap(\.["type"].text)
    }
}

/// What backends are told of, and by which calls.
@Suite(.overBothEngines) struct EventsCallTests {
    @Test(.overSQLite, arguments: Wire.ofRun, ["/v1/events", "/v1/grants/019a8f11-0c40-7d0a-8f6e-3b1d5c7a9e42"])
    func `are for backends and for readers of records`(wire: Wire, path: String) async throws {
        try await withService(wire) { service in
            for caller in ["backend", "scoped", "auditor", "admin"] {
                let reply = try await service.get(path, as: caller)
                #expect(reply.status == (path == "/v1/events" ? 200 : 404), "\(caller): \(reply)")
            }
            #expect(try await service.get(path, as: "app").problem == "role-not-allowed")
            #expect(try await service.get(path, as: "nobody").problem == "unauthenticated")
        }
    }

    @Test(
        .overSQLite,
        arguments: [
            ("?after=x", "after"), ("?after=-1", "after"), ("?after=99", "after"), ("?limit=0", "limit"),
            ("?limit=501", "limit"), ("?types=offer.taken", "types"), ("?types=", "types"), ("?cursor=1", "cursor"),
        ]
    )
    func `refuses parameters that it does not know`(parameters: String, name: String) async throws {
        try await withService { service in
            let reply = try await service.get("/v1/events\(parameters)", as: "backend")
            let named = reply.json["errors"].elements.compactMap(\.["parameter"].text)
            #expect(reply.problem == "invalid-parameter" && named == [name], "\(reply)")
        }
    }

    @Test func `one grant is one event, however many signatures and retries it has`() async throws {
        try await withService { service in
            let both = #""formats": ["v1", "jws"]"#
            let call = service.call(offer: "open", both).with("Idempotency-Key", "key-1")
            let grant = try #require(try await service.send(call).json["grantId"].text)
            #expect(try await service.send(call).json["grantId"].text == grant)
            let events = try await service.events()["events"].elements
            #expect(events.count == 1 && events[0]["type"].text == "offer.granted", "\(events)")
            let data = events[0]["data"]
            #expect(data["grantId"].text == grant && data["index"].integer == 0 && data["offerId"].text == "store_open")
            #expect(data["app"].text == "com.example.app" && data["store"].text == "app-store")
            #expect(data["rule"].text == "open" && data["offerType"].text == "promotional")
            #expect(events[0]["id"].text?.hasPrefix("evt_0_") == true)
            #expect(try await service.events()["events"].elements == events, "an event never changes")
        }
    }

    @Test func `goes on where it was left, and says when there is no more`() async throws {
        try await withService { service in
            for _ in 0..<5 { #expect(try await service.sign(offer: "open").status == 200) }
            var (after, indices) = ("0", [Int64]())
            for _ in 0..<4 {
                let page = try await service.events("?limit=2&after=\(after)")
                indices += page["events"].elements.compactMap(\.["data"]["index"].integer)
                after = page["next"].text ?? ""
            }
            #expect(indices == [0, 1, 2, 3, 4] && after == "5")
            let end = try await service.events("?after=latest")
            #expect(end["next"].text == "5" && end["events"].elements.isEmpty && end["hasMore"] == .boolean(false))
            let none = try await service.events("?types=offer.redeemed,service.sealed")
            #expect(none["events"].elements.isEmpty && none["next"].text == "5")
        }
    }

    @Test func `a poll is no entry of the log`() async throws {
        try await withService { service in
            #expect(try await service.sign(offer: "open").status == 200)
            for _ in 0..<3 { _ = try await service.events() }
            _ = try await service.get("/v1/grants/019a8f11-0c40-7d0a-8f6e-3b1d5c7a9e42", as: "backend")
            #expect(try service.entries().count == 1)
        }
    }

    @Test func `a backend sees its own apps alone, and nothing of the service`() async throws {
        try await withService { service in
            let other = offerBody("open").replacing("com.example.app", with: "com.example.other")
            let foreign = try await service.send(service.call(other))
            let grant = try #require(foreign.json["grantId"].text, "\(foreign)")
            #expect(try await service.sign(offer: "open").status == 200)
            let disabled = Call(method: "POST", path: "/v1/keys/OTHER00001/disable")
            #expect(try await service.send(service.authorized(disabled, as: "admin")).status == 200)
            #expect(try await service.eventTypes() == ["offer.granted", "offer.granted", "key.disabled"])
            let seen = try await service.events(as: "scoped")["events"].elements
            #expect(seen.map(\.["data"]["app"].text) == ["com.example.app"])
            #expect(try await service.get("/v1/grants/\(grant)", as: "scoped").status == 404)
            #expect(try await service.get("/v1/grants/\(grant)", as: "backend").json["state"].text == "granted")
        }
    }

    @Test func `a seal and its end are events`() async throws {
        try await withService { service in
            for (path, body) in [("/v1/seal", #"{"reason": "drill"}"#), ("/v1/unseal", #"{"reason": "drill over"}"#)] {
                let call = Call(method: "POST", path: path, body: Array(body.utf8)).with(
                    "Content-Type",
                    "application/json"
                )
                #expect(try await service.send(service.authorized(call, as: "admin")).status == 200)
            }
            let events = try await service.events()["events"].elements
            #expect(events.map(\.["type"].text) == ["service.sealed", "service.unsealed"])
            #expect(events[0]["data"]["cause"].text == "administrator")
        }
    }
}

/// What becomes of a grant, as events and as its state.
@Suite(.overBothEngines) struct GrantStateTests {
    /// Grants `open` to Anna a day before now.
    private func grant(_ world: StoreService, hoursAgo: Int64 = 25) async throws -> String {
        world.service.clock.advance(milliseconds: -hoursAgo * 3_600_000)
        let body = """
            {"bundleId": "com.example.app", "productId": "com.example.monthly", "offerId": "open",
             "appAccountToken": "\(anna)", "facts": {"subscribedBefore": true}}
            """
        let reply = try await world.service.send(world.service.call(body))
        world.service.clock.advance(milliseconds: hoursAgo * 3_600_000)
        return try #require(reply.json["grantId"].text, "\(reply)")
    }

    private func bought(_ change: (inout FakeAppStore.Subscription) -> Void) -> FakeAppStore.Subscription {
        var subscription = FakeAppStore.Subscription(
            .active,
            originalTransactionID: "2000000000000071",
            periods: 1,
            startedDaysAgo: 1,
            offers: [.init(2, "store_open", period: 0)],
            allTransactions: ["appAccountToken": .text(anna)]
        )
        change(&subscription)
        return subscription
    }

    private struct Life: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let purchases: @Sendable (inout FakeAppStore.Subscription) -> Void
        let state: String
        let events: [String]
    }

    private static let lives = [
        Life(testDescription: "a use", purchases: { _ in }, state: "redeemed", events: ["offer.redeemed"]),
        Life(
            testDescription: "a use that was paid back tells of its start first",
            purchases: { ($0.state, $0.revokedDaysAgo) = (.refunded, 0.1) },
            state: "undone",
            events: ["offer.redeemed", "offer.undone"]
        ),
        Life(
            testDescription: "an end tells of its start first",
            purchases: { ($0.state, $0.startedDaysAgo, $0.periodDays) = (.expired, 1, 0.8) },
            state: "notConverted",
            events: ["offer.redeemed", "offer.not_converted"]
        ),
    ]

    @Test(arguments: lives)
    private func `follows what the store tells`(life: Life) async throws {
        try await withStoreService(asksStore: false) { world in
            let grant = try await grant(world)
            let subscription = bought(life.purchases)
            let ids = try world.store.setCustomer(FakeAppStore.Customer("anna", subscriptions: [subscription]))
            for subscription in ids.subscriptions {
                try await world.deliver(.init("SUBSCRIBED", transactionID: subscription.originalTransactionID))
            }
            let state = try await world.service.get("/v1/grants/\(grant)", as: "scoped").json
            #expect(state["state"].text == life.state && state["use"]["match"].text == "grant", "\(state)")
            #expect(state["use"]["environment"].text == "production")
            let events = try await world.service.events()["events"].elements.dropFirst()
            #expect(events.map(\.["type"].text) == life.events, "\(events)")
            #expect(events.allSatisfy { $0["data"]["grantId"].text == grant })
            #expect(Set(events.map(\.["id"].text)).count == events.count)
        }
    }

    @Test func `a use that nothing was granted for is one for the security team`() async throws {
        try await withStoreService(asksStore: false) { world in
            _ = try world.store.setCustomer(FakeAppStore.Customer("anna", subscriptions: [bought { _ in }]))
            try await world.deliver(.init("SUBSCRIBED", transactionID: "2000000000000071"))
            #expect(try await world.service.eventTypes() == ["offer.redeemed", "redemption.unmatched"])
        }
    }

    @Test func `an introductory offer is granted, and a denied one never was`() async throws {
        try await withService(.inProcess, .introductory) { service in
            let denied = #"{"type": "introductory", "subscriptionGroupId": "20001"}"#
            for (used, status, state) in [("", 200, "granted"), (denied, 404, nil)] as [(String, Int, String?)] {
                let facts = #""transactionId": "2000000123456789", "facts": {"offersUsed": [\#(used)]}"#
                let reply = try await service.send(service.introductoryCall(facts))
                let grant = try #require(reply.json["grantId"].text, "\(reply)")
                let found = try await service.get("/v1/grants/\(grant)", as: "backend")
                #expect(found.status == status && found.json["state"].text == state, "\(found)")
                #expect(found.json["offerType"].text == state.map { _ in "introductory" })
            }
            #expect(try await service.eventTypes() == ["offer.granted"])
        }
    }

    @Test func `a grant that nobody used in 72 hours is recorded once`() async throws {
        try await withStoreService(asksStore: false) { world in
            let unused = try await grant(world, hoursAgo: 80)
            let used = try await grant(world, hoursAgo: 26)
            _ = try world.store.setCustomer(FakeAppStore.Customer("anna", subscriptions: [bought { _ in }]))
            try await world.deliver(.init("SUBSCRIBED", transactionID: "2000000000000071"))
            let clock = world.service.clock.wallClock
            let recorder = UnredeemedRecorder(
                ledger: world.service.ledger,
                committer: world.service.committer,
                clock: clock,
                log: Log(level: .error, clock: clock)
            )
            for _ in 0..<2 { await mayBlock { recorder.look() } }
            let events = try await world.service.events("?types=grant.never_redeemed")["events"].elements
            #expect(events.map(\.["data"]["grantId"].text) == [unused], "\(events)")
            #expect(events.first?["data"]["offerId"].text == "store_open")
            world.service.clock.advance(milliseconds: 80 * 3_600_000)
            await mayBlock { recorder.look() }
            #expect(try await world.service.events("?types=grant.never_redeemed")["events"].elements.count == 1)
            #expect(try await world.service.get("/v1/grants/\(used)", as: "backend").json["state"].text == "redeemed")
        }
    }
}
