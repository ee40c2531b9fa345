// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import TestSupport
import Testing

private let anna = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"
private let bert = "11111111-2222-4333-8444-555555555555"

/// Purchases right after a grant of `store_open` to Anna, and the client that the grants were for.
@Suite(.overBothEngines) struct MissedOfferTests {
    private typealias Subscription = FakeAppStore.Subscription

    /// A grant, what was bought a day before now, and whether that is a missed offer.
    private struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var minutes = 5.0
        var environment = FakeAppStore.Environment.production
        var purchases = [bought()]
        let isMissed: Bool
        var redeemed = 0
    }

    private static func bought(
        _ number: Int = 1,
        by token: String = anna,
        isOffered: Bool = false,
        _ change: (inout Subscription) -> Void = { _ in }
    ) -> Subscription {
        var subscription = Subscription(
            .active,
            originalTransactionID: "200000000000007\(number)",
            periods: 1,
            startedDaysAgo: 1,
            offers: isOffered ? [.init(2, "store_open", period: 0)] : [],
            allTransactions: ["appAccountToken": .text(token)]
        )
        change(&subscription)
        return subscription
    }

    private static let rows = [
        Row(testDescription: "bought five minutes later at the full price", isMissed: true),
        Row(testDescription: "the same by a tester", environment: .sandbox, isMissed: true),
        Row(testDescription: "half an hour is too late", minutes: 30, isMissed: false),
        Row(testDescription: "bought before the grant", minutes: -1, isMissed: false),
        Row(
            testDescription: "bought with the offer",
            purchases: [bought(isOffered: true)],
            isMissed: false,
            redeemed: 1
        ),
        Row(
            testDescription: "refunded at once, and was redeemed all the same",
            purchases: [bought(isOffered: true) { ($0.state, $0.revokedDaysAgo) = (.refunded, 0.1) }],
            isMissed: false,
            redeemed: 1
        ),
        Row(
            testDescription: "the grant was used for another purchase",
            purchases: [bought(1, isOffered: true), bought(2)],
            isMissed: false,
            redeemed: 1
        ),
        Row(
            testDescription: "another kind of offer",
            purchases: [bought { $0.offers = [.init(1, nil, period: 0)] }],
            isMissed: false
        ),
        Row(
            testDescription: "another product",
            purchases: [bought { $0.productID = "com.example.yearly" }],
            isMissed: false
        ),
        Row(
            testDescription: "a renewal",
            purchases: [bought { $0.allTransactions["transactionReason"] = "RENEWAL" }],
            isMissed: false
        ),
        Row(
            testDescription: "shared by the family",
            purchases: [bought { $0.allTransactions["inAppOwnershipType"] = "FAMILY_SHARED" }],
            isMissed: false
        ),
        Row(testDescription: "bought by another customer", purchases: [bought(by: bert)], isMissed: false),
    ]

    @Test(arguments: rows)
    private func `tells a purchase that followed a grant within minutes and lacks its offer, once`(
        row: Row
    ) async throws {
        try await withStoreService(asksStore: false) { world in
            let milliseconds = 86_400_000 + Int64(row.minutes * 60_000)
            world.service.clock.advance(milliseconds: -milliseconds)
            let client = #""client": {"library": "react-native-iap", "version": "16.3.2", "os": "iOS 26.1"}"#
            let members = #""appAccountToken": "\#(anna)", \#(client), "facts": {"subscribedBefore": true}"#
            #expect(try await world.sign("open", members).status == 200)
            world.service.clock.advance(milliseconds: milliseconds)
            var customer = FakeAppStore.Customer("anna", subscriptions: row.purchases)
            customer.environment = row.environment
            for subscription in try world.store.setCustomer(customer).subscriptions {
                for _ in 0..<2 {
                    try await world.deliver(.init("SUBSCRIBED", transactionID: subscription.originalTransactionID))
                }
            }
            let grant = try #require(try world.service.entries("sign.intent").first)
            #expect(grant["client"]["os"] == .text("iOS 26.1") && grant["client"]["version"] == .text("16.3.2"))
            let entries = try world.service.entries("offer.missed")
            #expect(entries.count == (row.isMissed ? 1 : 0), "\(entries)")
            let (offer, name) = ("open", "react-native-iap 16.3.2")
            if let entry = entries.first {
                #expect(entry["client"] == .text(name) && entry["rule"] == .text(offer))
                #expect(entry["offer"] == .text("store_open") && entry["grant"] == grant["grant"])
            }
            let metrics = world.service.metrics
            let environment = row.environment == .sandbox ? "sandbox" : "production"
            let missed = Metric.boughtWithoutDiscount(environment: environment, offer: offer, client: name)
            #expect(metrics[missed] == entries.count && metrics[.offersSigned(offer: offer, client: name)] == 1)
            #expect(metrics[.offersRedeemed(offer: offer, client: name)] == row.redeemed)
            let warning = "a customer bought the product without the offer that was just signed"
            let warnings = row.isMissed && row.environment == .production ? 1 : 0
            #expect(world.service.log.lines.count { $0.contains(warning) } == warnings)
        }
    }

    /// An app may have the offers of a paywall signed together, and the customer buys once.
    @Test(arguments: [["open", "thrice", "stay"], ["stay", "thrice", "open"]])
    func `is one finding for a purchase, of the newest grant`(offers: [String]) async throws {
        try await withStoreService(asksStore: false) { world in
            world.service.clock.advance(milliseconds: -86_400_000 - 300_000)
            for (place, offer) in offers.enumerated() {
                let client = #""client": {"library": "app", "version": "\#(place)"}"#
                let facts = #""facts": {"subscribedBefore": true, "autoRenew": "off"}"#
                let reply = try await world.sign(offer, #""appAccountToken": "\#(anna)", \#(client), \#(facts)"#)
                #expect(reply.status == 200, "\(reply)")
                world.service.clock.advance(milliseconds: 1000)
            }
            world.service.clock.advance(milliseconds: 86_400_000 + 297_000)
            let customer = FakeAppStore.Customer("anna", subscriptions: [Self.bought()])
            for subscription in try world.store.setCustomer(customer).subscriptions {
                try await world.deliver(.init("SUBSCRIBED", transactionID: subscription.originalTransactionID))
            }
            let grants = try world.service.entries("sign.intent").map { $0["grant"].text ?? "" }
            let entries = try world.service.entries("offer.missed")
            #expect(grants.count == 3 && entries.count == 1, "\(entries)")
            let entry = try #require(entries.first)
            #expect(entry["grant"].text == grants.max() && entry["rule"].text == offers.last)
            #expect(entry["client"] == .text("app 2") && entry["offer"].text == offers.last.map { "store_\($0)" })
            let metrics = world.service.metrics
            for (place, offer) in offers.enumerated() {
                let missed = Metric.boughtWithoutDiscount(offer: offer, client: "app \(place)")
                #expect(metrics[missed] == (place == 2 ? 1 : 0), "\(offer)")
            }
        }
    }

    @Test(.overSQLite)
    func `refuses client names that are too long or reserved, and counts at most 64 names separately`() async throws {
        try await withStoreService(asksStore: false) { world in
            let facts = #""facts": {"subscribedBefore": true}"#
            for library in [String(repeating: "x", count: 65), "app-store:retention"] {
                let refused = try await world.sign("open", #""client": {"library": "\#(library)"}, \#(facts)"#)
                #expect(refused.problem == "invalid-request" && refused.pointers == ["/client/library"], "\(refused)")
            }
            for number in 0..<70 {
                let client = #""client": {"library": "made-up", "version": "\#(number)"}"#
                let reply = try await world.sign("open", #""customerId": "c\#(number)", \#(client), \#(facts)"#)
                #expect(reply.status == 200, "\(reply)")
            }
            let metrics = world.service.metrics
            #expect(metrics[.offersSigned(offer: "open", client: "other")] == 6)
            #expect(metrics[.offersSigned(offer: "open", client: "made-up 0")] == 1)
            #expect(try await world.sign("open", #""client": null, "customerId": "c", \#(facts)"#).status == 200)
            #expect(metrics[.offersSigned(offer: "open", client: "unknown")] == 1)
        }
    }
}
