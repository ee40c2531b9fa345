// SPDX-License-Identifier: Apache-2.0
import OfferService
import TestSupport
import Testing

/// From what Apple signed to the decision: refunds of a part of the price.
@Suite struct PartialRefundTests {
    private static let offers = """
        {id: "kept", appStore: {offerId: "store_kept"},
         eligibility: {not: {refunded: {withinDays: 365, atLeastPercent: 50}}}},
        """

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let refund: FakeAppStore.Members
        /// The answer if the store was asked, and where others may have been refunded.
        let asked, seen: String
    }

    private static let (granted, refused, undecided) = ("granted", "not-eligible", "eligibility-undecided")

    static let rows = [
        Row(
            testDescription: "less than asked for",
            refund: ["revocationType": "REFUND_PRORATED", "revocationPercentage": 49_999],
            asked: granted,
            seen: undecided
        ),
        Row(
            testDescription: "as much as asked for",
            refund: ["revocationType": "REFUND_PRORATED", "revocationPercentage": 50_000],
            asked: refused,
            seen: refused
        ),
        Row(
            testDescription: "a part, and the store does not say how much",
            refund: ["revocationType": "REFUND_PRORATED", "revocationPercentage": .null],
            asked: undecided,
            seen: undecided
        ),
        Row(
            testDescription: "all, as it was stated before there were types",
            refund: ["revocationType": .null, "revocationPercentage": .null],
            asked: refused,
            seen: refused
        ),
    ]

    @Test(arguments: rows, Way.allCases)
    func `count by how much was paid back, in whatever way they came`(row: Row, way: Way) async throws {
        try await withStoreService(asksStore: way == .api, moreOffers: Self.offers) { world in
            let subscription = FakeAppStore.Subscription(.refunded, latestTransaction: row.refund)
            let id = try world.customer([subscription]).subscriptions[0].originalTransactionID
            if way == .notifications { try await world.deliver(.init("REFUND", transactionID: id)) }
            let reply = try await world.ask("kept", by: way, id)
            #expect((reply.problem ?? Self.granted) == (way == .api ? row.asked : row.seen), "\(reply)")
        }
    }
}
