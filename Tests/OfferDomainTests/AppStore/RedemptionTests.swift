// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import OfferDomain

/// What was bought, and the redemptions that must come of it.
struct RedemptionRow: CustomTestStringConvertible {
    let testDescription: String
    let transactions: [AppStoreTransaction]
    var renewal: AppStoreRenewalInfo?
    /// The first transaction's id, the number of periods, and the state.
    let expected: [(first: Int?, periods: Int, state: RedemptionState)]
    /// What was paid back of the first use without undoing it.
    var refund: Refund?
}

struct RedemptionTests {
    /// Three months: full price, then two at a discount paid as one goes.
    private static func months(_ discounts: [(OfferDiscountType?, String)?]) throws -> [AppStoreTransaction] {
        try discounts.enumerated().map { index, discount in
            let start = -30 * (discounts.count - index) + 10
            return try Purchases.transaction(
                index + 1,
                from: .ago(days: -start),
                to: .ago(days: -start - 30)
            ) {
                guard let discount else { return }
                $0.offerType = .known(.promotional)
                $0.offerID = discount.1
                $0.offerDiscountType = discount.0.map(Reported.known)
            }
        }
    }

    static func rows() throws -> [RedemptionRow] {
        let payAsYouGo = (OfferDiscountType.payAsYouGo as OfferDiscountType?, "spring")
        let upFront = (OfferDiscountType.payUpFront as OfferDiscountType?, "spring")
        let unnamed = (nil as OfferDiscountType?, "spring")
        let autumn = (OfferDiscountType.payAsYouGo as OfferDiscountType?, "autumn")
        var refunded = try months([payAsYouGo])
        refunded[0].revokedAt = .ago(days: 2)
        var partlyRefunded = try months([payAsYouGo])
        partlyRefunded[0].refund(40_000, daysAgo: 2)
        var refundedTwice = try months([payAsYouGo, payAsYouGo, nil])
        refundedTwice[0].refund(100_000, daysAgo: 45)
        refundedTwice[1].refund(25_000, daysAgo: 21)
        var unsaid = try months([payAsYouGo, nil])
        unsaid[0].refund(nil, daysAgo: 25)
        unsaid[1].reason = .known(.purchase)
        let returned = [
            try Purchases.transaction(1, from: .ago(days: 80), to: .ago(days: 50)) { $0.used(.promotional, "spring") },
            try Purchases.transaction(2, from: .ago(days: 1), to: .ago(days: -29)) { $0.reason = .known(.purchase) },
        ]
        var again = try months([payAsYouGo, payAsYouGo])
        again[1].reason = .known(.purchase)
        var returnedMoney = try months([payAsYouGo, nil])
        returnedMoney[1].revokedAt = .ago(days: 3)
        var returnedLater = try months([payAsYouGo, nil, nil])
        returnedLater[2].revokedAt = .ago(days: 4)
        let returnedAgain = [
            try Purchases.transaction(1, from: .ago(days: 110), to: .ago(days: 80)) { $0.used(.promotional, "spring") },
            try Purchases.transaction(2, from: .ago(days: 80), to: .ago(days: 50)),
            try Purchases.transaction(3, from: .ago(days: 9), to: .ago(days: -21)) {
                $0.reason = .known(.purchase)
                $0.revokedAt = .ago(days: 8)
            },
        ]
        var refundedOther = try months([payAsYouGo, nil, autumn])
        refundedOther[2].revokedAt = .ago(days: 5)
        var shared = try months([payAsYouGo])
        shared[0].ownership = .known(.familyShared)
        var won = try months([payAsYouGo])
        won[0].offerType = .known(.winBack)
        let running = try Purchases.renewal {
            $0.offerType = .known(.promotional)
            $0.offerID = "spring"
        }
        let endedWithOffer = try Purchases.renewal {
            $0.offerType = .known(.promotional)
            $0.offerID = "spring"
            $0.expirationIntent = .known(.cancelled)
        }
        let ended = try Purchases.renewal {
            $0.expirationIntent = .known(.cancelled)
            $0.autoRenews = false
        }
        return [
            RedemptionRow(
                testDescription: "discounted periods in a row are one use",
                transactions: try months([nil, payAsYouGo, payAsYouGo]),
                expected: [(2, 2, .redeemed)]
            ),
            RedemptionRow(
                testDescription: "also where the kind of discount is not stated",
                transactions: try months([nil, unnamed, unnamed]),
                expected: [(2, 2, .redeemed)]
            ),
            RedemptionRow(
                testDescription: "each discount paid up front is a use",
                transactions: try months([upFront, upFront]),
                expected: [(1, 1, .notConverted(at: .ago(days: 20))), (2, 1, .redeemed)]
            ),
            RedemptionRow(
                testDescription: "a new purchase is a new use",
                transactions: again,
                expected: [(1, 1, .notConverted(at: .ago(days: 20))), (2, 1, .redeemed)]
            ),
            RedemptionRow(
                testDescription: "full price afterwards converts",
                transactions: try months([payAsYouGo, payAsYouGo, nil]),
                expected: [(1, 2, .converted(at: .ago(days: 20)))]
            ),
            RedemptionRow(
                testDescription: "full price in between parts two uses",
                transactions: try months([payAsYouGo, nil, payAsYouGo]),
                expected: [(1, 1, .converted(at: .ago(days: 50))), (3, 1, .redeemed)]
            ),
            RedemptionRow(
                testDescription: "another offer takes its place",
                transactions: try months([payAsYouGo, autumn, nil]),
                expected: [(1, 1, .notConverted(at: .ago(days: 50))), (2, 1, .converted(at: .ago(days: 20)))]
            ),
            RedemptionRow(
                testDescription: "a refund undoes the use",
                transactions: refunded,
                expected: [(1, 1, .undone(at: .ago(days: 2)))]
            ),
            RedemptionRow(
                testDescription: "a refund of a part leaves the use, and ends the subscription",
                transactions: partlyRefunded,
                renewal: try Purchases.renewal { $0.renewsAt = .ago(days: -10) },
                expected: [(1, 1, .notConverted(at: .ago(days: 2)))],
                refund: Refund(at: .ago(days: 2), millipercent: 40_000)
            ),
            RedemptionRow(
                testDescription: "refunds of earlier periods and of parts leave the use, and the first counts",
                transactions: refundedTwice,
                expected: [(1, 2, .converted(at: .ago(days: 20)))],
                refund: Refund(at: .ago(days: 45))
            ),
            RedemptionRow(
                testDescription: "who was refunded a part and bought again was not converted",
                transactions: unsaid,
                expected: [(1, 1, .notConverted(at: .ago(days: 25)))],
                refund: Refund(at: .ago(days: 25), millipercent: nil)
            ),
            RedemptionRow(
                testDescription: "who left and came back was not converted",
                transactions: returned,
                expected: [(1, 1, .notConverted(at: .ago(days: 50)))]
            ),
            RedemptionRow(
                testDescription: "full price that was refunded stays a conversion",
                transactions: returnedMoney,
                expected: [(1, 1, .converted(at: .ago(days: 20)))],
                refund: Refund(at: .ago(days: 3))
            ),
            RedemptionRow(
                testDescription: "so does one with a later period refunded",
                transactions: returnedLater,
                expected: [(1, 1, .converted(at: .ago(days: 50)))],
                refund: Refund(at: .ago(days: 4))
            ),
            RedemptionRow(
                testDescription: "a refund after the customer left and came back is none of the use",
                transactions: returnedAgain,
                expected: [(1, 1, .converted(at: .ago(days: 80)))]
            ),
            RedemptionRow(
                testDescription: "a refund of another offer's period is none of the use",
                transactions: refundedOther,
                expected: [(1, 1, .converted(at: .ago(days: 50))), (3, 1, .undone(at: .ago(days: 5)))]
            ),
            RedemptionRow(
                testDescription: "an offer for a renewal that will not come is not pending",
                transactions: [try Purchases.transaction(1, from: .ago(days: 35), to: .ago(days: 5))],
                renewal: endedWithOffer,
                expected: []
            ),
            RedemptionRow(testDescription: "family members use nothing", transactions: shared, expected: []),
            RedemptionRow(testDescription: "other types are not asked for", transactions: won, expected: []),
            RedemptionRow(
                testDescription: "an offer for the next renewal is pending",
                transactions: try months([nil]),
                renewal: running,
                expected: [(nil, 0, .pending)]
            ),
            RedemptionRow(
                testDescription: "an offer that goes on is not pending again",
                transactions: try months([payAsYouGo]),
                renewal: running,
                expected: [(1, 1, .redeemed)]
            ),
            RedemptionRow(
                testDescription: "an end without full price",
                transactions: [
                    try Purchases.transaction(1, from: .ago(days: 35), to: .ago(days: 5)) {
                        $0.used(.promotional, "spring")
                    }
                ],
                renewal: ended,
                expected: [(1, 1, .notConverted(at: .ago(days: 5)))]
            ),
            RedemptionRow(
                testDescription: "a past end alone is no end",
                transactions: [
                    try Purchases.transaction(1, from: .ago(days: 35), to: .ago(days: 5)) {
                        $0.used(.promotional, "spring")
                    }
                ],
                expected: [(1, 1, .redeemed)]
            ),
        ]
    }

    @Test(arguments: try rows())
    func `counts uses, and reports what became of each`(row: RedemptionRow) throws {
        let evidence = SubscriptionEvidence(
            source: .notification,
            transactions: row.transactions,
            renewals: row.renewal.map { [$0] } ?? []
        )
        let redemptions = SubscriptionHistory(evidence).redemptions(at: RuleRow.now)
        #expect(
            redemptions.map { $0.key.firstTransaction?.bytes }
                == row.expected.map { $0.first.map { Array("\($0)".utf8) } }
        )
        #expect(redemptions.map(\.periods) == row.expected.map(\.periods))
        #expect(redemptions.map(\.state) == row.expected.map(\.state))
        #expect(redemptions.first?.refund == row.refund)
    }

    /// Lapsed customers get SUBSCRIBED/RESUBSCRIBE, active ones OFFER_REDEEMED; both carry the same transactions.
    @Test
    func `gives the same result for notifications in any order, even with duplicates`() throws {
        let all = try Self.months([(.payAsYouGo, "spring"), (.payAsYouGo, "spring"), nil])
        var random = SplitMix(seed: 61)
        let inOrder = SubscriptionHistory(SubscriptionEvidence(source: .notification, transactions: all))
        for _ in 0..<20 {
            var late = SubscriptionHistory()
            for transaction in (all + all).shuffled(using: &random) {
                let one = SubscriptionEvidence(source: .notification, transactions: [transaction])
                late.merge(SubscriptionHistory(one))
            }
            #expect(late.redemptions(at: RuleRow.now) == inOrder.redemptions(at: RuleRow.now))
        }
    }
}

extension AppStoreTransaction {
    /// Taken back with that much of the price in thousandths of a percent: all of it, or a part.
    fileprivate mutating func refund(_ millipercent: Int?, daysAgo days: Int) {
        revokedAt = .ago(days: days)
        revocationType = .known(millipercent == Refund.whole ? .fullRefund : .proratedRefund)
        revocationPercentage = millipercent
    }
}
