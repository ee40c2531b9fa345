// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

/// Rules over what the App Store alone knows: the billing plan, its commitment, and win-back offers of its own.
struct PlanRuleTests {
    private static let advice =
        "; send signedTransactions or a transactionId (at Google Play, purchaseTokens), or as a backend facts."
    private static let ends = Rule.commitmentEnds(withinDays: 30)
    private static let last = Rule.commitmentPeriod(atLeast: 10, atMost: 12)

    static let rows: [RuleRow] = [
        RuleRow(.billingPlan(.monthly), .met, .billingPlanMatches, "the billing plan is monthly") {
            $0.facts.billingPlan = .stated(.monthly)
        },
        RuleRow(.billingPlan(.monthly), .notMet, .billingPlanDiffers, "the billing plan is not monthly") {
            $0.facts.billingPlan = .stated(.billedUpfront)
        },
        RuleRow(
            .billingPlan(.monthly),
            .undecided,
            .billingPlanUnknown,
            "the billing plan is not known\(advice)billingPlan"
        ),
        RuleRow(ends, .met, .commitmentEndsSoon, "the commitment ends within 30 days") {
            $0.facts.commitmentEndsAt = .stated(.ago(days: -30))
        },
        RuleRow(
            ends,
            .notMet,
            .commitmentEndsLater,
            "the commitment does not end within 30 days",
            next: RuleRow.now.adding(days: 1)
        ) { $0.facts.commitmentEndsAt = .stated(.ago(days: -31)) },
        RuleRow(ends, .notMet, .commitmentOver, "the commitment has ended") {
            $0.facts.commitmentEndsAt = .stated(RuleRow.now)
        },
        RuleRow(ends, .notMet, .noCommitment, "the billing plan has no commitment") {
            $0.facts.billingPlan = .stated(.billedUpfront)
        },
        RuleRow(
            ends,
            .undecided,
            .commitmentEndUnknown,
            "it is not known when the commitment ends\(advice)commitmentEndsAt"
        ) { $0.facts.billingPlan = .stated(.monthly) },
        RuleRow(
            last,
            .met,
            .commitmentPeriodMatches,
            "period 12 of the commitment, at least 10 needed, at most 12 allowed"
        ) { $0.facts.commitmentPeriod = .stated(12) },
        RuleRow(
            last,
            .notMet,
            .commitmentPeriodDiffers,
            "period 9 of the commitment, at least 10 needed, at most 12 allowed"
        ) { $0.facts.commitmentPeriod = .stated(9) },
        RuleRow(
            .commitmentPeriod(atLeast: nil, atMost: 2),
            .notMet,
            .commitmentPeriodDiffers,
            "period 3 of the commitment, at most 2 allowed"
        ) { $0.facts.commitmentPeriod = .stated(3) },
        RuleRow(
            last,
            .undecided,
            .commitmentPeriodUnknown,
            "it is not known which period of the commitment runs\(advice)commitmentPeriod"
        ),
        RuleRow(
            .priceStepUpConsent(.pending),
            .met,
            .priceStepUpConsentMatches,
            "the consent to the price step-up is pending"
        ) { $0.facts.priceStepUpConsent = .stated(.pending) },
        RuleRow(
            .priceStepUpConsent(.pending),
            .notMet,
            .priceStepUpConsentDiffers,
            "the consent to the price step-up is not pending"
        ) { $0.facts.priceStepUpConsent = .stated(.notRequired) },
        RuleRow(
            .priceStepUpConsent(.pending),
            .undecided,
            .priceStepUpConsentUnknown,
            "it is not known whether the customer agreed to a price step-up\(advice)priceStepUpConsent"
        ),
        RuleRow(
            .appleWinBackEligible(false),
            .met,
            .noAppleWinBack,
            "the App Store has no win-back offer for the customer"
        ) { $0.facts.appleWinBackEligible = .stated(false) },
        RuleRow(
            .appleWinBackEligible(false),
            .notMet,
            .appleWinBack,
            "the App Store has a win-back offer for the customer"
        ) { $0.facts.appleWinBackEligible = .stated(true) },
        RuleRow(
            .appleWinBackEligible(true),
            .undecided,
            .appleWinBackUnknown,
            "it is not known whether the App Store has a win-back offer for the customer\(advice)appleWinBackEligible"
        ),
    ]

    @Test(arguments: rows)
    func `answers, and says why`(row: RuleRow) {
        let finding = row.rule.evaluate(in: row.context)
        #expect(finding.answer == row.answer)
        #expect(finding.code == row.code)
        #expect(finding.because == row.because)
        #expect(finding.nextEligibleAt == row.nextEligibleAt)
    }

    @Test
    func `forgets the plan of a subscription in another group, and keeps win-back offers`() throws {
        var stated = StatedFacts()
        stated.billingPlan = .monthly
        stated.commitmentEndsAt = RuleRow.now
        stated.commitmentPeriod = 3
        stated.appleWinBackEligible = true
        stated.priceStepUpConsent = .pending
        stated.subscriptionGroup = try SubscriptionGroupID("1")
        let facts = CustomerFacts(stated, at: RuleRow.now)
        let asked = facts.asked(of: try SubscriptionGroupID("2"))
        #expect(asked.billingPlan == nil && asked.commitmentEndsAt == nil && asked.commitmentPeriod == nil)
        #expect(asked.priceStepUpConsent == nil)
        #expect(asked.appleWinBackEligible?.value == true)
    }
}
