// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import TestSupport
import Testing

@testable import Stores

extension StoreService {
    /// The account that Ada's purchases are to name.
    static let adasToken = "5b0f5dd5-6d0b-4c6c-9f0c-2a7b9d1e0c11"

    /// A request to have the purchases of an original transaction name another account.
    func accountTokenCall(
        as caller: String = "backend",
        _ id: String,
        _ token: String = adasToken,
        customer: String = "ada",
        key: String? = nil
    ) -> Call {
        let call = accountTokenCall(
            as: caller,
            body: """
                {"bundleId": "com.example.app", "originalTransactionId": "\(id)", "appAccountToken": "\(token)", \
                "customerId": "\(customer)"}
                """
        )
        return key.map { call.with("Idempotency-Key", $0) } ?? call
    }

    func accountTokenCall(as caller: String = "backend", body: String) -> Call {
        var call = service.call(as: caller, body)
        call.path = "/v1/app-store/app-account-tokens"
        return call
    }

    /// Sends it, and demands that the token is set.
    func setAccountToken(_ id: String, _ token: String = adasToken, customer: String = "ada") async throws {
        let reply = try await service.send(accountTokenCall(id, token, customer: customer))
        #expect(reply.status == 200, "\(reply)")
    }

    /// How often the store was asked to set a token.
    func tokensAsked(in environment: FakeAppStore.Environment? = nil) throws -> Int {
        try store.counts().requests(to: .setAppAccountToken, in: environment)
    }
}

/// `POST /v1/app-store/app-account-tokens`.
@Suite(.overBothEngines) struct AppAccountTokenTests {
    @Test(arguments: Wire.allCases)
    func `a token is set, on record before and after, and the next transaction carries it`(wire: Wire) async throws {
        try await withStoreService(wire) { world in
            let ids = try world.customer([.init(.active, periods: 3)]).subscriptions[0]
            let call = world.accountTokenCall(ids.originalTransactionID, StoreService.adasToken.uppercased())
            let reply = try await world.service.send(call)
            #expect(reply.status == 200, "\(reply)")
            #expect(reply.json["environment"] == .text("production") && reply.json["isRepeated"] == .boolean(false))
            let request = try #require(try world.store.requests().last)
            #expect(request.method == "PUT" && request.endpoint == "setAppAccountToken")
            #expect(request.target == "/inApps/v1/transactions/\(ids.originalTransactionID)/appAccountToken")
            #expect(request.body == #"{"appAccountToken":"\#(StoreService.adasToken)"}"#)

            let (intent, outcome) = (
                try #require(world.service.entries("account.intent").first),
                try #require(world.service.entries("account.outcome").first)
            )
            #expect(intent["rid"] == outcome["rid"] && intent["chain"] == outcome["chain"])
            #expect(intent["bundle"] == .text("com.example.app") && intent["caller"] == .text("backend"))
            let pseudonyms = world.service.loaded.keys.pseudonyms
            let app = try AppName("com.example.app")
            let token = try #require(UniqueID(StoreService.adasToken))
            let users = [CustomerIdentity.customer(try CustomerID("ada")), .appAccountToken(token)]
                .map { String(decoding: pseudonyms.pseudonym(of: $0, in: app).recordText, as: UTF8.self) }
            #expect(intent["users"] == .array(users.map(Tree.text)))
            #expect(outcome["outcome"] == .text("set") && outcome["env"] == .text("production"))
            let entries = try world.service.entries()
            #expect(try await Python.canonicalJSON(of: entries) == entries)
            let order = entries.compactMap { entry in
                ["account.intent", "store.token", "account.outcome"].first { entry.contains("\"\($0)\"") }
            }
            #expect(order == ["account.intent", "store.token", "account.outcome"])

            // What the customer had bought before keeps its account; the app's signature for the new one is allowed.
            let latest = try world.store.signTransaction(ids.originalTransactionID, latest: true)
            #expect(try await ask(world, showing: latest, token: StoreService.adasToken).status == 200)
            #expect(try await ask(world, showing: latest, token: world.token).problem == "signed-data-of-other-account")
            let earlier = try world.store.signTransaction(ids.transactionIDs[0], latest: false)
            #expect(try await ask(world, showing: earlier, token: world.token).status == 200)
        }
    }

    /// Asks as an app for an original signature, which is bound to the token.
    private func ask(_ world: StoreService, showing jws: String, token: String) async throws -> Reply {
        let body = world.body("open", #""signedTransactions": ["\#(jws)"]"#).replacing(world.token, with: token)
        return try await world.service.send(world.service.call(as: "app", body))
    }

    /// Asks as a backend that knows the customer; the offer is given once.
    private func sign(_ world: StoreService, _ names: String) async throws -> Reply {
        try await world.sign("once_a_customer", #"\#(names), "facts": {"status": "active", "subscribedBefore": true}"#)
    }

    @Test func `renewals carry the token too`() async throws {
        try await withStoreService { world in
            let subscription = FakeAppStore.Subscription(.active, periods: 2, startedDaysAgo: 50)
            let ids = try world.customer([subscription]).subscriptions[0]
            try await world.setAccountToken(ids.originalTransactionID)
            var renewed = subscription
            renewed.periods = 3
            #expect(try world.customer([renewed]).subscriptions[0].transactionIDs.count == 3)
            let latest = try world.store.signTransaction(ids.originalTransactionID, latest: true)
            #expect(try await ask(world, showing: latest, token: StoreService.adasToken).status == 200)
        }
    }

    @Test func `caps count what the anonymous account was granted, under each of the customer's names`() async throws {
        for names in [
            #""customerId": "ada""#, #""appAccountToken": "\#(StoreService.adasToken)""#,
            #""customerId": "ada", "appAccountToken": "\#(StoreService.adasToken)""#,
        ] {
            try await withStoreService { world in
                let ids = try world.customer([.init(.active)]).subscriptions[0]
                // It names no transaction, so it counts for the account that the purchase names alone.
                let before = try await sign(world, #""appAccountToken": "\#(world.token)""#)
                #expect(before.status == 200, "\(before)")
                let history = try world.history(ids)
                #expect(try await world.service.send(world.transactionsCall(as: "backend", history)).status == 200)
                try await world.setAccountToken(ids.originalTransactionID)
                #expect(try await sign(world, names).problem == "not-eligible", "\(names)")
                let other = try await sign(world, #""customerId": "grace""#)
                #expect(other.status == 200, "\(other)")
            }
        }
    }

    @Test func `caps count what the customer was granted where the app shows the purchases`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            #expect(try await sign(world, #""customerId": "ada""#).status == 200)
            try await world.setAccountToken(ids.originalTransactionID)
            let latest = try world.store.signTransaction(ids.originalTransactionID, latest: true)
            let body = world.body("once_a_customer", #""signedTransactions": ["\#(latest)"]"#)
                .replacing(world.token, with: StoreService.adasToken)
            let reply = try await world.service.send(world.service.call(as: "app", body))
            #expect(reply.problem == "not-eligible", "\(reply)")
        }
    }

    @Test func `a copy that was signed before, and comes later, takes nothing back`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            let earlier = try world.history(ids)
            try await world.setAccountToken(ids.originalTransactionID)
            let before = try world.service.entries("subscription.transferred").count
            #expect(try await world.service.send(world.transactionsCall(as: "backend", earlier)).status == 200)
            let latest = try world.store.signTransaction(ids.originalTransactionID, latest: true)
            #expect(try await world.service.send(world.transactionsCall(as: "backend", [latest])).status == 200)
            #expect(try world.service.entries("subscription.transferred").count == before)
        }
    }

    // MARK: - The customer of the subscription

    @Test(arguments: Wire.ofRun)
    func `refuses what is on record as another customer's, and does not ask the store`(wire: Wire) async throws {
        try await withStoreService(wire) { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            let call = world.accountTokenCall(ids.originalTransactionID)
            for owner in [#""customerId": "grace""#, #""anonymousId": "device-1""#] {
                try await world.vouch(ids, owner)
                let reply = try await world.service.send(call)
                #expect(reply.status == 403 && reply.problem == "subscription-of-other-customer", "\(reply)")
                #expect(reply.pointers == ["/originalTransactionId"])
            }
            #expect(try world.tokensAsked() == 0)
            #expect(try world.service.entries("account.intent").isEmpty)
            try await world.service.transfer(from: "device-1", to: "ada")
            #expect(try await world.service.send(call).status == 200)
            // From then on it is Ada's.
            let graces = try await world.service.send(
                world.accountTokenCall(ids.originalTransactionID, customer: "grace")
            )
            #expect(graces.problem == "subscription-of-other-customer", "\(graces)")
        }
    }

    // MARK: - Where

    @Test func `asks production first, and only where the purchases are on record as made`() async throws {
        try await withStoreService { world in
            func tester(_ name: String) throws -> FakeAppStore.SubscriptionIDs {
                let customer = FakeAppStore.Customer(name, environment: .sandbox, subscriptions: [.init(.active)])
                return try world.store.setCustomer(customer).subscriptions[0]
            }
            let unknown = try await world.service.send(world.accountTokenCall(tester("ben").originalTransactionID))
            #expect(unknown.json["environment"] == .text("sandbox"), "\(unknown)")
            #expect(try world.tokensAsked(in: .production) == 1 && world.tokensAsked(in: .sandbox) == 1)
            let known = try tester("cleo")
            try await world.vouch(known, #""customerId": "cleo""#)
            try await world.setAccountToken(known.originalTransactionID, customer: "cleo")
            #expect(try world.tokensAsked(in: .production) == 1 && world.tokensAsked(in: .sandbox) == 2)
        }
    }

    @Test func `uses as much of Apple's limit as of other calls`() {
        #expect(AppStoreEndpoint.setAppAccountToken.perHour(in: .production) == 72_000)
        #expect(AppStoreEndpoint.setAppAccountToken.perHour(in: .sandbox) == 7200)
    }

    // MARK: - Again

    @Test func `is made once for an idempotency key, and may be sent again without one`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            let call = world.accountTokenCall(ids.originalTransactionID, key: "login-1")
            let first = try await world.service.send(call)
            #expect(first.json["isRepeated"] == .boolean(false), "\(first)")
            try await world.setAccountToken(ids.originalTransactionID, world.token)
            let repeated = try await world.service.send(call)
            #expect(repeated.body == first.body.replacing("false", with: "true"), "\(repeated)")
            #expect(try world.tokensAsked() == 2, "what was set since stays")
            let other = world.accountTokenCall(ids.originalTransactionID, world.token, key: "login-1")
            let reused = try await world.service.send(other)
            #expect(reused.status == 422 && reused.problem == "idempotency-key-reused", "\(reused)")
            let signature = try await world.service.send(
                world.service.call(as: "backend", world.body("open")).with("Idempotency-Key", "login-1")
            )
            #expect(signature.problem == "idempotency-key-reused", "\(signature)")
        }
    }

    @Test func `a key is not used up by a request that failed`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            let call = world.accountTokenCall(ids.originalTransactionID, key: "login-1")
            try world.store.misbehave(.status(500))
            #expect(try await world.service.send(call).problem == "change-unconfirmed")
            try world.store.behave()
            world.service.clock.advance(seconds: 120)
            #expect(try await world.service.send(call).json["isRepeated"] == .boolean(false))
            #expect(try await world.service.send(call).json["isRepeated"] == .boolean(true))
        }
    }
}
