// SPDX-License-Identifier: Apache-2.0

/// Which facts a rule reads; ``CustomerFacts`` describes them.
package struct FactNeeds: OptionSet, Hashable, Sendable {
    /// One bit for each fact; never stored.
    package let rawValue: UInt32

    /// Required by `OptionSet`; bits above 16 mean nothing.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// ``CustomerFacts/subscribedBefore``.
    package static let subscribedBefore = FactNeeds(rawValue: 1)
    /// ``CustomerFacts/status``, or else ``CustomerFacts/isActive``.
    package static let status = FactNeeds(rawValue: 1 << 1)
    /// ``CustomerFacts/expiresAt``.
    package static let expiry = FactNeeds(rawValue: 1 << 2)
    /// ``CustomerFacts/autoRenews``.
    package static let autoRenew = FactNeeds(rawValue: 1 << 3)
    /// ``CustomerFacts/ownership``.
    package static let ownership = FactNeeds(rawValue: 1 << 4)
    /// ``CustomerFacts/storefront``.
    package static let storefront = FactNeeds(rawValue: 1 << 5)
    /// ``CustomerFacts/environment``.
    package static let environment = FactNeeds(rawValue: 1 << 6)
    /// The whole list, ``CustomerFacts/offersUsed``.
    package static let offersUsed = FactNeeds(rawValue: 1 << 7)
    /// The whole list, ``CustomerFacts/refundedAt``, or all refunds since an instant.
    package static let refunds = FactNeeds(rawValue: 1 << 8)
    /// No answer of the App Store contains it.
    package static let region = FactNeeds(rawValue: 1 << 9)
    /// No answer of the App Store contains it.
    package static let cancellation = FactNeeds(rawValue: 1 << 10)
    /// ``CustomerFacts/renewsTo``.
    package static let renewalProduct = FactNeeds(rawValue: 1 << 11)
    /// ``CustomerFacts/billingPlan``.
    package static let billingPlan = FactNeeds(rawValue: 1 << 12)
    /// ``CustomerFacts/commitmentEndsAt``.
    package static let commitmentEnd = FactNeeds(rawValue: 1 << 13)
    /// ``CustomerFacts/commitmentPeriod``.
    package static let commitmentPeriod = FactNeeds(rawValue: 1 << 14)
    /// ``CustomerFacts/appleWinBackEligible``.
    package static let appleWinBack = FactNeeds(rawValue: 1 << 15)
    /// No answer of the App Store contains it.
    package static let priceStepUpConsent = FactNeeds(rawValue: 1 << 16)
    /// The facts that only the App Store supplies.
    package static let ofAppStore: FactNeeds = [
        .storefront, .renewalProduct, .billingPlan, .commitmentEnd, .commitmentPeriod, .appleWinBack,
    ]

    /// Each need by itself.
    fileprivate static let each = (0..<17).map { FactNeeds(rawValue: 1 << $0) }

    /// The facts that one call of Get All Subscription Statuses supplies.
    package static let fromStatuses: FactNeeds = [
        .subscribedBefore, .status, .expiry, .autoRenew, .ownership, .storefront, .environment, .renewalProduct,
        .billingPlan, .commitmentEnd, .commitmentPeriod, .appleWinBack,
    ]
    /// The facts that need all pages of Get Transaction History.
    package static let fromHistory: FactNeeds = [.offersUsed, .refunds]
}

extension Rule {
    /// What this rule and those inside it read of the facts; to be asked once, when the catalog is loaded.
    package var factNeeds: FactNeeds {
        switch self {
        case .all(let rules), .any(let rules): rules.reduce([]) { $0.union($1.factNeeds) }
        case .not(let rule): rule.factNeeds
        case .subscribedBefore: .subscribedBefore
        case .status, .isActive: .status
        case .cancelled: [.cancellation, .autoRenew]
        case .renewsTo: .renewalProduct
        case .billingPlan: .billingPlan
        case .priceStepUpConsent: .priceStepUpConsent
        case .commitmentEnds: .commitmentEnd
        case .commitmentPeriod: .commitmentPeriod
        case .appleWinBackEligible: .appleWinBack
        case .lapsed: [.status, .expiry]
        case .autoRenew: .autoRenew
        case .usedOffers: .offersUsed
        case .storefront: .storefront
        case .region: .region
        case .ownership: .ownership
        case .refunded: .refunds
        case .environment: .environment
        // A store's answer about a customer says nothing about the app.
        case .grants, .cooldown, .budget, .window, .attribute, .appOrigin, .deviceIntegrity, .appLicensed: []
        }
    }
}

extension EligibilityPolicy {
    /// Which facts the rule and the App Store's floor read.
    package var factNeeds: FactNeeds {
        (rule?.factNeeds ?? []).union(hasFloor ? .subscribedBefore : [])
    }
}

// MARK: - How old facts are

extension CustomerFacts {
    /// The `needs` whose facts are missing or were observed before `instant`, so that a newer answer may help.
    ///
    /// If the store answered at `instant` or later without the fact, the need is met: asking again would not supply it.
    /// That there once was a subscription never becomes old.
    package func unmet(_ needs: FactNeeds, olderThan instant: Timestamp) -> FactNeeds {
        var unmet = needs
        for need in FactNeeds.each where needs.contains(need) {
            if let observedAt = observedAt(need), observedAt >= instant { unmet.remove(need) }
        }
        if subscribedBefore?.value == true { unmet.remove(.subscribedBefore) }
        if let statusesReadAt, statusesReadAt >= instant { unmet.subtract(.fromStatuses) }
        if let historyReadAt, historyReadAt >= instant { unmet.subtract(.fromHistory) }
        return unmet
    }

    /// Whether all needed facts are known.
    package func isComplete(for needs: FactNeeds) -> Bool {
        FactNeeds.each.allSatisfy { !needs.contains($0) || observedAt($0) != nil }
    }

    /// When the fact that one of the needs reads was observed.
    private func observedAt(_ need: FactNeeds) -> Timestamp? {
        switch need {
        case .subscribedBefore: subscribedBefore?.observedAt
        case .status: status?.observedAt ?? isActive?.observedAt
        case .cancellation: cancelledAt?.observedAt
        case .renewalProduct: renewsTo?.observedAt
        case .billingPlan: billingPlan?.observedAt
        case .priceStepUpConsent: priceStepUpConsent?.observedAt
        case .commitmentEnd: commitmentEndsAt?.observedAt
        case .commitmentPeriod: commitmentPeriod?.observedAt
        case .appleWinBack: appleWinBackEligible?.observedAt
        case .expiry: expiresAt?.observedAt
        case .autoRenew: autoRenews?.observedAt
        case .ownership: ownership?.observedAt
        case .storefront: storefront?.observedAt
        case .environment: environment?.observedAt
        case .offersUsed: offersUsed?.observedAt
        case .refunds: refundedAt?.observedAt ?? refundsReportedSince?.observedAt
        case .region: region?.observedAt
        default: nil
        }
    }
}
