// SPDX-License-Identifier: Apache-2.0
import OfferService
import TestSupport
import Testing

@testable import Ledger

/// What Apple sends, one after the other, and what the service makes of it.
private struct FactsRow: Sendable, CustomTestStringConvertible {
    struct Step: Sendable {
        let type: String
        let subtype: String?
        let subscription: FakeAppStore.Subscription
        var data: FakeAppStore.Members = [:]

        init(
            _ type: String,
            _ subtype: String? = nil,
            _ subscription: FakeAppStore.Subscription,
            data: FakeAppStore.Members = [:]
        ) {
            (self.type, self.subtype, self.subscription, self.data) = (type, subtype, subscription, data)
        }
    }

    let testDescription: String
    let steps: [Step]
    /// By offer: what an app is answered for the customer afterwards.
    let outcomes: [(offer: String, answer: String)]
    /// As ``TestService/redemptions()`` has them.
    let redemptions: [String]

    init(_ name: String, _ steps: Step..., then outcomes: [(String, String)], redemptions: [String] = []) {
        testDescription = name
        self.steps = steps
        self.outcomes = outcomes
        self.redemptions = redemptions
    }
}

private let granted = "granted"
private let refused = "not-eligible"
private let undecided = "eligibility-undecided"
private let offer = FakeAppStore.Offer(2, "store_open", period: 1)

private let rows = [
    FactsRow(
        "a first purchase",
        .init("SUBSCRIBED", "INITIAL_BUY", .init(.active, periods: 1)),
        then: [("open", granted), ("running", granted), ("lapsed", refused), ("stay", refused)]
    ),
    FactsRow(
        "a return with an offer",
        .init("SUBSCRIBED", "RESUBSCRIBE", .init(.active, returnedAfterDays: 40, offers: [offer])),
        then: [("running", granted), ("unused", refused)],
        redemptions: ["store_open redeemed without grant"]
    ),
    FactsRow(
        "an offer redeemed while subscribed",
        .init("OFFER_REDEEMED", nil, .init(.active, offers: [offer])),
        then: [("running", granted), ("unused", refused)],
        redemptions: ["store_open redeemed without grant"]
    ),
    FactsRow(
        "an offer redeemed for the next renewal",
        .init(
            "OFFER_REDEEMED",
            "DOWNGRADE",
            .init(.active, renewalInfo: ["offerType": 2, "offerIdentifier": "store_open"])
        ),
        then: [("running", granted)],
        redemptions: ["store_open pending without grant"]
    ),
    FactsRow(
        "a renewal at full price after an offer",
        .init("SUBSCRIBED", "RESUBSCRIBE", .init(.active, periods: 2, startedDaysAgo: 65, offers: [offer])),
        .init("DID_RENEW", nil, .init(.active, periods: 3, startedDaysAgo: 65, offers: [offer])),
        then: [("running", granted), ("unused", refused)],
        redemptions: ["store_open converted without grant"]
    ),
    FactsRow(
        "a renewal at the offer's price",
        .init(
            "DID_RENEW",
            nil,
            .init(
                .active,
                startedDaysAgo: 35,
                offers: [.init(2, "store_open", discountType: "PAY_AS_YOU_GO", period: 1)]
            )
        ),
        then: [("unused", refused)],
        redemptions: ["store_open redeemed without grant"]
    ),
    FactsRow(
        "an end after an offer",
        .init("EXPIRED", "VOLUNTARY", .init(.expired, endsInDays: -40, offers: [offer])),
        then: [("lapsed", granted), ("running", refused), ("unused", refused)],
        redemptions: ["store_open notConverted without grant"]
    ),
    FactsRow(
        "an end that only its type tells",
        .init("EXPIRED", "BILLING_RETRY", .init(.expired, endsInDays: -40), data: ["status": .null]),
        then: [("lapsed", granted), ("running", refused)]
    ),
    FactsRow(
        "a refund",
        .init("REFUND", nil, .init(.refunded, offers: [offer])),
        then: [("unrefunded", refused), ("running", refused)],
        redemptions: ["store_open undone without grant"]
    ),
    FactsRow(
        "a refund of a part",
        .init(
            "REFUND",
            nil,
            .init(
                .refunded,
                offers: [offer],
                latestTransaction: ["revocationType": "REFUND_PRORATED", "revocationPercentage": 40_000]
            )
        ),
        then: [("unrefunded", refused), ("running", refused)],
        redemptions: ["store_open notConverted without grant"]
    ),
    FactsRow(
        "a refund of a period that was upgraded out of, with the renewal info of what came after it",
        .init("REFUND", nil, .init(.refunded, renewalInfo: ["productId": "com.example.yearly"])),
        then: [("unrefunded", refused)]
    ),
    FactsRow(
        "an end of family sharing",
        .init("REVOKE", nil, .init(.revoked)),
        then: [("running", refused), ("own", refused)]
    ),
    FactsRow(
        "a renewal turned off",
        .init("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", .init(.notRenewing)),
        then: [("stay", granted), ("running", granted)]
    ),
    FactsRow(
        "a renewal that is charged before the period begins",
        .init("DID_RENEW", nil, .init(.active, endsInDays: 30.5)),
        then: [("stay", refused), ("running", granted)]
    ),
    FactsRow(
        "a renewal turned off before the period begins that was charged already",
        .init("DID_RENEW", nil, .init(.active, endsInDays: 30.5)),
        .init("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", .init(.notRenewing, endsInDays: 30.5)),
        then: [("stay", granted), ("running", granted)]
    ),
    FactsRow(
        "a renewal turned on again",
        .init("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", .init(.active)),
        then: [("stay", refused), ("running", granted)]
    ),
    FactsRow(
        "a payment that failed",
        .init("DID_FAIL_TO_RENEW", "GRACE_PERIOD", .init(.gracePeriod)),
        then: [("grace", granted), ("running", refused)]
    ),
    FactsRow(
        "an unknown type",
        .init("SUBSCRIPTION_PAUSED", "BY_THE_MOON", .init(.notRenewing)),
        then: [("stay", granted), ("running", granted)]
    ),
]

@Suite(.overBothEngines) struct NotificationFactsTests {
    @Test(arguments: rows)
    fileprivate func `tells facts and redemptions`(row: FactsRow) async throws {
        try await withStoreService(asksStore: false) { world in
            for step in row.steps {
                let ids = try world.customer([step.subscription])
                var notification = FakeAppStore.Notification(
                    step.type,
                    step.subtype,
                    transactionID: ids.subscriptions[0].originalTransactionID
                )
                notification.data = step.data
                try await world.deliver(notification)
            }
            #expect(try world.service.redemptions() == row.redemptions)
            for outcome in row.outcomes {
                let reply = try await world.service.send(world.service.call(world.body(outcome.offer)))
                let answer = reply.status == 200 ? granted : reply.problem
                #expect(answer == outcome.answer, "\(outcome.offer): \(reply)")
            }
        }
    }

    @Test(arguments: [("SUBSCRIBED", "RESUBSCRIBE"), ("OFFER_REDEEMED", nil as String?)])
    func `a redemption is matched to the grant that it came from, and counted`(
        type: String,
        subtype: String?
    ) async throws {
        try await withStoreService(asksStore: false) { world in
            let reply = try await world.service.send(
                world.service.call(as: "backend", world.body("open", #""facts": {"subscribedBefore": true}"#))
            )
            let grantID = try #require(reply.json["grantId"].text, "\(reply)")
            let back = FakeAppStore.Subscription(.active, startedDaysAgo: 70, returnedAfterDays: 40, offers: [offer])
            let ids = try world.customer([back])
            let id = ids.subscriptions[0].originalTransactionID
            try await world.deliver(.init(type, subtype, transactionID: id))
            #expect(try world.service.redemptions() == ["store_open redeemed granted"])
            let entries = try world.service.entries("offer.redemption")
            #expect(entries.map(\.["grant"]) == [.text(grantID)])
            #expect(world.service.metrics[.redemptions(state: "redeemed", match: .granted, offer: "store_open")] == 1)

            // An offer redeemed with another signer's signature has no grant.
            var foreign = back
            foreign.offers = [.init(2, "store_elsewhere", period: 1)]
            let other = try world.store.setCustomer(.init("bert", subscriptions: [foreign]))
            let otherID = other.subscriptions[0].originalTransactionID
            try await world.deliver(.init(type, subtype, transactionID: otherID))
            #expect(
                world.service.metrics[.redemptions(state: "redeemed", match: .ungranted, offer: "store_elsewhere")] == 1
            )
            let page = try MetricsPage(try await world.service.send(.get("/metrics")))
            for (match, offer) in [("none", "store_elsewhere"), ("grant", "store_open")] {
                let matched = #"match="\#(match)",offer="\#(offer)""#
                let labels = #"{store="app-store",environment="production",state="redeemed",\#(matched)}"#
                #expect(page.samples["offer_signer_redemptions_total\(labels)"] == 1)
            }
        }
    }

    @Test func `a grant given later takes no redemption from the one that it came from`() async throws {
        try await withStoreService(asksStore: false) { world in
            func grant() async throws -> String {
                let facts = #""facts": {"subscribedBefore": true}"#
                let reply = try await world.service.send(world.service.call(as: "backend", world.body("open", facts)))
                return try #require(reply.json["grantId"].text, "\(reply)")
            }
            let first = try await grant()
            let subscription = FakeAppStore.Subscription(.active, periods: 2, startedDaysAgo: 30, offers: [offer])
            let ids = try world.customer([subscription])
            let id = ids.subscriptions[0].originalTransactionID
            try await world.deliver(.init("OFFER_REDEEMED", transactionID: id))
            // The customer asks again a minute after the purchase, and then the chain is matched again.
            world.service.clock.advance(seconds: 60)
            let second = try await grant()
            try await world.deliver(.init("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", transactionID: id))
            let grants = try world.service.rows(["SELECT lower(hex(grant_id)) FROM redemptions"])
            #expect(grants == [first.replacing("-", with: "")] && first != second)
        }
    }
}
