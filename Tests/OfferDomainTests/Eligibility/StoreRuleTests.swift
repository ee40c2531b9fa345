// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

struct StoreRuleTests {
    static let subscription: [RuleRow] = [
        RuleRow(.subscribedBefore(true), .met, .subscribedBefore, "has or had a subscription in the app") {
            $0.facts.subscribedBefore = .stated(true)
        },
        RuleRow(.subscribedBefore(true), .notMet, .neverSubscribed, "never had a subscription in the app") {
            $0.facts.subscribedBefore = .stated(false)
        },
        RuleRow(.subscribedBefore(false), .met, .neverSubscribed, "never had a subscription in the app") {
            $0.facts.subscribedBefore = .stated(false)
        },
        RuleRow(.subscribedBefore(false), .notMet, .subscribedBefore, "has or had a subscription in the app") {
            $0.facts.subscribedBefore = .stated(true)
        },
        RuleRow(
            .subscribedBefore(true),
            .undecided,
            .subscribedBeforeUnknown,
            asking("it is not known whether there ever was a subscription in the app", "subscribedBefore", "status")
        ),
        RuleRow(
            .status(in: [.active, .expired]),
            .met,
            .statusMatches,
            "the status is expired, one of active, expired"
        ) { $0.facts.status = .stated(.expired) },
        RuleRow(
            .status(in: [.active]),
            .notMet,
            .statusDiffers,
            "the status is inBillingRetry, not one of active"
        ) { $0.facts.status = .stated(.inBillingRetry) },
        RuleRow(
            .status(in: [.active]),
            .undecided,
            .statusUnknown,
            asking("the status of the subscription is not known", "status")
        ),
        RuleRow(.autoRenew(false), .met, .autoRenewOff, "the subscription is not set to renew") {
            $0.facts.autoRenews = .stated(false)
        },
        RuleRow(.autoRenew(false), .notMet, .autoRenewOn, "the subscription is set to renew") {
            $0.facts.autoRenews = .stated(true)
        },
        RuleRow(
            .autoRenew(true),
            .undecided,
            .autoRenewUnknown,
            asking("it is not known whether the subscription is set to renew", "autoRenew")
        ),
        RuleRow(.ownership(.purchased), .met, .ownershipMatches, "the subscription is purchased") {
            $0.facts.ownership = .stated(.purchased)
        },
        RuleRow(.ownership(.purchased), .notMet, .ownershipDiffers, "the subscription is not purchased") {
            $0.facts.ownership = .stated(.familyShared)
        },
        RuleRow(
            .ownership(.purchased),
            .undecided,
            .ownershipUnknown,
            asking("it is not known how the customer got the subscription", "ownership")
        ),
        RuleRow(.environment(.production), .met, .environmentMatches, "the environment is production") {
            $0.facts.environment = .stated(.production)
        },
        RuleRow(.environment(.production), .notMet, .environmentDiffers, "the environment is not production") {
            $0.facts.environment = .stated(.sandbox)
        },
        RuleRow(
            .environment(.production),
            .undecided,
            .environmentUnknown,
            asking("the store environment is not known", "environment")
        ),
    ]

    private static func lapsed(_ status: SubscriptionStatus?, days: Int) -> (inout EvaluationContext) -> Void {
        {
            $0.facts.status = status.map { .stated($0) }
            $0.facts.expiresAt = .stated(.ago(days: days))
        }
    }

    static let lapse: [RuleRow] = [
        RuleRow(
            .lapsed(atLeastDays: 30, atMostDays: nil),
            .met,
            .lapsed,
            "lapsed 41 days ago, 30 needed",
            where: lapsed(.expired, days: 41)
        ),
        RuleRow(
            .lapsed(atLeastDays: 30, atMostDays: nil),
            .met,
            .lapsed,
            "lapsed 30 days ago, 30 needed",
            where: lapsed(.expired, days: 30)
        ),
        RuleRow(
            .lapsed(atLeastDays: 30, atMostDays: nil),
            .notMet,
            .lapsedTooShort,
            "lapsed 29 days ago, 30 needed",
            next: RuleRow.now.adding(milliseconds: 1)
        ) {
            $0.facts.status = .stated(.expired)
            $0.facts.expiresAt = .stated(Timestamp.ago(days: 30).adding(milliseconds: 1))
        },
        RuleRow(
            .lapsed(atLeastDays: 2, atMostDays: 90),
            .notMet,
            .lapsedTooShort,
            "lapsed 1 day ago, 2 needed, at most 90 allowed",
            next: RuleRow.now.adding(days: 1),
            where: lapsed(.expired, days: 1)
        ),
        RuleRow(
            .lapsed(atLeastDays: nil, atMostDays: 90),
            .met,
            .lapsed,
            "lapsed 90 days ago, at most 90 allowed"
        ) {
            $0.facts.status = .stated(.expired)
            $0.facts.expiresAt = .stated(Timestamp.ago(days: 91).adding(milliseconds: 1))
        },
        RuleRow(
            .lapsed(atLeastDays: nil, atMostDays: 90),
            .notMet,
            .lapsedTooLong,
            "lapsed 91 days ago, at most 90 allowed",
            where: lapsed(.expired, days: 91)
        ),
        RuleRow(
            .lapsed(atLeastDays: 1, atMostDays: nil),
            .notMet,
            .notLapsed,
            "the status is active, not expired",
            where: lapsed(.active, days: 41)
        ),
        RuleRow(
            .lapsed(atLeastDays: 1, atMostDays: nil),
            .notMet,
            .notLapsed,
            "the status is inBillingRetry, not expired",
            where: lapsed(.inBillingRetry, days: 41)
        ),
        RuleRow(
            .lapsed(atLeastDays: 1, atMostDays: nil),
            .notMet,
            .notLapsed,
            "the status is inGracePeriod, not expired",
            where: lapsed(.inGracePeriod, days: 41)
        ),
        RuleRow(
            .lapsed(atLeastDays: 1, atMostDays: nil),
            .notMet,
            .notLapsed,
            "the status is revoked, not expired",
            where: lapsed(.revoked, days: 41)
        ),
        RuleRow(
            .lapsed(atLeastDays: 1, atMostDays: nil),
            .notMet,
            .notLapsed,
            "the subscription has not ended yet",
            where: lapsed(nil, days: -1)
        ),
        RuleRow(
            .lapsed(atLeastDays: 30, atMostDays: nil),
            .notMet,
            .lapsedTooShort,
            "lapsed 3 days ago, 30 needed",
            where: lapsed(nil, days: 3)
        ),
        RuleRow(
            .lapsed(atLeastDays: 30, atMostDays: nil),
            .undecided,
            .lapseStatusUnknown,
            asking("it is not known whether the subscription has expired for good", "status", "expiresAt"),
            where: lapsed(nil, days: 41)
        ),
        RuleRow(
            .lapsed(atLeastDays: 30, atMostDays: nil),
            .undecided,
            .lapseStatusUnknown,
            asking("it is not known whether the subscription has expired for good", "status", "expiresAt")
        ),
        RuleRow(
            .lapsed(atLeastDays: 30, atMostDays: nil),
            .undecided,
            .lapseExpiryUnknown,
            asking("it is not known when the subscription expired", "expiresAt")
        ) { $0.facts.status = .stated(.expired) },
    ]

    static func lists() throws -> [RuleRow] {
        let usa = try Storefront("USA")
        let us = try Region("US")
        return [
            RuleRow(
                .storefront(in: [usa]),
                .met,
                .storefrontMatches,
                "the customer's storefront is one of those listed"
            ) { $0.facts.storefront = .stated(usa) },
            RuleRow(
                .storefront(in: [try Storefront("DEU")]),
                .notMet,
                .storefrontDiffers,
                "the customer's storefront is not one of those listed"
            ) { $0.facts.storefront = .stated(usa) },
            RuleRow(
                .storefront(in: [usa]),
                .undecided,
                .storefrontUnknown,
                asking("the customer's storefront is not known", "storefront")
            ),
            RuleRow(.region(in: [us]), .met, .regionMatches, "the customer's region is one of those listed") {
                $0.facts.region = .stated(us)
            },
            RuleRow(
                .region(in: [try Region("DE")]),
                .notMet,
                .regionDiffers,
                "the customer's region is not one of those listed"
            ) { $0.facts.region = .stated(us) },
            RuleRow(
                .region(in: [us]),
                .undecided,
                .regionUnknown,
                asking("the customer's region is not known", "region")
            ),
        ]
    }

    static func offersAndRefunds() throws -> [RuleRow] {
        let spring = try OfferID("spring")
        let use = OfferUse(type: .promotional, offerID: spring)
        let nameless = OfferUse(type: .promotional)
        let introductory = OfferUse(type: .introductory)
        let group = try SubscriptionGroupID("20001")
        let inGroup = OfferUse(type: .introductory, subscriptionGroup: group)
        let elsewhere = OfferUse(type: .introductory, subscriptionGroup: try SubscriptionGroupID("20002"))
        return [
            RuleRow(
                .usedOffers(type: .promotional, offer: nil, atMost: 1),
                .met,
                .usedOffersWithinLimit,
                "has used 1 promotional offers, at most 1 allowed"
            ) { $0.facts.offersUsed = .stated([use, introductory]) },
            RuleRow(
                .usedOffers(type: .promotional, offer: spring, atMost: 0),
                .notMet,
                .usedOffersOverLimit,
                "has used 1 promotional \"spring\" offers, at most 0 allowed"
            ) { $0.facts.offersUsed = .stated([use]) },
            RuleRow(
                .usedOffers(type: nil, offer: nil, atMost: 2),
                .notMet,
                .usedOffersOverLimit,
                "has used 3 offers, at most 2 allowed"
            ) { $0.facts.offersUsed = .stated([use, nameless, introductory]) },
            RuleRow(
                .usedOffers(type: nil, offer: spring, atMost: 0),
                .met,
                .usedOffersWithinLimit,
                "has used 0 \"spring\" offers, at most 0 allowed"
            ) { $0.facts.offersUsed = .stated([introductory]) },
            RuleRow(
                .usedOffers(type: nil, offer: spring, atMost: 0),
                .undecided,
                .usedOffersUnknown,
                asking("it is not known how many \"spring\" offers the customer has used", "offersUsed")
            ) { $0.facts.offersUsed = .stated([nameless]) },
            RuleRow(
                .usedOffers(type: nil, offer: spring, atMost: 1),
                .met,
                .usedOffersWithinLimit,
                "has used 0 \"spring\" offers, at most 1 allowed"
            ) { $0.facts.offersUsed = .stated([nameless]) },
            RuleRow(
                .usedOffers(type: .winBack, offer: nil, atMost: 0),
                .undecided,
                .usedOffersUnknown,
                asking("it is not known how many winBack offers the customer has used", "offersUsed")
            ),
            RuleRow(
                .usedOffers(type: .introductory, offer: nil, group: group, atMost: 0),
                .notMet,
                .usedOffersOverLimit,
                "has used 1 introductory offers in the group 20001, at most 0 allowed"
            ) { $0.facts.offersUsed = .stated([inGroup, elsewhere]) },
            RuleRow(
                .usedOffers(type: .introductory, offer: nil, group: group, atMost: 0),
                .met,
                .usedOffersWithinLimit,
                "has used 0 introductory offers in the group 20001, at most 0 allowed"
            ) { $0.facts.offersUsed = .stated([elsewhere, use]) },
            RuleRow(
                .usedOffers(type: .introductory, offer: nil, group: group, atMost: 0),
                .undecided,
                .usedOffersUnknown,
                asking(
                    "it is not known how many introductory offers in the group 20001 the customer has used",
                    "offersUsed"
                )
            ) { $0.facts.offersUsed = .stated([introductory]) },
            RuleRow(
                .usedOffers(type: nil, offer: spring, group: group, atMost: 0),
                .met,
                .usedOffersWithinLimit,
                "has used 0 \"spring\" offers in the group 20001, at most 0 allowed"
            ) { $0.facts.offersUsed = .stated([introductory, inGroup]) },
            RuleRow(.refunded(withinDays: 90), .met, .refunded, "a refund in the last 90 days") {
                $0.facts.refundedAt = .stated([.ago(days: 200), Refund(at: .ago(days: 90).adding(milliseconds: 1))])
            },
            RuleRow(.refunded(withinDays: 90), .notMet, .notRefunded, "no refund in the last 90 days") {
                $0.facts.refundedAt = .stated([.ago(days: 90)])
            },
            RuleRow(.refunded(withinDays: 1), .notMet, .notRefunded, "no refund in the last 1 day") {
                $0.facts.refundedAt = .stated([])
            },
            RuleRow(
                .refunded(withinDays: 90),
                .undecided,
                .refundsUnknown,
                asking("it is not known whether there were refunds", "refundedAt")
            ),
            RuleRow(
                .not(.refunded(withinDays: 90)),
                .notMet,
                .notNotMet,
                "the opposite of what follows",
                next: RuleRow.now.adding(days: 80)
            ) { $0.facts.refundedAt = .stated([.ago(days: 10)]) },
        ]
    }

    /// Refunds of a part of the price.
    static let partialRefunds = [
        RuleRow(.refunded(withinDays: 90), .met, .refunded, "a refund in the last 90 days") {
            $0.facts.refundedAt = .stated([third(daysAgo: 10)])
        },
        RuleRow(half, .notMet, .notRefunded, "no refund of at least 50 % in the last 90 days") {
            $0.facts.refundedAt = .stated([third(daysAgo: 10)])
        },
        RuleRow(half, .met, .refunded, "a refund of at least 50 % in the last 90 days") {
            $0.facts.refundedAt = .stated([Refund(at: .ago(days: 10), millipercent: 50_000)])
        },
        RuleRow(
            .not(half),
            .notMet,
            .notNotMet,
            "the opposite of what follows",
            next: RuleRow.now.adding(days: 60)
        ) { $0.facts.refundedAt = .stated([.ago(days: 30), third(daysAgo: 10)]) },
        RuleRow(half, .undecided, .refundsUnknown, unknownRefunds) {
            $0.facts.refundedAt = .stated([Refund(at: .ago(days: 10), millipercent: nil)])
        },
        RuleRow(.not(half), .notMet, .notNotMet, "the opposite of what follows") {
            $0.facts.refundedAt = .stated([.ago(days: 30), Refund(at: .ago(days: 10), millipercent: nil)])
        },
        RuleRow(full, .notMet, .notRefunded, "no refund of at least 100 % in the last 90 days") {
            $0.facts.refundedAt = .stated([Refund(at: .ago(days: 10), millipercent: nil)])
        },
        RuleRow(half, .notMet, .notRefunded, "no refund of at least 50 % in the last 90 days") {
            $0.facts.refundsSeen = .stated([third(daysAgo: 10)])
            $0.facts.refundsReportedSince = .stated(.ago(days: 90))
        },
        RuleRow(half, .undecided, .refundsUnknown, unknownRefunds) {
            $0.facts.refundsSeen = .stated([Refund(at: .ago(days: 10), millipercent: nil)])
            $0.facts.refundsReportedSince = .stated(.ago(days: 90))
        },
    ]

    private static let half = Rule.refunded(withinDays: 90, atLeastPercent: 50)
    private static let full = Rule.refunded(withinDays: 90, atLeastPercent: 100)
    private static let unknownRefunds = asking("it is not known whether there were refunds", "refundedAt")

    private static func third(daysAgo days: Int) -> Refund { Refund(at: .ago(days: days), millipercent: 33_333) }

    @Test(arguments: try subscription + lapse + lists() + offersAndRefunds() + partialRefunds)
    func `answers, and says why and until when`(row: RuleRow) {
        let finding = row.rule.evaluate(in: row.context)
        #expect(finding.answer == row.answer)
        #expect(finding.code == row.code)
        #expect(finding.because == row.because)
        #expect(finding.nextEligibleAt == row.nextEligibleAt)
        #expect(finding.rule == row.rule.name)
    }
}
