// SPDX-License-Identifier: Apache-2.0
import OfferService
import TestSupport
import Testing

extension StoreService {
    /// A request to take signed transactions; `members` are those beside bundle id and transactions, without braces.
    func transactionsCall(as caller: String, _ transactions: [String], _ members: String = "") -> Call {
        let more = members.isEmpty ? "" : ", \(members)"
        let list = transactions.map { "\"\($0)\"" }.joined(separator: ", ")
        return transactionsCall(
            as: caller,
            body: #"{"bundleId": "com.example.app", "signedTransactions": [\#(list)]\#(more)}"#
        )
    }

    func transactionsCall(as caller: String, body: String) -> Call {
        var call = service.call(as: caller, body)
        call.path = "/v1/transactions"
        return call
    }

    /// All transactions of a subscription, as StoreKit gives them to the app.
    func history(_ ids: FakeAppStore.SubscriptionIDs) throws -> [String] {
        try ids.transactionIDs.map { try store.signTransaction($0, latest: false) }
    }
}

/// `POST /v1/transactions`.
@Suite(.overBothEngines) struct TransactionsTests {
    @Test(arguments: Wire.allCases)
    func `what an app sends is durable when it is answered, and decides later`(wire: Wire) async throws {
        try await withStoreService(wire, asksStore: false) { world in
            let ids = try world.customer([.init(.active, periods: 3)]).subscriptions[0]
            let before = try await world.service.send(world.service.call(as: "app", world.body("running")))
            #expect(before.problem == "eligibility-undecided", "\(before)")
            let renewal = try world.store.signRenewalInfo(ids.originalTransactionID)
            let call = try world.transactionsCall(
                as: "app",
                world.history(ids),
                #""signedRenewalInfo": ["\#(renewal)"], "appAccountToken": "\#(world.token)""#
            )
            var tables: [String]?
            for _ in 0..<2 {
                let reply = try await world.service.send(call)
                #expect(reply.status == 200 && reply.body == #"{"accepted":3}"#, "\(reply)")
                #expect(try tables ?? world.service.storeTables() == world.service.storeTables())
                tables = try world.service.storeTables()
            }
            #expect(tables?.count { $0.hasPrefix("transaction ") } == 3)
            // From an app, a token alone proves no customer. A backend may state it.
            let claimed = try await world.service.send(world.service.call(as: "app", world.body("running")))
            #expect(claimed.problem == "eligibility-undecided", "\(claimed)")
            #expect(try await world.service.send(world.service.call(world.body("running"))).status == 200)
            #expect(try world.store.counts().toAPI == 0)
        }
    }

    @Test func `a backend names the customer, and the service finds the grants of that customer`() async throws {
        try await withStoreService(asksStore: false) { world in
            func body(_ offer: String, _ members: String) -> String {
                """
                {"bundleId": "com.example.app", "productId": "com.example.monthly", "offerId": "\(offer)",
                 "customerId": "anna@home", \(members)}
                """
            }
            let grant = try await world.service.send(
                world.service.call(as: "backend", body("open", #""facts": {"subscribedBefore": true}"#))
            )
            let grantID = try #require(grant.json["grantId"].text, "\(grant)")
            let offer = FakeAppStore.Offer(2, "store_open", period: 1)
            let ids = try world.customer([.init(.active, startedDaysAgo: 30, offers: [offer])]).subscriptions[0]
            let history = try world.history(ids)
            // The service does not know yet that it is the same customer.
            #expect(try await world.service.send(world.transactionsCall(as: "app", history)).status == 200)
            #expect(try world.service.redemptions() == ["store_open redeemed without grant"])
            let vouching = world.transactionsCall(as: "backend", history, #""customerId": "anna@home""#)
            #expect(try await world.service.send(vouching).status == 200)
            #expect(try world.service.redemptions() == ["store_open redeemed granted"])
            #expect(try world.service.entries("offer.redemption").last?["grant"] == .text(grantID))
            let reply = try await world.service.send(
                world.service.call(as: "backend", body("running", #""formats": ["v1"]"#))
            )
            #expect(reply.status == 200, "\(reply)")
        }
    }

    @Test(arguments: Wire.ofRun)
    func `what is of another account is refused to an app and believed of a backend`(wire: Wire) async throws {
        try await withStoreService(wire) { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            let own = try world.store.signTransaction(ids.transactionIDs[0], changing: ["appAccountToken": .null])
            let other = try world.store.signTransaction(ids.transactionIDs[1])
            let token = #""appAccountToken": "00000000-0000-4000-8000-000000000001""#
            let reply = try await world.service.send(world.transactionsCall(as: "app", [own, other], token))
            #expect(reply.status == 403 && reply.problem == "signed-data-of-other-account", "\(reply)")
            #expect(reply.pointers == ["/signedTransactions/1"])
            #expect(try world.service.storeTables().isEmpty)
            let trusted = try await world.service.send(world.transactionsCall(as: "backend", [own, other], token))
            #expect(trusted.status == 200, "\(trusted)")
        }
    }

    private struct Refused {
        let name: String
        let call: Call
        let problem: String
        let pointer: String?
    }

    @Test(arguments: Wire.ofRun)
    func `refuses as a whole what is not as it must be, and records nothing`(wire: Wire) async throws {
        try await withStoreService(wire) { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            for row in try rows(world, ids) {
                let reply = try await world.service.send(row.call)
                #expect(reply.problem == row.problem, "\(row.name): \(reply)")
                #expect(reply.pointers == (row.pointer.map { [$0] } ?? []), "\(row.name): \(reply)")
            }
            #expect(try world.service.storeTables().isEmpty)
            #expect(try world.service.entries().isEmpty)
            #expect(try world.store.counts().toAPI == 0)
        }
    }

    private func rows(_ world: StoreService, _ ids: FakeAppStore.SubscriptionIDs) throws -> [Refused] {
        let good = try world.store.signTransaction(ids.transactionIDs[1])
        let forged = try world.store.signTransaction(ids.transactionIDs[1], fault: .badSignature)
        let foreign = try world.store.signTransaction(ids.transactionIDs[1], fault: .otherBundle)
        let renewal = try world.store.signRenewalInfo(
            ids.originalTransactionID,
            changing: ["originalTransactionId": "77"]
        )
        func refused(
            _ name: String,
            _ problem: String,
            _ pointer: String? = nil,
            as caller: String = "app",
            _ transactions: [String]? = nil,
            _ members: String = ""
        ) -> Refused {
            let call = world.transactionsCall(as: caller, transactions ?? [good], members)
            return Refused(name: name, call: call, problem: problem, pointer: pointer)
        }
        func refusedBody(_ body: String, _ problem: String, _ pointer: String, as caller: String = "app") -> Refused {
            let call = world.transactionsCall(as: caller, body: body)
            return Refused(name: body, call: call, problem: problem, pointer: pointer)
        }
        return [
            refused("no key", "unauthenticated", as: "nobody"),
            refused("an auditor", "role-not-allowed", as: "auditor"),
            refused("an admin", "role-not-allowed", as: "admin"),
            refused("a customer's name by an app", "assertion-not-allowed", "/customerId", nil, #""customerId": "a""#),
            refused("a forged one", "invalid-signed-data", "/signedTransactions/1", [good, forged]),
            refused("one of another app", "invalid-signed-data", "/signedTransactions/0", [foreign]),
            refused(
                "a renewal info of something else",
                "invalid-signed-data",
                "/signedRenewalInfo/0",
                nil,
                #""signedRenewalInfo": ["\#(renewal)"]"#
            ),
            refused("none", "invalid-request", "/signedTransactions", []),
            refused("nine", "invalid-request", "/signedTransactions", Array(repeating: "a.b.c", count: 9)),
            refused("an unknown member", "invalid-request", "/offerId", nil, #""offerId": "open""#),
            refused("half a token", "invalid-request", "/appAccountToken", nil, #""appAccountToken": "7e3f""#),
            refusedBody("{", "malformed-json", ""),
            refusedBody(#"{"bundleId": "com.example.app"}"#, "invalid-request", "/signedTransactions"),
            refusedBody(#"{"signedTransactions": ["\#(good)"]}"#, "invalid-request", "/bundleId"),
            refusedBody(
                #"{"bundleId": "com.example.else", "signedTransactions": ["\#(good)"]}"#,
                "unknown-offer",
                "/bundleId"
            ),
            refusedBody(
                #"{"bundleId": "com.example.else", "signedTransactions": ["\#(good)"]}"#,
                "bundle-not-allowed",
                "/bundleId",
                as: "scoped"
            ),
        ]
    }

    @Test func `is answered 503 while it can't be recorded`() async throws {
        let faults = Faults()
        try await withStoreService(wrap: faults.wrap) { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            let call = try world.transactionsCall(as: "app", world.history(ids))
            faults.failCommits(Faults.diskFull)
            let reply = try await world.service.send(call)
            #expect(reply.status == 503 && reply.problem == "audit-unavailable", "\(reply)")
            #expect(try world.service.storeTables().isEmpty)
            #expect(try await world.service.send(call).status == 200)
        }
    }

    @Test(arguments: [("backend", [1, 2, 3]), ("app", [1, 1, 1])])
    func `is a warning in the log when it can't be recorded: each time for a backend, once a minute for apps`(
        caller: String,
        counts: [Int]
    ) async throws {
        let faults = Faults()
        try await withStoreService(wrap: faults.wrap) { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            let call = try world.transactionsCall(as: caller, world.history(ids))
            for count in counts {
                faults.failCommits(Faults.diskFull)
                #expect(try await world.service.send(call).status == 503)
                #expect(world.service.log.warnedAnswers == count)
            }
        }
    }
}
