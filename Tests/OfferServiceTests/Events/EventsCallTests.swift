// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import ServiceRuntime
import Storage
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService

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

/// Which events backends can read, and by which calls.
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
            ("?after=1-0000000000000000", "after"), ("?after=0-0000000000000000", "after"), ("?after=0-", "after"),
            ("?after=0-00000000000000000", "after"), ("?after=0-000000000000000G", "after"), ("?after=-", "after"),
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
            #expect(indices == [0, 1, 2, 3, 4])
            let last = try await service.events("?after=4")["events"][0]["id"].text ?? ""
            let end = "5-\(last.dropFirst(6))"
            #expect(last.hasPrefix("evt_4_") && after == end, "a part of the last entry's hash")
            let latest = try await service.events("?after=latest")
            #expect(latest["next"].text == end && latest["events"].elements.isEmpty)
            #expect(latest["hasMore"] == .boolean(false))
            let none = try await service.events("?types=offer.redeemed,service.sealed")
            #expect(none["events"].elements.isEmpty && none["next"].text == end)
        }
    }

    @Test func `does not go on in another log, such as after a backup was restored`() async throws {
        try await withService { service in
            for _ in 0..<2 { #expect(try await service.sign(offer: "open").status == 200) }
            let next = try #require(try await service.events("?limit=1")["next"].text)
            let wrong = String(next.dropLast()) + (next.hasSuffix("0") ? "1" : "0")
            let rows: [(after: String, indices: [Int64]?)] = [
                (next, [1]), ("1", [1]), (wrong, nil), ("3", nil), ("2" + next.dropFirst(), nil), ("0", [0, 1]),
            ]
            for (after, indices) in rows {
                let reply = try await service.get("/v1/events?after=\(after)", as: "backend")
                let found = reply.json["events"].elements.compactMap(\.["data"]["index"].integer)
                #expect(reply.status == (indices == nil ? 400 : 200) && found == indices ?? [], "\(after): \(reply)")
                let detail = reply.json["errors"][0]["detail"].text
                #expect(indices != nil || detail?.contains("of another log") == true, "\(reply)")
            }
        }
    }

    @Test(.overSQLite, arguments: ["/v1/events", "/v1/grants/019a8f11-0c40-7d0a-8f6e-3b1d5c7a9e42"])
    func `are held to the rate that a caller was added with`(path: String) async throws {
        try await withService { service in
            let id = try #require(CallerID("slow"))
            let caller = Caller(id: id, role: .backend, apps: [], rate: RateLimit("2/min:2"))
            let callers = Callers(ledger: service.ledger, clock: service.clock.wallClock)
            let key = try callers.add(caller, expiresInDays: nil).get()
            try service.refresh()
            let call = Call.get(path).with("Authorization", "Bearer \(key.credential)")
            var replies: [Reply] = []
            for _ in 0..<3 { replies.append(try await service.send(call)) }
            #expect(replies.map { $0.status == 429 } == [false, false, true], "\(replies)")
            #expect(replies[2].problem == "rate-limited")
            for _ in 0..<3 { #expect(try await service.get(path, as: "backend").status != 429) }
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

/// Grants `open` to Anna before now.
private func grantToAnna(_ world: StoreService, hoursAgo: Int64 = 25) async throws -> String {
    world.service.clock.advance(milliseconds: -hoursAgo * 3_600_000)
    let body = """
        {"bundleId": "com.example.app", "productId": "com.example.monthly", "offerId": "open",
         "appAccountToken": "\(anna)", "facts": {"subscribedBefore": true}}
        """
    let reply = try await world.service.send(world.service.call(body))
    world.service.clock.advance(milliseconds: hoursAgo * 3_600_000)
    return try #require(reply.json["grantId"].text, "\(reply)")
}

/// Anna's subscription, with the offer.
private func purchase(_ change: (inout FakeAppStore.Subscription) -> Void = { _ in }) -> FakeAppStore.Subscription {
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

/// What becomes of a grant, as events and as its state.
@Suite(.overBothEngines) struct GrantStateTests {
    private struct Life: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let purchases: @Sendable (inout FakeAppStore.Subscription) -> Void
        let state: String
        let events: [String]
        /// What was paid back without undoing the use, in percent.
        var refundedPercentage: Double?
    }

    private static let lives = [
        Life(testDescription: "a use", purchases: { _ in }, state: "redeemed", events: ["offer.redeemed"]),
        Life(
            testDescription: "a refunded use reports its start first",
            purchases: { ($0.state, $0.revokedDaysAgo) = (.refunded, 0.1) },
            state: "undone",
            events: ["offer.redeemed", "offer.undone"]
        ),
        Life(
            testDescription: "a partly refunded use stays one",
            purchases: {
                ($0.state, $0.revokedDaysAgo) = (.refunded, 0.1)
                $0.latestTransaction = ["revocationType": "REFUND_PRORATED", "revocationPercentage": 33_333]
            },
            state: "notConverted",
            events: ["offer.redeemed", "offer.not_converted", "offer.refunded"],
            refundedPercentage: 33.333
        ),
        Life(
            testDescription: "full price that was paid back stays a conversion",
            purchases: {
                ($0.periods, $0.periodDays) = (2, 0.5)
                ($0.state, $0.revokedDaysAgo) = (.refunded, 0.1)
            },
            state: "converted",
            events: ["offer.redeemed", "offer.converted", "offer.refunded"],
            refundedPercentage: 100
        ),
        Life(
            testDescription: "an end reports its start first",
            purchases: { ($0.state, $0.startedDaysAgo, $0.periodDays) = (.expired, 1, 0.8) },
            state: "notConverted",
            events: ["offer.redeemed", "offer.not_converted"]
        ),
        Life(
            testDescription: "an offer of the next renewal is pending",
            purchases: {
                ($0.offers, $0.renewalInfo) = ([], ["offerType": 2, "offerIdentifier": "store_open"])
            },
            state: "pending",
            events: ["offer.pending"]
        ),
    ]

    @Test(arguments: lives)
    private func `follows what the store tells`(life: Life) async throws {
        try await withStoreService(asksStore: false) { world in
            let grant = try await grantToAnna(world)
            let subscription = purchase(life.purchases)
            if subscription.periods > 1 {
                // Of the first period the store tells when it begins.
                let first = purchase { ($0.periods, $0.periodDays) = (1, subscription.periodDays) }
                let ids = try world.store.setCustomer(FakeAppStore.Customer("anna", subscriptions: [first]))
                try await world.deliver(.init("SUBSCRIBED", transactionID: ids.subscriptions[0].originalTransactionID))
            }
            let ids = try world.store.setCustomer(FakeAppStore.Customer("anna", subscriptions: [subscription]))
            for subscription in ids.subscriptions {
                try await world.deliver(.init("SUBSCRIBED", transactionID: subscription.originalTransactionID))
            }
            let state = try await world.service.get("/v1/grants/\(grant)", as: "scoped").json
            #expect(state["state"].text == life.state && state["use"]["match"].text == "grant", "\(state)")
            #expect(state["use"]["environment"].text == "production")
            #expect(state["use"]["refundedPercentage"].double == life.refundedPercentage)
            #expect((state["use"]["refundedAt"].text != nil) == (life.refundedPercentage != nil))
            let events = try await world.service.events()["events"].elements.dropFirst()
            #expect(events.map(\.["type"].text) == life.events, "\(events)")
            #expect(events.allSatisfy { $0["data"]["grantId"].text == grant })
            #expect(Set(events.map(\.["id"].text)).count == events.count)
            for event in events {
                let times = ["pendingSince", "redeemedAt"].map { event["data"][$0].text != nil }
                let isPending = event["type"].text == "offer.pending"
                #expect(times == [isPending, !isPending], "\(event)")
            }
        }
    }

    @Test func `a use that nothing was granted for is one for the security team`() async throws {
        try await withStoreService(asksStore: false) { world in
            _ = try world.store.setCustomer(FakeAppStore.Customer("anna", subscriptions: [purchase()]))
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

    @Test func `a search that is too long says nothing of the grant`() async throws {
        try await withService(.inProcess, .introductory) { service in
            let facts = #""transactionId": "2000000123456789", "facts": {"offersUsed": []}"#
            let reply = try await service.send(service.introductoryCall(facts))
            let grant = try #require(reply.json["grantId"].text.flatMap { UniqueID($0) }, "\(reply)")
            let connection = try service.ledger.openForReading()
            var found: [String] = []
            for steps in [1, AuditSearch.standardSteps] {
                let search = try AuditSearch(connection: connection, steps: steps)
                switch try GrantReader(connection: connection, search: search).grant(grant) {
                case .found: found.append("found")
                case .unknown: found.append("unknown")
                case .unfinished: found.append("unfinished")
                }
            }
            #expect(found == ["unfinished", "found"])
        }
    }
}

/// Which grants are taken for never redeemed, and when that is recorded.
@Suite(.overBothEngines) struct UnredeemedGrantTests {
    private static let hour: Int64 = 3_600_000

    private func recorder(_ world: StoreService) -> UnredeemedRecorder {
        let clock = world.service.clock.wallClock
        return UnredeemedRecorder(
            ledger: world.service.ledger,
            committer: world.service.committer,
            clock: clock,
            log: Log(level: .error, clock: clock)
        )
    }

    /// The grants that were recorded as never redeemed.
    private func unredeemed(_ world: StoreService) async throws -> [String?] {
        try await world.service.events("?types=grant.never_redeemed&limit=500")["events"].elements
            .map(\.["data"]["grantId"].text)
    }

    /// Makes the app's first store notification 200 hours older.
    private func backdateFirstReport(_ world: StoreService) throws {
        try world.service.change("UPDATE notified_apps SET first_report_at = first_report_at - 200 * 3600000")
    }

    @Test func `a grant that is not redeemed within 72 hours is recorded once`() async throws {
        try await withStoreService(asksStore: false) { world in
            let unused = try await grantToAnna(world, hoursAgo: 80)
            let used = try await grantToAnna(world, hoursAgo: 26)
            _ = try world.store.setCustomer(FakeAppStore.Customer("anna", subscriptions: [purchase()]))
            try await world.deliver(.init("SUBSCRIBED", transactionID: "2000000000000071"))
            let recorder = recorder(world)
            await mayBlock { recorder.look() }
            #expect(try await unredeemed(world) == [], "redemptions before the first store notification are unknown")
            try backdateFirstReport(world)
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
    @Test func `a use that is only pending is none yet`() async throws {
        try await withStoreService(asksStore: false) { world in
            let pending = try await grantToAnna(world, hoursAgo: 80)
            let next = purchase {
                ($0.offers, $0.renewalInfo) = ([], ["offerType": 2, "offerIdentifier": "store_open"])
            }
            _ = try world.store.setCustomer(FakeAppStore.Customer("anna", subscriptions: [next]))
            try await world.deliver(.init("DID_CHANGE_RENEWAL_PREF", transactionID: "2000000000000071"))
            let state = try await world.service.get("/v1/grants/\(pending)", as: "backend").json
            #expect(state["state"].text == "pending" && state["use"]["match"].text == "grant", "\(state)")
            try backdateFirstReport(world)
            let recorder = recorder(world)
            await mayBlock { recorder.look() }
            #expect(try await unredeemed(world) == [pending])
        }
    }

    @Test(arguments: ["pending", "redeemed"])
    func `the same holds of Google Play`(state: String) async throws {
        try await withStoreService(asksStore: false) { world in
            let grant = try await grantToAnna(world, hoursAgo: 80)
            let id = try #require(UniqueID(grant))
            _ = try world.service.ledger.openPatiently().run(
                SQL(
                    """
                    INSERT INTO redemptions (subscription, first_transaction, product_id, base_plan_id, offer_id, store,
                        offer_key, state, redeemed_at, grant_id, store_app, environment, matched_as)
                    VALUES (?, x'', 'p', 'b', 'o', 'google-play', 1, ?, 1, ?, 'com.example', 'production', 'grant')
                    """,
                    .blob([1]),
                    .text(state),
                    .blob(id.bytes)
                )
            )
            try await world.deliver(.init("TEST"))
            try backdateFirstReport(world)
            let recorder = recorder(world)
            await mayBlock { recorder.look() }
            #expect(try await unredeemed(world) == (state == "pending" ? [grant] : []))
        }
    }

    @Test func `a grant forgotten with its secret version is not recorded as never redeemed`() async throws {
        try await withStoreService(asksStore: false) { world in
            world.service.clock.advance(milliseconds: -100 * Self.hour)
            try world.service.beginSecretVersion("2")
            world.service.clock.advance(milliseconds: 100 * Self.hour)
            let grants = [try await grantToAnna(world, hoursAgo: 80), try await grantToAnna(world, hoursAgo: 2)]
            try await world.deliver(.init("TEST"))
            try backdateFirstReport(world)
            func statuses() async throws -> [Int] {
                var statuses: [Int] = []
                for grant in grants {
                    statuses.append(try await world.service.get("/v1/grants/\(grant)", as: "backend").status)
                }
                return statuses
            }
            func neverRedeemed() async throws -> [Int64?] {
                let report = try await world.service.reconciliation()
                return [report["neverRedeemed"]["count"].integer, report["apps"][0]["neverRedeemed"].integer]
            }
            #expect(try await statuses() == [200, 200])
            #expect(try await neverRedeemed() == [1, 1])
            try world.service.destroySecretVersion("1")
            #expect(try await neverRedeemed() == [0, 0])
            let recorder = recorder(world)
            await mayBlock { recorder.look() }
            #expect(try await unredeemed(world) == [])
            #expect(try await statuses() == [404, 200], "and not granted")
        }
    }

    @Test(.overSQLite) func `a backlog is recorded whole, with rests, and keeps no end waiting`() async throws {
        try await withStoreService(asksStore: false) { world in
            for _ in 0..<129 { _ = try await grantToAnna(world, hoursAgo: 80) }
            try await world.deliver(.init("TEST"))
            try backdateFirstReport(world)
            let recorder = recorder(world)
            let time = await mayBlock { ContinuousClock().measure { recorder.look() } }
            #expect(try await unredeemed(world).count == 129)
            #expect(time >= .milliseconds(100), "two rests between three batches")
            let end = await mayBlock {
                recorder.start()
                return ContinuousClock().measure { recorder.stop() }
            }
            #expect(end < .seconds(60))
        }
    }
}
