// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService

/// Uses of offers that are older than the ledger, or than the offer's entry in the catalog.
@Suite(.overBothEngines) struct EarlierUseTests {
    /// How many hours before now the catalog first had the offers, the use being a day old; and what the use is.
    private static let rows: [(known: [String: Int], expected: String)] = [
        ([:], "redeemed none"),
        (["store_open": 23], "redeemed earlier"),
        (["store_open": 25], "redeemed none"),
        // An offer that the catalog never had: then it counts since when there is a catalog at all.
        (["store_other": 23], "redeemed earlier"),
        (["store_other": 25], "redeemed none"),
        (["store_open": 23, "store_other": 25], "redeemed earlier"),
        (["store_open": 25, "store_other": 23], "redeemed none"),
    ]

    private func note(_ known: [String: Int], in service: TestService) throws {
        let table = CatalogNameTable(connection: try service.ledger.openPatiently())
        for (offer, hours) in known {
            let listing = AppStoreListing(
                bundleID: try BundleID("com.example.app"),
                productID: try ProductID("com.example.monthly"),
                subscriptionGroupID: nil,
                offerID: try OfferID(offer)
            )
            try table.note([StoreOfferName(.appStore(listing))], at: service.clock.now.adding(hours: -hours))
        }
    }

    private func buy(_ world: StoreService) async throws {
        let subscription = FakeAppStore.Subscription(
            .active,
            originalTransactionID: "2000000000000071",
            periods: 1,
            startedDaysAgo: 1,
            offers: [.init(2, "store_open", period: 0)]
        )
        let ids = try world.store.setCustomer(FakeAppStore.Customer("anna", subscriptions: [subscription]))
        try await world.deliver(.init("SUBSCRIBED", transactionID: ids.subscriptions[0].originalTransactionID))
    }

    @Test(arguments: rows)
    func `a use of the App Store from before the catalog had the offer is no alarm`(
        known: [String: Int],
        expected: String
    ) async throws {
        try await withStoreService(asksStore: false) { world in
            try note(known, in: world.service)
            try await buy(world)
            #expect(try world.service.uses() == [expected])
            let isEarlier = expected.hasSuffix("earlier")
            let report = try await world.service.reconciliation()
            #expect(report["redeemedEarlier"].integer == (isEarlier ? 1 : 0), "\(report)")
            #expect(report["redeemedWithoutRecord"].elements.count == (isEarlier ? 0 : 1))
            let warning = "an offer was used without a grant"
            #expect(world.service.log.lines.contains { $0.contains(warning) } == !isEarlier)
            let entry = try #require(try world.service.entries("offer.redemption").last)
            #expect(entry["match"].text == (isEarlier ? "earlier" : "none"))
            #expect(try world.service.recomputed().differing.isEmpty)
        }
    }

    @Test(arguments: [(hours: 47, expected: "redeemed earlier"), (49, "redeemed none")])
    func `a use of Google Play from before the catalog had the offer is no alarm`(
        hours: Int,
        expected: String
    ) async throws {
        try await withPlayService { world in
            let listing = try world.offer("winback-50").listing
            try CatalogNameTable(connection: try world.service.ledger.openPatiently())
                .note([StoreOfferName(listing)], at: PlaySample.now.adding(hours: -hours))
            try world.play.answer(
                "a",
                PlaySample("ACTIVE", .init { $0.offer = "winback-50" }) { $0.startedDaysAgo = 2 }
            )
            try await world.deliver(PlayService.change(4, "a"), id: "a")
            #expect(try world.service.uses() == [expected])
        }
    }

    @Test func `keeps the first time that the catalog had an offer, under whatever own name`() async throws {
        try await withStoreService(asksStore: false) { world in
            let catalog = world.service.current.value.catalog
            try catalog.note(in: world.service.ledger)
            let count = try world.service.rows(["SELECT count(*) || '' FROM catalog_names"])
            #expect(count == ["\(Set(catalog.offers.map { StoreOfferName($0.listing) }).count)"])
            let times: [StaticString] = ["SELECT DISTINCT first_seen_at || '' FROM catalog_names"]
            let first = try world.service.rows(times)
            world.service.clock.advance(seconds: 3600)
            try world.service.editOffers { $0.replacing(#"id: "open""#, with: #"id: "renamed""#) }
            try world.service.current.value.catalog.note(in: world.service.ledger)
            #expect(try world.service.rows(times) == first)
        }
    }
}
