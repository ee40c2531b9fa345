// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferService
import TestSupport
import Testing

@testable import Stores

/// From what Apple signed to the decision: billing plans with a commitment, and win-back offers of the App Store.
@Suite struct PlanFactsTests {
    private static let offers = """
        {id: "monthly", appStore: {offerId: "store_monthly"}, eligibility: {billingPlan: "monthly"}},
        {id: "late", appStore: {offerId: "store_late"}, eligibility: {commitmentPeriod: {atLeast: 10}}},
        {id: "ending", appStore: {offerId: "store_ending"}, eligibility: {commitmentEnds: {withinDays: 30}}},
        {id: "ours", appStore: {offerId: "store_ours"}, eligibility: {appleWinBackEligible: false}},
        """

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let subscription: FakeAppStore.Subscription
        /// The answers to monthly, late, ending and ours.
        let answers: [String]
    }

    private static let granted = "granted"
    private static let refused = "not-eligible"
    private static let undecided = "eligibility-undecided"

    private static func committed(period: Int, endsInDays days: Int) -> FakeAppStore.Members {
        let end = Int(Date().timeIntervalSince1970 * 1000) + days * 86_400_000
        return [
            "billingPlanType": "MONTHLY",
            "commitmentInfo": [
                "billingPeriodNumber": .integer(period), "totalBillingPeriods": 12,
                "commitmentExpiresDate": .integer(end), "commitmentPrice": 59_990,
            ],
        ]
    }

    static let rows = [
        Row(
            testDescription: "the last month of a commitment",
            subscription: .init(.active, latestTransaction: committed(period: 12, endsInDays: 10)),
            answers: [granted, granted, granted, granted]
        ),
        Row(
            testDescription: "the second month of a commitment, with renewal turned off",
            subscription: .init(.notRenewing, latestTransaction: committed(period: 2, endsInDays: 310)),
            answers: [granted, refused, refused, granted]
        ),
        Row(
            testDescription: "a plan that is billed upfront",
            subscription: .init(.active, latestTransaction: ["billingPlanType": "BILLED_UPFRONT"]),
            answers: [refused, refused, refused, granted]
        ),
        Row(
            testDescription: "a plan that Apple adds later",
            subscription: .init(.active, latestTransaction: ["billingPlanType": "WEEKLY"]),
            answers: [undecided, undecided, undecided, granted]
        ),
        Row(
            testDescription: "a lapsed customer with a win-back offer",
            subscription: .init(.expired, renewalInfo: ["eligibleWinBackOfferIds": ["best", "second"]]),
            answers: [undecided, undecided, undecided, refused]
        ),
        Row(
            testDescription: "a lapsed customer without one",
            subscription: .init(.expired),
            answers: [undecided, undecided, undecided, granted]
        ),
    ]

    @Test(arguments: rows, Way.allCases)
    func `decides on them, in whatever way they came`(row: Row, way: Way) async throws {
        try await withStoreService(asksStore: way == .api, retries: RetryPolicy(), moreOffers: Self.offers) { world in
            let id = try world.customer([row.subscription]).subscriptions[0].originalTransactionID
            if way == .notifications { try await world.deliver(.init("SUBSCRIBED", transactionID: id)) }
            var answers: [String] = []
            for offer in ["monthly", "late", "ending", "ours"] {
                answers.append(try await world.ask(offer, by: way, id).problem ?? Self.granted)
            }
            #expect(answers == row.answers)
        }
    }

    @Test(arguments: [
        (#""billingPlan": "monthly""#, "monthly"), (#""commitmentPeriod": 11"#, "late"),
        (#""commitmentEndsAt": "SOON""#, "ending"), (#""appleWinBackEligible": false"#, "ours"),
    ])
    func `takes the same from a backend that states it`(fact: String, offer: String) async throws {
        try await withStoreService(asksStore: false, moreOffers: Self.offers) { world in
            let soon = Date().addingTimeInterval(864_000).formatted(.iso8601)
            let facts = #""facts": {"subscribedBefore": true, \#(fact.replacing("SOON", with: soon))}"#
            #expect(try await world.sign(offer, facts).status == 200)
            let without = try await world.sign(offer, #""facts": {"subscribedBefore": true}"#)
            #expect(without.problem == Self.undecided)
        }
    }
}
