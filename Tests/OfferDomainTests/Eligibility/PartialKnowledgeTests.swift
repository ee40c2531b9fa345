// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

/// Rules about lists when only a part of the list was seen.
struct PartialKnowledgeTests {
    static func rows() throws -> [RuleRow] {
        let spring = OfferUse(type: .promotional, offerID: try OfferID("spring"))
        let nameless = OfferUse(type: .promotional)
        let rule = Rule.usedOffers(type: .promotional, offer: try OfferID("spring"), atMost: 0)
        let unknown = asking(
            "it is not known how many promotional \"spring\" offers the customer has used",
            "offersUsed"
        )
        let group = try SubscriptionGroupID("20001")
        let trialOnce = Rule.usedOffers(type: .introductory, offer: nil, group: group, atMost: 0)
        let trial = OfferUse(type: .introductory, subscriptionGroup: group)
        let elsewhere = OfferUse(type: .introductory, subscriptionGroup: try SubscriptionGroupID("20002"))
        let unknownTrials = asking(
            "it is not known how many introductory offers in the group 20001 the customer has used",
            "offersUsed"
        )
        return [
            RuleRow(
                trialOnce,
                .notMet,
                .usedOffersOverLimit,
                "has used 1 introductory offers in the group 20001, at most 0 allowed"
            ) { $0.facts.offersSeen = .stated([trial]) },
            RuleRow(trialOnce, .undecided, .usedOffersUnknown, unknownTrials) {
                $0.facts.offersSeen = .stated([elsewhere])
            },
            RuleRow(
                rule,
                .notMet,
                .usedOffersOverLimit,
                "has used 1 promotional \"spring\" offers, at most 0 allowed"
            ) { $0.facts.offersSeen = .stated([spring]) },
            RuleRow(rule, .undecided, .usedOffersUnknown, unknown) { $0.facts.offersSeen = .stated([nameless]) },
            RuleRow(rule, .undecided, .usedOffersUnknown, unknown) { $0.facts.offersSeen = .stated([]) },
            RuleRow(.refunded(withinDays: 90), .met, .refunded, "a refund in the last 90 days") {
                $0.facts.refundsSeen = .stated([.ago(days: 10)])
            },
            // When that refund is forgotten, another one may not be.
            RuleRow(.not(.refunded(withinDays: 90)), .notMet, .notNotMet, "the opposite of what follows") {
                $0.facts.refundsSeen = .stated([.ago(days: 10)])
            },
            RuleRow(
                .refunded(withinDays: 90),
                .undecided,
                .refundsUnknown,
                asking("it is not known whether there were refunds", "refundedAt")
            ) {
                $0.facts.refundsSeen = .stated([.ago(days: 90)])
            },
            RuleRow(.refunded(withinDays: 90), .notMet, .notRefunded, "no refund in the last 90 days") {
                $0.facts.refundsSeen = .stated([.ago(days: 90)])
                $0.facts.refundsReportedSince = .stated(.ago(days: 90))
            },
            RuleRow(.refunded(withinDays: 91), .met, .refunded, "a refund in the last 91 days") {
                $0.facts.refundsSeen = .stated([.ago(days: 90)])
                $0.facts.refundsReportedSince = .stated(.ago(days: 91))
            },
            RuleRow(
                .refunded(withinDays: 91),
                .undecided,
                .refundsUnknown,
                asking("it is not known whether there were refunds", "refundedAt")
            ) {
                $0.facts.refundsSeen = .stated([])
                $0.facts.refundsReportedSince = .stated(.ago(days: 90))
            },
        ]
    }

    static let lapse = [
        RuleRow(
            .lapsed(atLeastDays: 30, atMostDays: nil),
            .notMet,
            .lapsedTooShort,
            "lapsed 3 days ago, 30 needed"
        ) { $0.facts.latestEndSeen = .stated(.ago(days: 3)) },
        RuleRow(
            .lapsed(atLeastDays: 30, atMostDays: nil),
            .notMet,
            .notLapsed,
            "the subscription has not ended yet"
        ) { $0.facts.latestEndSeen = .stated(.ago(days: -3)) },
        RuleRow(
            .lapsed(atLeastDays: 30, atMostDays: nil),
            .undecided,
            .lapseExpiryUnknown,
            asking("it is not known when the subscription expired", "expiresAt")
        ) {
            $0.facts.latestEndSeen = .stated(.ago(days: 41))
            $0.facts.status = .stated(.expired)
        },
        // A later end that was not reported may be within the bounds.
        RuleRow(
            .lapsed(atLeastDays: nil, atMostDays: 30),
            .undecided,
            .lapseStatusUnknown,
            asking("it is not known whether the subscription has expired for good", "status", "expiresAt")
        ) { $0.facts.latestEndSeen = .stated(.ago(days: 41)) },
    ]

    @Test(arguments: try rows() + lapse)
    func `decides what the known part shows, and nothing about the rest`(row: RuleRow) {
        let finding = row.rule.evaluate(in: row.context)
        #expect(finding.answer == row.answer)
        #expect(finding.code == row.code)
        #expect(finding.because == row.because)
        #expect(finding.nextEligibleAt == row.nextEligibleAt)
    }
}
