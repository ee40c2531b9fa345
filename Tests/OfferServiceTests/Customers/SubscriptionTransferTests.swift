// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain
import OfferService
import TestSupport
import Testing

/// A subscription that appears under another account takes its history along.
@Suite(.overBothEngines) struct SubscriptionTransferTests {
    private static let ada = #""customerId": "ada""#
    private static let grace = #""customerId": "grace""#
    private static let tokens = (1...4).map { "00000000-0000-4000-8000-00000000000\($0)" }

    private func key(_ world: StoreService, _ identity: CustomerIdentity) throws -> Tree {
        let pseudonyms = world.service.loaded.keys.pseudonyms
        let key = pseudonyms.pseudonym(of: identity, in: try AppName("com.example.app")).ledgerKey
        return .text(AuditEntry.text(ofKey: key))
    }

    private func transfers(_ world: StoreService) throws -> [Tree] {
        try world.service.entries("subscription.transferred")
    }

    private func list(_ transactions: [String]) -> String {
        #""signedTransactions": [\#(transactions.map { #""\#($0)""# }.joined(separator: ", "))]"#
    }

    @Test(arguments: Wire.ofRun)
    func `an offer that was used for it is refused under the other account, by customer and by chain`(
        wire: Wire
    ) async throws {
        try await withStoreService(wire, asksStore: false) { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            let evidence = list(try world.tokenless(ids))
            for offer in ["once_a_customer", "once"] {
                let reply = try await world.sign(offer, "\(Self.ada), \(evidence)")
                #expect(reply.status == 200, "\(reply)")
            }
            #expect(try transfers(world).isEmpty)
            for offer in ["once_a_customer", "once"] {
                for members in ["\(Self.grace), \(evidence)", Self.grace] {
                    let reply = try await world.sign(offer, members)
                    #expect(reply.problem == "not-eligible", "\(offer): \(reply)")
                    #expect(reply.json["decision"]["findings"][1]["code"] == .text("grants-cap-reached"))
                }
            }
            // Also where a backend tells everything of the customer, and nothing of the subscription.
            let stated = #"\#(Self.grace), "facts": {"status": "active", "subscribedBefore": true}"#
            #expect(try await world.sign("once_a_customer", stated).problem == "not-eligible")
            let entries = try transfers(world)
            #expect(entries.count == 1)
            #expect(entries.first?["from"] == (try key(world, .customer(CustomerID("ada")))))
            #expect(entries.first?["to"] == (try key(world, .customer(CustomerID("grace")))))
            let chain = CustomerIdentity.originalTransaction(try TransactionID(ids.originalTransactionID))
            #expect(entries.first?["chain"] == (try key(world, chain)))
            #expect(entries.first?["bundle"] == .text("com.example.app"))
        }
    }

    @Test func `it is recorded once, however often the accounts take turns`() async throws {
        try await withStoreService(asksStore: false) { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            for customer in ["ada", "grace", "ada", "grace", "ada"] {
                try await world.vouch(ids, #""customerId": "\#(customer)""#)
            }
            #expect(try transfers(world).count == 1)
            try await world.vouch(ids, #""customerId": "edsger""#)
            #expect(try transfers(world).count == 2)
            #expect(try transfers(world).last?["from"] == (try key(world, .customer(CustomerID("ada")))))
        }
    }

    @Test func `account tokens show it, by the order of purchases and not of arrival`() async throws {
        try await withStoreService(asksStore: false) { world in
            let ids = try world.customer([.init(.active, periods: 4)]).subscriptions[0]
            let signed = try zip(ids.transactionIDs, Self.tokens).map { id, token in
                try world.store.signTransaction(id, latest: false, changing: ["appAccountToken": .text(token)])
            }
            func send(_ indices: Int...) async throws {
                let call = world.transactionsCall(as: "backend", indices.map { signed[$0] })
                #expect(try await world.service.send(call).status == 200)
            }
            try await send(1)
            try await send(0)
            #expect(try transfers(world).isEmpty, "an earlier account is no new one")
            try await send(0, 1, 2)
            try await send(2)
            let entries = try transfers(world)
            #expect(entries.count == 1)
            let tokens = try Self.tokens.map { try key(world, .appAccountToken(#require(UniqueID($0)))) }
            #expect(entries.first?["from"] == tokens[1] && entries.first?["to"] == tokens[2])
            try await send(3)
            #expect(try transfers(world).count == 2)
            #expect(try transfers(world).last?["from"] == tokens[2])
        }
    }

    @Test func `a customer who logs in, or has a new token for each purchase, is no other account`() async throws {
        try await withStoreService(asksStore: false) { world in
            let ids = try world.customer([.init(.active, periods: 3)]).subscriptions[0]
            try await world.vouch(ids, #""anonymousId": "device-1""#)
            try await world.service.transfer(from: "device-1", to: "ada")
            for (id, token) in zip(ids.transactionIDs, Self.tokens) {
                let signed = try world.store.signTransaction(
                    id,
                    latest: false,
                    changing: ["appAccountToken": .text(token)]
                )
                let reply = try await world.service.send(world.transactionsCall(as: "backend", [signed], Self.ada))
                #expect(reply.status == 200, "\(reply)")
            }
            #expect(try transfers(world).isEmpty)
            // Logged out, and not the customer's device.
            try await world.vouch(ids, #""anonymousId": "device-2""#)
            #expect(try transfers(world).count == 1)
        }
    }

    @Test func `a grant matched to the subscription only later counts for its next customer`() async throws {
        try await withStoreService(asksStore: false) { world in
            let facts = #""facts": {"subscribedBefore": true}"#
            #expect(try await world.sign("once_a_customer", "\(Self.ada), \(facts)").status == 200)
            let offer = FakeAppStore.Offer(2, "store_once_a_customer", period: 1)
            let ids = try world.customer([.init(.active, startedDaysAgo: 30, offers: [offer])]).subscriptions[0]
            try await world.vouch(ids, Self.ada)
            #expect(try world.service.redemptions() == ["store_once_a_customer redeemed granted"])
            try await world.vouch(ids, Self.grace)
            #expect(try await world.sign("once_a_customer", Self.grace).problem == "not-eligible")
            #expect(try await world.sign("once_a_customer", "\(Self.grace), \(facts)").problem == "not-eligible")
            #expect(try await world.sign("once_a_customer", #""customerId": "edsger", \#(facts)"#).status == 200)
        }
    }
}
