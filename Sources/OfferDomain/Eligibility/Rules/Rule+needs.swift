// SPDX-License-Identifier: Apache-2.0

extension Rule {
    /// What this rule and those inside it read of the ledger; to be asked once, when the catalog is loaded.
    package var needs: LedgerNeeds {
        var needs = LedgerNeeds()
        switch self {
        case .all(let rules), .any(let rules):
            return rules.reduce(needs) { $0.union($1.needs) }
        case .not(let rule):
            return rule.needs
        case .grants(_, _, let scope, let stores, let counting), .cooldown(_, let scope, let stores, let counting):
            needs.customerGrants = scope == .customer
            needs.originalTransactionGrants = scope == .originalTransaction
            needs.otherStore = stores == .both && scope == .customer
            needs.redemptions = counting == .redeemed
        case .budget(_, let days, let stores):
            needs.budget = days.map(BudgetSpan.days) ?? .forever
            needs.otherStore = stores == .both
        case .subscribedBefore, .status, .lapsed, .autoRenew, .isActive, .cancelled, .renewsTo, .billingPlan,
            .priceStepUpConsent, .commitmentEnds, .commitmentPeriod, .appleWinBackEligible, .usedOffers, .window,
            .storefront, .region, .ownership, .refunded, .environment, .appOrigin, .deviceIntegrity, .appLicensed,
            .attribute:
            break
        }
        return needs
    }
}

extension Rule {
    /// The rules among this and those inside it that ask about the app.
    package var asksAboutApp: [Rule] {
        switch self {
        case .all(let rules), .any(let rules): rules.flatMap(\.asksAboutApp)
        case .not(let rule): rule.asksAboutApp
        case .appOrigin, .deviceIntegrity, .appLicensed: [self]
        default: []
        }
    }

    /// The subscription groups that this rule and those inside it name.
    package var groups: [SubscriptionGroupID] {
        switch self {
        case .all(let rules), .any(let rules): rules.flatMap(\.groups)
        case .not(let rule): rule.groups
        case .usedOffers(_, _, let group, _): group.map { [$0] } ?? []
        default: []
        }
    }
}
