// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService
@testable import Stores

/// What the service asks the App Store after it has answered a request without enough evidence.
@Suite(.overBothEngines) struct RetentionLookupTests {
    /// A subscriber in a grace period without any notification: the rule of `yearly` needs the status.
    private static func inGrace(_ world: StoreService) throws -> String {
        let grace = FakeAppStore.Subscription(.gracePeriod, productID: "com.example.monthly", group: "20000001")
        let ids = try world.store.setCustomer(FakeAppStore.Customer("bert", subscriptions: [grace]))
        return ids.subscriptions[0].originalTransactionID
    }

    @Test func `looks up a subscriber for the next request when it knows too little`() async throws {
        try await withRetention { world in
            let id = try Self.inGrace(world)
            #expect(try await world.ask(about: id).shown?.message == Shown.once)
            #expect(try world.store.counts().toAPI == 0, "the first offer needed nothing more")
            #expect(try await world.ask(about: id).shown?.answer == "alternateProduct")
            #expect(try await eventually { try world.knowsStatuses() })
            let reply = try await world.ask(about: id)
            #expect(reply.shown?.message == Shown.yearly, "\(reply)")
            #expect(try world.store.counts().toAPI == 1, "statuses alone")
        }
    }

    @Test func `each subscription is asked about once an hour`() async throws {
        try await withRetention { world async throws in
            let id = try world.subscriber()
            let gone: FakeAppStore.Members = [
                "productId": "com.example.yearly", "originalTransactionId": "2000000999999",
            ]
            func ask() async throws {
                let now = FakeValue.integer(Int(world.service.clock.now.milliseconds))
                let members = gone.merging(["signedDate": now]) { $1 }
                // The App Store has no such subscription.
                for _ in 0..<5 { #expect(try await world.ask(about: id, changing: members).shown != nil) }
            }
            try await ask()
            // A store that is slow on a busy machine is asked again; how often is not the matter here.
            let refusal = "a subscriber could not be looked up"
            #expect(try await eventually { world.service.log.lines.contains { $0.contains(refusal) } })
            let asked = try world.store.counts().toAPI
            world.service.clock.advance(seconds: 3599)
            try await ask()
            #expect(try world.store.counts().toAPI == asked)
            world.service.clock.advance(seconds: 1)
            try await ask()
            #expect(try await eventually { try world.store.counts().toAPI > asked })
        }
    }

    @Test func `asks nothing without a key for the App Store Server API`() async throws {
        try await withStoreService(asksStore: false, offers: retentionOffers) { world in
            let id = try Self.inGrace(world)
            for _ in 0..<2 { #expect(try await world.ask(about: id).shown != nil) }
            #expect(world.service.metrics[.decisions(offer: "yearly", outcome: "undecided")] == 1)
            #expect(try world.store.counts().toAPI == 0)
            let outcomes = ["cannot-sign", "transport"].map { outcome in
                StoreMetric.storeRequests(
                    store: "app-store",
                    endpoint: AppStoreEndpoint.subscriptionStatuses.rawValue,
                    environment: "production",
                    outcome: outcome
                )
            }
            #expect(outcomes.allSatisfy { world.service.metrics[$0] == 0 })
        }
    }

    @Test func `a request states the group that the catalog has its product in`() async throws {
        try await withRetention { world in
            let offer = try #require(world.service.current.value.catalog.offers.first { $0.id.text == "once" })
            let listing = try #require(offer.appStore)
            let request = RealtimeRequest(
                originalTransactionID: try TransactionID("2000000000001"),
                productID: "com.example.yearly",
                userLocale: "en-US",
                requestIdentifier: .version4(1, 2),
                environment: .production
            )
            let asked = SignatureRequest(
                request,
                in: listing.subscriptionGroupID,
                for: listing,
                try OfferID("store_once"),
                receivedAt: world.service.clock.now
            )
            #expect(asked.customer.facts.value.subscriptionGroup?.value.text == "20000001")
        }
    }
}

extension StoreService {
    /// Whether the service has read the statuses of a subscription from the App Store.
    fileprivate func knowsStatuses() throws -> Bool {
        let sql = SQL("SELECT 1 FROM subscription_records WHERE record LIKE '%statusesReadAt%'")
        return try service.ledger.openForReading().first(sql) { _ in true } ?? false
    }
}
