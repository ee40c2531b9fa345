// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

struct LedgerRuleTests {
    private static let today = RuleRow.now.utcDay
    private static let nextMidnight = Timestamp(startOfUTCDay: today + 1)

    private static func granted(_ times: Timestamp...) -> (inout EvaluationContext) -> Void {
        { $0.grants.byCustomer = times }
    }

    private static func spent(_ counts: (daysAgo: Int, count: Int)...) -> (inout EvaluationContext) -> Void {
        { $0.grants.offerGrantsPerDay = counts.map { GrantHistory.DayCount(day: today - $0.daysAgo, count: $0.count) } }
    }

    static let customerCaps: [RuleRow] = [
        RuleRow(.grants(atMost: 1), .met, .grantsBelowCap, "0 grants so far, at most 1 allowed"),
        RuleRow(
            .grants(atMost: 1),
            .notMet,
            .grantsCapReached,
            "1 grant so far, at most 1 allowed",
            where: granted(.ago(days: 900))
        ),
        RuleRow(
            .grants(atMost: 1, perDays: 365),
            .met,
            .grantsBelowCap,
            "0 grants in the last 365 days, at most 1 allowed",
            where: granted(.ago(days: 365))
        ),
        RuleRow(
            .grants(atMost: 1, perDays: 365),
            .notMet,
            .grantsCapReached,
            "1 grant in the last 365 days, at most 1 allowed",
            next: RuleRow.now.adding(milliseconds: 1),
            where: granted(Timestamp.ago(days: 365).adding(milliseconds: 1))
        ),
        RuleRow(
            .grants(atMost: 2, perDays: 10),
            .notMet,
            .grantsCapReached,
            "3 grants in the last 10 days, at most 2 allowed",
            next: RuleRow.now.adding(days: 5),
            where: granted(.ago(days: 20), .ago(days: 7), .ago(days: 5), .ago(days: 1))
        ),
        RuleRow(
            .grants(atMost: 1),
            .undecided,
            .customerUnknown,
            "it is not known whose grants to count: no customer id, anonymous id, token or user name; send "
                + "customerId, anonymousId, appAccountToken or applicationUsername"
        ) { $0.owners = [] },
        RuleRow(
            .grants(atMost: 1, per: .originalTransaction),
            .undecided,
            .originalTransactionUnknown,
            asking("it is not known whose grants to count: no original transaction", "originalTransactionId")
        ),
        RuleRow(.cooldown(days: 30), .met, .cooldownOver, "no grant before this one"),
        RuleRow(
            .cooldown(days: 30),
            .met,
            .cooldownOver,
            "the last grant was 30 days ago, 30 needed",
            where: granted(.ago(days: 30))
        ),
        RuleRow(
            .cooldown(days: 30),
            .notMet,
            .cooldownRunning,
            "the last grant was 1 day ago, 30 needed",
            next: RuleRow.now.adding(days: 29),
            where: granted(.ago(days: 50), .ago(days: 1))
        ),
        RuleRow(
            .cooldown(days: 30),
            .undecided,
            .customerUnknown,
            "it is not known whose grants to count: no customer id, anonymous id, token or user name; send "
                + "customerId, anonymousId, appAccountToken or applicationUsername"
        ) { $0.owners = [] },
        RuleRow(
            .cooldown(days: 30, per: .originalTransaction),
            .undecided,
            .originalTransactionUnknown,
            asking("it is not known whose grants to count: no original transaction", "originalTransactionId")
        ),
    ]

    /// The customer's grants where caps count redemptions, each with when it is given back.
    private static func redeemable(
        _ grants: (at: Timestamp, releasedAt: Timestamp?)...
    ) -> (inout EvaluationContext) -> Void {
        {
            var redeemable = RedeemableGrants()
            redeemable.byCustomer = grants.map { CountedGrant(grantedAt: $0.at, releasedAt: $0.releasedAt) }
            $0.grants.redeemable = redeemable
            $0.grants.byCustomer = grants.map(\.at) + [.ago(days: 3)]
        }
    }

    static let redeemedCaps: [RuleRow] = [
        RuleRow(
            .grants(atMost: 1, counting: .redeemed),
            .met,
            .grantsBelowCap,
            "0 grants redeemed or still reserved so far, at most 1 allowed",
            where: redeemable()
        ),
        RuleRow(
            .grants(atMost: 1, counting: .redeemed),
            .notMet,
            .grantsCapReached,
            "1 grant redeemed or still reserved so far, at most 1 allowed",
            where: redeemable((.ago(days: 900), nil))
        ),
        RuleRow(
            .grants(atMost: 1, counting: .redeemed),
            .notMet,
            .grantsCapReached,
            "1 grant redeemed or still reserved so far, at most 1 allowed",
            next: RuleRow.now.adding(days: 1),
            where: redeemable((.ago(days: 1), RuleRow.now.adding(days: 1)))
        ),
        RuleRow(
            .grants(atMost: 1, counting: .redeemed),
            .met,
            .grantsBelowCap,
            "0 grants redeemed or still reserved so far, at most 1 allowed",
            where: redeemable((.ago(days: 2), RuleRow.now))
        ),
        RuleRow(
            .grants(atMost: 2, perDays: 10, counting: .redeemed),
            .notMet,
            .grantsCapReached,
            "3 grants redeemed or still reserved in the last 10 days, at most 2 allowed",
            next: RuleRow.now.adding(days: 3),
            where: redeemable(
                (.ago(days: 20), nil),
                (.ago(days: 7), nil),
                (.ago(days: 5), nil),
                (.ago(days: 1), .ago(days: -1))
            )
        ),
        // If redemptions were not looked up, all grants count.
        RuleRow(
            .grants(atMost: 1, counting: .redeemed),
            .notMet,
            .grantsCapReached,
            "1 grant redeemed or still reserved so far, at most 1 allowed",
            where: granted(.ago(days: 9))
        ),
        RuleRow(
            .grants(atMost: 1, counting: .redeemed),
            .undecided,
            .customerUnknown,
            "it is not known whose grants to count: no customer id, anonymous id, token or user name; send "
                + "customerId, anonymousId, appAccountToken or applicationUsername"
        ) { $0.owners = [] },
        RuleRow(
            .cooldown(days: 30, counting: .redeemed),
            .met,
            .cooldownOver,
            "no grant redeemed or still reserved before this one",
            where: redeemable((.ago(days: 2), RuleRow.now))
        ),
        RuleRow(
            .cooldown(days: 30, counting: .redeemed),
            .notMet,
            .cooldownRunning,
            "the last grant redeemed or still reserved was 1 day ago, 30 needed",
            next: RuleRow.now.adding(days: 10),
            where: redeemable((.ago(days: 20), nil), (.ago(days: 1), .ago(days: -1)))
        ),
        RuleRow(
            .cooldown(days: 30, counting: .redeemed),
            .met,
            .cooldownOver,
            "the last grant redeemed or still reserved was 30 days ago, 30 needed",
            where: redeemable((.ago(days: 30), nil), (.ago(days: 3), .ago(days: 1)))
        ),
        RuleRow(
            .cooldown(days: 30, per: .originalTransaction, counting: .redeemed),
            .undecided,
            .originalTransactionUnknown,
            asking("it is not known whose grants to count: no original transaction", "originalTransactionId")
        ),
    ]

    static func transactionCaps() throws -> [RuleRow] {
        let history: (inout EvaluationContext) -> Void = {
            $0.owners = .originalTransaction
            $0.grants.byOriginalTransaction = [.ago(days: 2)]
        }
        return [
            RuleRow(
                .grants(atMost: 1, perDays: 3, per: .originalTransaction),
                .notMet,
                .grantsCapReached,
                "1 grant in the last 3 days, at most 1 allowed",
                next: RuleRow.now.adding(days: 1),
                where: history
            ),
            RuleRow(
                .cooldown(days: 2, per: .originalTransaction),
                .met,
                .cooldownOver,
                "the last grant was 2 days ago, 2 needed",
                where: history
            ),
            RuleRow(
                .grants(atMost: 1),
                .undecided,
                .customerUnknown,
                "it is not known whose grants to count: no customer id, anonymous id, token or user name; send "
                    + "customerId, anonymousId, appAccountToken or applicationUsername",
                where: history
            ),
        ]
    }

    static let budgets: [RuleRow] = [
        RuleRow(
            .budget(atMost: 10),
            .met,
            .budgetLeft,
            "9 grants to all customers so far, at most 10 allowed",
            where: spent((400, 4), (0, 5))
        ),
        RuleRow(
            .budget(atMost: 9),
            .notMet,
            .budgetSpent,
            "9 grants to all customers so far, at most 9 allowed",
            where: spent((400, 4), (0, 5))
        ),
        RuleRow(
            .budget(atMost: 5, perDays: 1),
            .met,
            .budgetLeft,
            "4 grants to all customers today (UTC), at most 5 allowed",
            where: spent((1, 100), (0, 4))
        ),
        RuleRow(
            .budget(atMost: 5, perDays: 1),
            .notMet,
            .budgetSpent,
            "5 grants to all customers today (UTC), at most 5 allowed",
            next: nextMidnight,
            where: spent((0, 5))
        ),
        RuleRow(
            .budget(atMost: 5, perDays: 7),
            .met,
            .budgetLeft,
            "4 grants to all customers in the last 7 days (UTC), at most 5 allowed",
            where: spent((7, 100), (6, 2), (0, 2))
        ),
        RuleRow(
            .budget(atMost: 5, perDays: 7),
            .notMet,
            .budgetSpent,
            "7 grants to all customers in the last 7 days (UTC), at most 5 allowed",
            next: Timestamp(startOfUTCDay: today + 4),
            where: spent((6, 2), (3, 2), (0, 3))
        ),
        RuleRow(.budget(atMost: 1), .met, .budgetLeft, "0 grants to all customers so far, at most 1 allowed"),
    ]

    private static let later = RuleRow.now.adding(days: 1)

    static let windows: [RuleRow] = [
        RuleRow(.window(from: RuleRow.now, until: nil), .met, .windowOpen, "open"),
        RuleRow(.window(from: nil, until: later), .met, .windowOpen, "open until 2026-03-02T12:00:00Z"),
        RuleRow(
            .window(from: later, until: nil),
            .notMet,
            .windowNotYetOpen,
            "opens at 2026-03-02T12:00:00Z",
            next: later
        ),
        RuleRow(
            .window(from: nil, until: RuleRow.now),
            .notMet,
            .windowClosed,
            "closed at 2026-03-01T12:00:00Z"
        ),
    ]

    @Test(arguments: try customerCaps + redeemedCaps + transactionCaps() + budgets + windows)
    func `answers, and says why and until when`(row: RuleRow) {
        let finding = row.rule.evaluate(in: row.context)
        #expect(finding.answer == row.answer)
        #expect(finding.code == row.code)
        #expect(finding.because == row.because)
        #expect(finding.nextEligibleAt == row.nextEligibleAt)
        #expect(finding.rule == row.rule.name)
    }

    @Test
    func `says of every rule what it reads of the ledger`() {
        #expect(Rule.autoRenew(true).needs.isEmpty)
        #expect(Rule.grants(atMost: 1).needs.customerGrants)
        #expect(!Rule.grants(atMost: 1).needs.originalTransactionGrants)
        #expect(!Rule.all([.grants(atMost: 1), .cooldown(days: 1), .budget(atMost: 1)]).needs.redemptions)
        #expect(Rule.all([.grants(atMost: 1), .cooldown(days: 1, counting: .redeemed)]).needs.redemptions)
        #expect(Rule.any([.not(.grants(atMost: 1, counting: .redeemed))]).needs.redemptions)
        #expect(Rule.not(.cooldown(days: 1, per: .originalTransaction)).needs.originalTransactionGrants)
        #expect(Rule.budget(atMost: 1).needs.budget == .forever)
        let both = Rule.all([
            .budget(atMost: 1, perDays: 7), .any([.budget(atMost: 9, perDays: 30), .cooldown(days: 1)]),
        ])
        #expect(both.needs.budget == .days(30))
        #expect(both.needs.customerGrants)
        #expect(Rule.all([both, .budget(atMost: 5)]).needs.budget == .forever)
        #expect(EligibilityPolicy(rule: both).needs == both.needs)
        #expect(EligibilityPolicy(rule: nil).needs.isEmpty)
    }
}
