// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

/// Rules over what SDKs report, and uses of offers of types that came later.
struct SDKRuleTests {
    private static let advice =
        "; send signedTransactions or a transactionId (at Google Play, purchaseTokens), or as a backend "

    static let rows: [RuleRow] = [
        RuleRow(.isActive(true), .met, .isActive, "the customer has access to the subscription") {
            $0.facts.status = .stated(.inGracePeriod)
        },
        RuleRow(.isActive(true), .notMet, .isNotActive, "the customer has no access to the subscription") {
            $0.facts.status = .stated(.inBillingRetry)
        },
        RuleRow(.isActive(false), .met, .isNotActive, "the customer has no access to the subscription") {
            $0.facts.isActive = .stated(false)
        },
        RuleRow(.isActive(false), .notMet, .isActive, "the customer has access to the subscription") {
            ($0.facts.status, $0.facts.isActive) = (.stated(.active), .stated(false))
        },
        RuleRow(
            .isActive(true),
            .undecided,
            .isActiveUnknown,
            "it is not known whether the customer has access to the subscription\(advice)facts.isActive or facts.status"
        ),
        RuleRow(within, .met, .cancelled, "cancelled 3 days ago, 1 needed, at most 14 allowed") {
            $0.facts.cancelledAt = .stated(.ago(days: 3))
        },
        RuleRow(
            within,
            .notMet,
            .cancelledTooShort,
            "cancelled 0 days ago, 1 needed, at most 14 allowed",
            next: RuleRow.now.adding(days: 1)
        ) { $0.facts.cancelledAt = .stated(RuleRow.now) },
        RuleRow(within, .notMet, .cancelledTooLong, "cancelled 15 days ago, 1 needed, at most 14 allowed") {
            $0.facts.cancelledAt = .stated(.ago(days: 15))
        },
        RuleRow(within, .notMet, .notCancelled, "the customer has not cancelled") {
            ($0.facts.cancelledAt, $0.facts.autoRenews) = (.stated(.ago(days: 3)), .stated(true))
        },
        RuleRow(within, .notMet, .notCancelled, "the customer has not cancelled") {
            $0.facts.cancelledAt = .stated(.ago(days: -1))
        },
        RuleRow(
            within,
            .undecided,
            .cancellationUnknown,
            "it is not known when the customer cancelled\(advice)facts.cancelledAt"
        ) {
            $0.facts.autoRenews = .stated(false)
        },
    ]

    private static let within = Rule.cancelled(atLeastDays: 1, atMostDays: 14)

    @Test(arguments: rows)
    func `answers, and says why`(row: RuleRow) {
        let finding = row.rule.evaluate(in: row.context)
        #expect(finding.answer == row.answer)
        #expect(finding.code == row.code)
        #expect(finding.because == row.because)
        #expect(finding.nextEligibleAt == row.nextEligibleAt)
    }

    @Test
    func `compares the product of the next renewal`() throws {
        let rule = Rule.renewsTo(in: [try ProductID("monthly")])
        let products: [String?] = ["monthly", "yearly", nil]
        let codes = try products.map { product in
            let id = try product.map { try ProductID($0) }
            return rule.evaluate(in: .about { $0.facts.renewsTo = id.map { .stated($0) } }).code
        }
        #expect(codes == [.renewsToMatches, .renewsToDiffers, .renewsToUnknown])
    }

    struct AccessRow: CustomTestStringConvertible {
        let isActive: Bool?
        /// In days from now; nil is not stated.
        let endsIn: Int?
        let status: SubscriptionStatus?

        var testDescription: String { "\(isActive.debugDescription), \(endsIn.debugDescription)" }
    }

    @Test(arguments: [
        AccessRow(isActive: true, endsIn: 3, status: .active),
        AccessRow(isActive: true, endsIn: nil, status: .active),
        AccessRow(isActive: true, endsIn: -3, status: .inGracePeriod),
        AccessRow(isActive: false, endsIn: -3, status: .expired),
        AccessRow(isActive: false, endsIn: 3, status: .revoked),
        AccessRow(isActive: false, endsIn: nil, status: nil),
        AccessRow(isActive: nil, endsIn: -3, status: nil),
    ])
    func `takes access and end for a status`(row: AccessRow) {
        let facts = Self.facts(isActive: row.isActive, expiresAt: row.endsIn.map { .ago(days: -$0) })
        #expect(facts.status?.value == row.status)
        #expect(facts.hasAccess == row.isActive)
    }

    private static func facts(
        isActive: Bool? = nil,
        expiresAt: Timestamp? = nil,
        cancelledAt: Timestamp? = nil,
        autoRenews: Bool? = nil
    ) -> CustomerFacts {
        var stated = StatedFacts()
        stated.isActive = isActive
        stated.expiresAt = expiresAt
        stated.cancelledAt = cancelledAt
        stated.autoRenews = autoRenews
        return CustomerFacts(stated, at: RuleRow.now)
    }

    @Test
    func `takes a cancellation as renewal turned off, unless that is stated`() {
        #expect(Self.facts(cancelledAt: .ago(days: 2)).autoRenews?.value == false)
        #expect(Self.facts(cancelledAt: .ago(days: 2), autoRenews: true).autoRenews?.value == true)
        #expect(Self.facts().autoRenews == nil)
    }

    @Test
    func `forgets what SDKs reported about a subscription in another group`() throws {
        var facts = Self.facts(isActive: true, cancelledAt: .ago(days: 2))
        facts.renewsTo = .stated(try ProductID("monthly"))
        facts.subscriptionGroup = .stated(try SubscriptionGroupID("1"))
        let asked = facts.asked(of: try SubscriptionGroupID("2"))
        #expect(asked.isActive == nil && asked.cancelledAt == nil && asked.renewsTo == nil)
    }

    // MARK: - Types of offers

    @Test
    func `counts a retention offer, and one of a type that came later only where any type counts`() {
        let uses = [OfferUse(type: .retention, usedAt: .ago(days: 9)), OfferUse(type: nil, usedAt: .ago(days: 5))]
        func used(_ type: OfferType?) -> Finding {
            Rule.usedOffers(type: type, offer: nil, atMost: 0).evaluate(
                in: .about { $0.facts.offersUsed = .stated(uses) }
            )
        }
        for type in OfferType.allCases where type != .retention { #expect(used(type).answer == .met, "\(type)") }
        #expect(used(.retention).because == "has used 1 retention offers, at most 0 allowed")
        #expect(used(nil).because == "has used 2 offers, at most 0 allowed")
    }

    @Test(arguments: [("5", OfferType.retention as OfferType?), ("99", nil)])
    func `reads a history with a use of that type`(code: String, type: OfferType?) throws {
        let evidence = SubscriptionEvidence(
            source: .storeAPI,
            transactions: [
                try Purchases.transaction(1, from: .ago(days: 35), to: .ago(days: 5)) {
                    $0.offerType = Reported(code)
                }
            ],
            historyReadAt: RuleRow.now
        )
        let history = SubscriptionHistory(evidence)
        #expect(try history.facts().offersUsed?.value.map(\.type) == [type])
        // Reconciliation compares promotional offers, which need a grant.
        #expect(history.redemptions(at: RuleRow.now).isEmpty)
    }

    // MARK: - Introductory offers

    @Test
    func `admits a running subscriber who never had an introductory offer, unless a rule says otherwise`() throws {
        let group = try SubscriptionGroupID("21234567")
        let running = EvaluationContext.about {
            $0.facts.status = .stated(.active)
            $0.facts.offersUsed = .stated([])
        }
        let usual = EligibilityPolicy.introductoryOffer(rule: nil, in: group)
        #expect(usual.decide(running).outcome == .eligible)
        let strict = Rule.all([
            .usedOffers(type: .introductory, offer: nil, group: group, atMost: 0), .not(.status(in: [.active])),
        ])
        #expect(EligibilityPolicy.introductoryOffer(rule: strict, in: group).decide(running).outcome == .notEligible)
    }
}
