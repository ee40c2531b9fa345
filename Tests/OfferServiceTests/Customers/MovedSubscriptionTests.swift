// SPDX-License-Identifier: Apache-2.0
import OfferService
import TestSupport
import Testing

/// A customer who moves into a bundle, or out of one, gets a new original transaction, and no new caps.
@Suite(.overBothEngines) struct MovedSubscriptionTests {
    private static let caps = ["once_a_customer", "once", "now_and_then"]

    /// Two subscriptions that nothing ties together but the member that is tested.
    private static func subscriptions() -> [FakeAppStore.Subscription] {
        [
            FakeAppStore.Subscription(.expired, allTransactions: ["appTransactionId": .null]),
            FakeAppStore.Subscription(
                .active,
                productID: "com.example.suite",
                allTransactions: ["appTransactionId": .null]
            ),
        ]
    }

    private static func customer(_ world: StoreService) throws -> (before: String, after: String) {
        let ids = try world.store.setCustomer(FakeAppStore.Customer("eve", subscriptions: subscriptions()))
        return (ids.subscriptions[0].originalTransactionID, ids.subscriptions[1].originalTransactionID)
    }

    private static func ask(
        _ world: StoreService,
        _ offer: String,
        _ id: String,
        _ changes: FakeAppStore.Members = [:]
    ) async throws -> Int {
        let signed = try world.store.signTransaction(id, changing: changes)
        return try await world.sign(as: "app", offer, #""signedTransactions": ["\#(signed)"]"#).status
    }

    @Test(arguments: caps, ["previousOriginalTransactionId", "bundleOriginalTransactionId"])
    func `a grant before the move counts after it`(offer: String, member: String) async throws {
        try await withStoreService(asksStore: false) { world in
            let ids = try Self.customer(world)
            #expect(try await Self.ask(world, offer, ids.before) == 200)
            #expect(try await Self.ask(world, offer, ids.after, [member: .text(ids.before)]) == 403)
        }
    }

    @Test(arguments: caps)
    func `the link stays known where later transactions no longer name it`(offer: String) async throws {
        try await withStoreService(asksStore: false) { world in
            let ids = try Self.customer(world)
            #expect(try await Self.ask(world, offer, ids.before) == 200)
            var notification = FakeAppStore.Notification("SUBSCRIBED", "RESUBSCRIBE", transactionID: ids.after)
            notification.transaction = ["previousOriginalTransactionId": .text(ids.before)]
            try await world.deliver(notification)
            #expect(try await Self.ask(world, offer, ids.after) == 403)
        }
    }

    @Test(arguments: caps)
    func `a grant after the move counts for the subscription before it`(offer: String) async throws {
        try await withStoreService(asksStore: false) { world in
            let ids = try Self.customer(world)
            let link: FakeAppStore.Members = ["previousOriginalTransactionId": .text(ids.before)]
            #expect(try await Self.ask(world, offer, ids.after, link) == 200)
            #expect(try await Self.ask(world, offer, ids.before) == 403)
        }
    }

    @Test(arguments: ["previousOriginalTransactionId", "bundleOriginalTransactionId"])
    func `an offer that was used before the move counts after it`(member: String) async throws {
        try await withStoreService(asksStore: false) { world in
            let ids = try Self.customer(world)
            var notification = FakeAppStore.Notification("EXPIRED", "VOLUNTARY", transactionID: ids.before)
            notification.transaction = ["offerType": 2, "offerIdentifier": "store_open"]
            try await world.deliver(notification)
            let rows: [(FakeAppStore.Members, String)] = [
                ([:], "undecided"), ([member: .text(ids.before)], "notEligible"),
            ]
            for (changes, outcome) in rows {
                let signed = try world.store.signTransaction(ids.after, changing: changes)
                let reply = try await world.sign(as: "app", "unused", #""signedTransactions": ["\#(signed)"]"#)
                #expect(reply.json["decision"]["outcome"].text == outcome, "\(member): \(reply)")
            }
        }
    }

    @Test func `caps follow two moves`() async throws {
        try await withStoreService(asksStore: false) { world in
            let more = FakeAppStore.Subscription(
                .active,
                productID: "com.example.alone",
                allTransactions: ["appTransactionId": .null]
            )
            let ids = try world.store.setCustomer(
                FakeAppStore.Customer("eve", subscriptions: Self.subscriptions() + [more])
            ).subscriptions.map(\.originalTransactionID)
            #expect(try await Self.ask(world, "once", ids[0]) == 200)
            for (earlier, later) in [(ids[0], ids[1]), (ids[1], ids[2])] {
                let link: FakeAppStore.Members = ["previousOriginalTransactionId": .text(earlier)]
                #expect(try await Self.ask(world, "open", later, link) == 200)
            }
            #expect(try await Self.ask(world, "once", ids[2]) == 403)
        }
    }

    @Test func `members of a family who share a bundle have caps of their own`() async throws {
        try await withStoreService(asksStore: false) { world in
            let ids = try Self.customer(world)
            #expect(try await Self.ask(world, "once_a_customer", ids.before) == 200)
            let shared: FakeAppStore.Members = [
                "bundleOriginalTransactionId": .text(ids.before), "inAppOwnershipType": "FAMILY_SHARED",
            ]
            let facts = try world.store.signTransaction(ids.after, changing: shared)
            let members = #""signedTransactions": ["\#(facts)"], "facts": {"subscribedBefore": true}"#
            #expect(try await world.sign("once_a_customer", members).status == 200)
        }
    }
}
