// SPDX-License-Identifier: Apache-2.0

/// Who may have an offer: Apple's own floor, and the rule of the offers file.
package struct EligibilityPolicy: Hashable, Sendable {
    /// The rule of the offers file; nil if it has none, so that only the floor is asked.
    package let rule: Rule?
    /// The kind of offer that it is for.
    package let offerType: OfferType
    /// Whether the offer is only for who has or had a subscription.
    ///
    /// The App Store honours a promotional offer only for them, and nothing in an offers file switches this off there.
    ///
    /// Source: Apple, [Implementing promotional offers in your app](https://developer.apple.com/documentation/storekit/implementing-promotional-offers-in-your-app).
    package let hasFloor: Bool
    /// Whether it is also for customers of whom an app only claims who they are.
    ///
    /// Whoever has the app's API key can have it for each name that they make up.
    package let admitsUnprovenCustomers: Bool
    /// Kept here, since a case with a value is an allocation, and here it is freed with the rest.
    private let floor = Rule.subscribedBefore(true)

    /// `hasFloor` is for a store that enforces nothing itself; `nil` is as the App Store has it.
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

    /// Who may have an introductory offer in a subscription group: whom the rule admits, or without one, who has used no
    /// introductory offer in that group.
    ///
    /// The latter is the App Store's own condition. What is signed overrides it, so a rule replaces it as a whole. A running
    /// subscription in the group does not matter to it: Apple's article asks for no used offer alone, and a subscriber who
    /// never had one may take it with a change of plan. A rule with `status` is for teams that want it otherwise.
    ///
    /// Source: Apple, [Implementing introductory offers in your app](https://developer.apple.com/documentation/storekit/implementing-introductory-offers-in-your-app).
    package static func introductoryOffer(rule: Rule?, in group: SubscriptionGroupID) -> EligibilityPolicy {
        let own = Rule.usedOffers(type: .introductory, offer: nil, group: group, atMost: 0)
        return EligibilityPolicy(rule: rule ?? own, offerType: .introductory)
    }

    /// What the ledger must be asked before this is decided.
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
            findings.append(Finding(floor, .undecided, .customerUnproven, isFloor: true))
        }
        if hasFloor {
            findings.append(floor.subscribedBefore(true, context.facts.subscribedBefore, isFloor: true))
        }
        if case .all(let rules) = rule {
            for rule in rules { findings.append(rule.evaluate(in: context)) }
        } else if let rule {
            findings.append(rule.evaluate(in: context))
        }
        return findings
    }

    /// The instant at which this very decision, asked again, would be `eligible`.
    ///
    /// Each rule knows when its own answer turns, but another's may turn back in the meantime. So what the rules say
    /// together is tried, a few times over, and nothing is promised that doesn't hold.
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
