// SPDX-License-Identifier: Apache-2.0

/// Who may have an offer: Apple's own floor, and the rule of the offers file.
package struct EligibilityPolicy: Hashable, Sendable {
    /// The rule of the offers file; nil if it has none, so that only the floor applies.
    package let rule: Rule?
    /// The kind of offer that it is for.
    package let offerType: OfferType
    /// Whether the offer is only for customers who have or had a subscription.
    ///
    /// The App Store honors a promotional offer only for them, and no setting in an offers file disables this there.
    ///
    /// Source: Apple, [Implementing promotional offers in your app](https://developer.apple.com/documentation/storekit/implementing-promotional-offers-in-your-app).
    package let hasFloor: Bool
    /// Whether the offer is also for customers whose identity only an app claims.
    ///
    /// A holder of the app's API key can then get it for every name that they invent.
    package let admitsUnprovenCustomers: Bool
    /// Stored because an enum case with a value is an allocation; here it is freed with the policy.
    private let floor = Rule.subscribedBefore(true)

    /// Set `hasFloor` for a store that enforces nothing itself; `nil` follows the App Store's own condition.
    package init(
        rule: Rule?,
        offerType: OfferType = .promotional,
        hasFloor: Bool? = nil,
        admitsUnprovenCustomers: Bool = false
    ) {
        self.rule = rule
        self.admitsUnprovenCustomers = admitsUnprovenCustomers
        self.offerType = offerType
        self.hasFloor = hasFloor ?? Self.hasFloor(offerType)
    }

    /// The policy for an introductory offer in a subscription group: the rule, or, without a rule, that the customer
    /// has used no introductory offer in that group.
    ///
    /// The latter is the App Store's own condition. A signature overrides it, so a rule replaces it completely. It
    /// ignores a running subscription in the group: Apple only requires that no offer was used, and a subscriber
    /// who never had one may take it with a change of plan. Teams that want it otherwise write a rule with `status`.
    ///
    /// Source: Apple, [Implementing introductory offers in your app](https://developer.apple.com/documentation/storekit/implementing-introductory-offers-in-your-app).
    package static func introductoryOffer(rule: Rule?, in group: SubscriptionGroupID) -> EligibilityPolicy {
        let own = Rule.usedOffers(type: .introductory, offer: nil, group: group, atMost: 0)
        return EligibilityPolicy(rule: rule ?? own, offerType: .introductory)
    }

    /// What the service must read from the ledger before it decides.
    package var needs: LedgerNeeds { rule?.needs ?? LedgerNeeds() }

    /// Decides, with a finding for the floor first, and then one for the rule, or for each of an `all`.
    package func decide(_ context: EvaluationContext) -> Decision {
        let findings = findings(in: context)
        let outcome = Outcome(findings)
        return Decision(
            outcome: outcome,
            findings: findings,
            nextEligibleAt: outcome == .notEligible ? nextEligibleAt(findings, context) : nil
        )
    }

    private static func hasFloor(_ type: OfferType) -> Bool {
        switch type {
        case .promotional, .winBack: true
        case .introductory, .offerCode, .retention: false
        }
    }

    private func findings(in context: EvaluationContext) -> [Finding] {
        var findings: [Finding] = []
        findings.reserveCapacity(8)
        if !context.isProven, !admitsUnprovenCustomers {
            findings.append(Finding(floor, .undecided, because: .customerUnproven).ofFloor)
        }
        if hasFloor {
            findings.append(floor.subscribedBefore(true, context.facts.subscribedBefore).ofFloor)
        }
        if case .all(let rules) = rule {
            for rule in rules { findings.append(rule.evaluate(in: context)) }
        } else if let rule {
            findings.append(rule.evaluate(in: context))
        }
        return findings
    }

    /// The instant at which this decision would be `eligible`; nil if there is none.
    ///
    /// Each rule knows when its own answer changes, but another rule's may change back before that. So this evaluates
    /// all rules at the next change, up to four times, and returns an instant only if all are met then.
    private func nextEligibleAt(_ findings: [Finding], _ context: EvaluationContext) -> Timestamp? {
        var (findings, context) = (findings, context)
        for _ in 0..<4 {
            let answer = Answer.all(findings.lazy.map(\.answer))
            guard answer == .notMet, let turn = findings.turningOfAll(.notMet), turn > context.now else { return nil }
            context.now = turn
            findings = self.findings(in: context)
            if Outcome(findings) == .eligible { return turn }
        }
        return nil
    }
}

/// What came of a policy.
package enum Outcome: String, CaseIterable, Sendable {
    case eligible
    case notEligible
    /// Something wasn't known; no offer is signed on that.
    case undecided

    init(_ findings: [Finding]) {
        switch Answer.all(findings.lazy.map(\.answer)) {
        case .met: self = .eligible
        case .notMet: self = .notEligible
        case .undecided: self = .undecided
        }
    }
}

/// An outcome with all its reasons.
package struct Decision: Hashable, Sendable {
    /// Eligible only if every finding is `met`.
    package let outcome: Outcome
    /// The App Store's floor first, where there is one.
    package let findings: [Finding]
    /// The instant at which the customer becomes eligible if nothing but time passes; nil if waiting doesn't help.
    package let nextEligibleAt: Timestamp?

    /// The findings that keep the customer from the offer.
    package var reasons: [Finding] { findings.filter { $0.answer != .met } }

    /// The first instant after `now` at which any rule answers otherwise, if nothing but time passes; nil if none does.
    package func firstTurn(after now: Timestamp) -> Timestamp? {
        findings.compactMap { $0.firstTurn(after: now) }.min()
    }
}

extension Finding {
    fileprivate func firstTurn(after now: Timestamp) -> Timestamp? {
        let own = turnsAt.flatMap { $0 > now ? $0 : nil }
        return (children.map { $0.firstTurn(after: now) } + [own]).compactMap(\.self).min()
    }
}
