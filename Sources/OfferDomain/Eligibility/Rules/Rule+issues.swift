// SPDX-License-Identifier: Apache-2.0

extension Rule {
    /// Everything in this rule and those inside it that contradicts itself or makes no sense, in their order.
    package var issues: [RuleIssue] { issues(at: "") }

    private func issues(at parent: String) -> [RuleIssue] {
        let check = RuleCheck(parent: parent, rule: name)
        switch self {
        case .all(let rules), .any(let rules):
            return check.list(rules.map(\.name), mayRepeat: true)
                + rules.enumerated().flatMap { $1.issues(at: "\(check.pointer)/\($0)") }
        case .not(let rule): return rule.issues(at: check.pointer)
        case .subscribedBefore, .autoRenew, .isActive, .billingPlan, .priceStepUpConsent, .appleWinBackEligible,
            .ownership, .environment, .deviceIntegrity, .appLicensed:
            return []
        case .status(let allowed): return check.list(allowed.map(\.rawValue), "/in")
        case .storefront(let allowed): return check.list(allowed.map(\.text), "/in")
        case .region(let allowed): return check.list(allowed.map(\.text), "/in")
        case .renewsTo(let allowed): return check.list(allowed.map(\.text), "/in")
        case .appOrigin(let allowed): return check.list(allowed.map(\.rawValue), "/in")
        case .lapsed(let atLeastDays, let atMostDays), .cancelled(let atLeastDays, let atMostDays):
            return check.days(atLeastDays, "/atLeastDays", least: 0) + check.days(atMostDays, "/atMostDays", least: 0)
                + check.bounds(atLeastDays, atMostDays)
        case .usedOffers(let type, let offer, _, let atMost):
            let hasNoID = type == .introductory && offer != nil
            return check.number(atMost, "/atMost", least: 0)
                + check.when(hasNoID, .introductoryOfferHasNoID, at: "/offer")
        case .grants(let atMost, let days, _, _, _), .budget(let atMost, let days, _):
            return check.number(atMost, "/atMost", least: 1) + check.days(days, "/perDays")
        case .cooldown(let days, _, _, _): return check.days(days, "/days")
        case .commitmentPeriod(let atLeast, let atMost):
            return check.days(atLeast, "/atLeast") + check.days(atMost, "/atMost") + check.bounds(atLeast, atMost)
        case .refunded(let days, let percent):
            return check.days(days, "/withinDays") + check.percent(percent, "/atLeastPercent")
        case .commitmentEnds(let days):
            return check.days(days, "/withinDays")
        case .window(let from, let until):
            let isReversed = if let from, let until { from >= until } else { false }
            return check.when(from == nil && until == nil, .unbounded) + check.when(isReversed, .reversed)
        case .attribute(let name, let test):
            return check.when(!Attributes.admits(name: name), .unfitAttributeName, at: "/name") + check.test(test)
        }
    }
}

extension Rule {
    /// Where it counts redemptions, as JSON pointers below `parent`.
    fileprivate func redeemedCaps(at parent: String) -> [String] {
        switch self {
        case .all(let rules), .any(let rules):
            rules.enumerated().flatMap { $1.redeemedCaps(at: "\(parent)/\(name)/\($0)") }
        case .not(let rule): rule.redeemedCaps(at: "\(parent)/not")
        case .grants(_, _, _, _, .redeemed), .cooldown(_, _, _, .redeemed): ["\(parent)/\(name)/counting"]
        default: []
        }
    }
}

extension EligibilityPolicy {
    /// The rule's issues, and where it asks for what the floor excludes.
    package var issues: [RuleIssue] {
        guard let rule else { return [] }
        let uncountable = offerType == .introductory ? rule.redeemedCaps(at: "") : []
        return rule.issues + uncountable.map { RuleIssue(pointer: $0, kind: .introductoryUsesUnmatched) }
            + (hasFloor ? EligibilityPolicy.contradictions(in: rule, at: "", isWanted: true) : [])
    }

    /// Only what has to be met for the whole to be, or, inside `not`, has to be not met: an alternative among others may
    /// be idle without harm.
    private static func contradictions(in rule: Rule, at parent: String, isWanted: Bool) -> [RuleIssue] {
        switch (rule, isWanted) {
        case (.subscribedBefore(!isWanted), _):
            [RuleIssue(pointer: parent + "/subscribedBefore", kind: .contradictsFloor)]
        case (.all(let rules), true), (.any(let rules), false):
            rules.enumerated().flatMap {
                contradictions(in: $1, at: "\(parent)/\(rule.name)/\($0)", isWanted: isWanted)
            }
        case (.not(let inner), _): contradictions(in: inner, at: parent + "/not", isWanted: !isWanted)
        default: []
        }
    }
}
