// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

/// What is refused or fails when a token is to be set, and what is on record then.
@Suite struct AppAccountTokenTroubleTests {
    // MARK: - The request

    /// A request that is refused before the store is asked, and where the answer says what is wrong.
    struct Row: CustomTestStringConvertible, Sendable {
        let body: String
        var caller = "backend"
        let problem: String
        let pointers: [String]

        var testDescription: String { "\(caller) \(body)" }

        init(_ body: String = good, as caller: String = "backend", _ problem: String, at pointers: String...) {
            (self.body, self.caller, self.problem, self.pointers) = (body, caller, problem, pointers)
        }

        init(replacing old: String, with new: String, at pointers: String...) {
            (body, problem, self.pointers) = (Self.good.replacing(old, with: new), "invalid-request", pointers)
        }

        static let good = """
            {"bundleId": "com.example.app", "originalTransactionId": "310000000010000", \
            "appAccountToken": "\(StoreService.adasToken)", "customerId": "ada"}
            """
    }

    static let rows = [
        Row(as: "nobody", "unauthenticated"),
        Row(as: "app", "role-not-allowed"),
        Row(as: "auditor", "role-not-allowed"),
        Row(as: "admin", "role-not-allowed"),
        Row(
            Row.good.replacing("example.app", with: "example.other"),
            as: "scoped",
            "bundle-not-allowed",
            at: "/bundleId"
        ),
        Row(Row.good.replacing("example.app", with: "example.else"), "unknown-offer", at: "/bundleId"),
        Row("{", "malformed-json", at: ""),
        Row(
            "{}",
            "invalid-request",
            at: "/bundleId",
            "/originalTransactionId",
            "/appAccountToken",
            "/customerId"
        ),
        Row(replacing: StoreService.adasToken, with: "ada", at: "/appAccountToken"),
        Row(replacing: "310000000010000", with: "../31", at: "/originalTransactionId"),
        Row(replacing: #""customerId": "ada""#, with: #""anonymousId": "ada""#, at: "/customerId", "/anonymousId"),
        Row(replacing: #""ada""#, with: #""ada\u2063""#, at: "/customerId"),
    ]

    @Test(arguments: Wire.ofRun, rows)
    func `refuses what is not as it must be, and does not ask the store`(wire: Wire, row: Row) async throws {
        try await withStoreService(wire) { world in
            let reply = try await world.service.send(world.accountTokenCall(as: row.caller, body: row.body))
            #expect(reply.problem == row.problem, "\(reply)")
            #expect(reply.pointers == row.pointers, "\(reply)")
            #expect(try world.tokensAsked() == 0 && world.service.entries("account.intent").isEmpty)
        }
    }

    // MARK: - The store's own refusals

    @Test func `tells what Apple refuses at its member, with Apple's code`() async throws {
        try await withStoreService { world in
            let own = try world.customer([.init(.active, periods: 2)]).subscriptions[0]
            let family = FakeAppStore.Customer("ben", subscriptions: [.init(.familyShared)])
            let shared = try world.store.setCustomer(family).subscriptions[0]
            let rows = [
                (own.transactionIDs[1], 4_000_187, "request-refused"),
                (shared.originalTransactionID, 4_000_185, "request-refused"), ("77", 4_040_010, "not-found"),
            ]
            for (id, code, label) in rows {
                let reply = try await world.service.send(world.accountTokenCall(id))
                #expect(reply.status == 400 && reply.problem == "refused-by-store", "\(reply)")
                #expect(
                    reply.pointers == ["/originalTransactionId"] && reply.body.contains("code \(code): "),
                    "\(reply)"
                )
                let outcome = try #require(world.service.entries("account.outcome").last)
                #expect(outcome["outcome"] == .text(label) && outcome["code"] == .number(Double(code)), "\(outcome)")
            }
            try world.store.misbehave(.error(4_000_183))
            let reply = try await world.service.send(world.accountTokenCall(own.originalTransactionID))
            #expect(reply.problem == "refused-by-store" && reply.pointers == ["/appAccountToken"], "\(reply)")
            #expect(try world.service.links().isEmpty)
        }
    }

    // MARK: - Failures

    /// A way in which the store fails, and what the answer and the record say then.
    struct Trouble: CustomTestStringConvertible, Sendable {
        let misbehaviour: FakeAppStore.Misbehaviour
        let problem: String
        let outcome: String
        var leastSeconds = 1

        var testDescription: String { "\(misbehaviour.kind) \(outcome)" }

        init(_ misbehaviour: FakeAppStore.Misbehaviour, _ problem: String, _ outcome: String, seconds: Int = 1) {
            (self.misbehaviour, self.problem, self.outcome, leastSeconds) = (misbehaviour, problem, outcome, seconds)
        }
    }

    static let troubles = [
        Trouble(.hang, "change-unconfirmed", "unavailable"),
        Trouble(.close, "change-unconfirmed", "unavailable"),
        Trouble(.status(500), "change-unconfirmed", "unavailable"),
        Trouble(.status(503), "change-unconfirmed", "unavailable"),
        Trouble(.error(5_000_001), "change-unconfirmed", "unavailable"),
        Trouble(.status(302), "change-unconfirmed", "bad-answer"),
        Trouble(.status(404), "change-unconfirmed", "request-refused"),
        Trouble(.rateLimit(millisecondsFromNow: 90_000), "store-limit-reached", "rate-limited", seconds: 60),
        Trouble(.unauthorized, "store-refuses-service", "credentials-refused", seconds: 0),
        Trouble(.error(4_040_003), "store-refuses-service", "app-unknown", seconds: 0),
    ]

    @Test(arguments: Wire.ofRun, troubles)
    func `says that nothing is confirmed, has that on record, and recovers`(
        wire: Wire,
        trouble: Trouble
    ) async throws {
        try await withStoreService(wire) { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            try world.store.misbehave(trouble.misbehaviour)
            let call = world.accountTokenCall(ids.originalTransactionID)
            let reply = try await world.service.send(call)
            #expect(reply.problem == trouble.problem, "\(reply)")
            #expect(reply.status == (trouble.leastSeconds == 0 ? 500 : 503), "\(reply)")
            #expect((reply.headers["retry-after"].flatMap(Int.init) ?? 0) >= trouble.leastSeconds, "\(reply)")
            #expect(try world.service.entries("account.intent").count == 1)
            #expect(try world.service.entries("account.outcome").map { $0["outcome"].text } == [trouble.outcome])
            #expect(try world.service.links().isEmpty)
            let lines = world.service.log.lines.filter { $0.contains("did not set an app account token") }
            #expect(lines.count == 1 && !lines.joined().contains(ids.originalTransactionID), "\(lines)")
            try world.store.behave()
            world.service.clock.advance(seconds: 120)
            #expect(try await world.service.send(call).status == 200)
            #expect(try world.service.entries("account.outcome").last?["outcome"] == .text("set"))
        }
    }

    @Test func `is held back alone by the store's limit`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            try world.store.misbehave(.rateLimit(millisecondsFromNow: 90_000), at: .setAppAccountToken, times: 1)
            let call = world.accountTokenCall(ids.originalTransactionID)
            for _ in 0..<2 { #expect(try await world.service.send(call).problem == "store-limit-reached") }
            #expect(try world.tokensAsked() == 1, "the store is not asked before the time that Apple named")
            #expect(try await world.service.send(world.apiCall("running", ids.originalTransactionID)).status == 200)
        }
    }

    // MARK: - The record

    @Test func `the store is asked only once that is durable`() async throws {
        let faults = Faults()
        try await withStoreService(wrap: faults.wrap) { world async throws in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            let call = world.accountTokenCall(ids.originalTransactionID)
            faults.failCommits(Faults.diskFull)
            let refused = try await world.service.send(call)
            #expect(refused.status == 503 && refused.problem == "audit-unavailable", "\(refused)")
            #expect(try world.tokensAsked() == 0)
            faults.hold()
            async let reply = world.service.send(call)
            #expect(try await eventually { faults.isCommitting })
            #expect(try world.tokensAsked() == 0)
            faults.release()
            #expect(try await reply.status == 200)
        }
    }

    @Test func `an outcome that can't be recorded is not reported as done, and a retry repairs it`() async throws {
        let faults = Faults()
        try await withStoreService(wrap: faults.wrap) { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            let call = world.accountTokenCall(ids.originalTransactionID, key: "login-1")
            // The intent, and the use of the key.
            faults.passCommits(2)
            faults.failCommits(Faults.ioFailure)
            let reply = try await world.service.send(call)
            #expect(reply.status == 503 && reply.problem == "audit-unavailable", "\(reply)")
            #expect(try world.tokensAsked() == 1)
            #expect(try world.service.entries("account.intent").count == 1)
            #expect(try world.service.entries("account.outcome").isEmpty && world.service.links().isEmpty)
            #expect(try await world.service.send(call).json["isRepeated"] == .boolean(false))
            #expect(try world.service.entries("account.outcome").count == 1)
        }
    }

    @Test func `no store is asked without a key that may be used`() async throws {
        try await withStoreService(asksStore: false) { world async throws in
            #expect(try await world.service.send(world.accountTokenCall("77")).problem == "key-unavailable")
        }
        for (path, body, problem) in [
            ("/v1/keys/ACTIVE0001/disable", "", "key-unavailable"), ("/v1/seal", #"{"reason": "drill"}"#, "sealed"),
        ] {
            try await withStoreService { world in
                let ids = try world.customer([.init(.active)]).subscriptions[0]
                // The key has signed a token, which the store would take.
                #expect(try await world.service.send(world.apiCall("running", ids.originalTransactionID)).status == 200)
                var stop = Call(method: "POST", path: path, body: Array(body.utf8))
                if !body.isEmpty { stop = stop.with("Content-Type", "application/json") }
                #expect(try await world.service.send(world.service.authorized(stop, as: "admin")).status == 200)
                let reply = try await world.service.send(world.accountTokenCall(ids.originalTransactionID))
                #expect(reply.problem == problem, "\(reply)")
                #expect(try world.tokensAsked() == 0 && world.service.entries("account.intent").isEmpty)
            }
        }
    }
}
