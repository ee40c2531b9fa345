// SPDX-License-Identifier: Apache-2.0

/// A condition that a customer must meet to be given an offer.
///
/// Rules are data, and evaluating one asks nothing of the network or the clock: the same rule and context give the
/// same ``Finding`` for ever. What each one means, and when it is undecided, is told in docs/rules.md.
package indirect enum Rule: Hashable, Sendable {
    /// Met if all are.
    case all([Rule])
    /// Met if at least one is.
    case any([Rule])
    case not(Rule)
    /// Whether the customer has or had a subscription of their own in the app.
    case subscribedBefore(Bool)
    case status(in: [SubscriptionStatus])
    /// The subscription has ended, so many whole days of 24 hours ago.
    case lapsed(atLeastDays: Int?, atMostDays: Int?)
    case autoRenew(Bool)
    /// Whether the customer has what the subscription gives.
    case isActive(Bool)
    /// The customer cancelled, so many whole days of 24 hours ago.
    case cancelled(atLeastDays: Int?, atMostDays: Int?)
    /// The next renewal is for one of these products.
    case renewsTo(in: [ProductID])
    /// How the customer pays in the App Store.
    case billingPlan(BillingPlan)
    /// What the customer has answered to a higher price at Google Play.
    case priceStepUpConsent(PriceStepUpConsent)
    /// The commitment of a monthly plan ends within so many days of 24 hours.
    case commitmentEnds(withinDays: Int)
    /// Of the commitment, this period runs, both bounds included; the first is 1.
    case commitmentPeriod(atLeast: Int?, atMost: Int?)
    /// Whether the App Store offers a win-back offer of its own.
    case appleWinBackEligible(Bool)
    /// The customer has used offers of this type, of this id and in this subscription group at most so many times;
    /// of what isn't given, any counts.
    case usedOffers(type: OfferType?, offer: OfferID?, group: SubscriptionGroupID? = nil, atMost: Int)
    /// This grant is at most the so-manieth of the offer in the last days of 24 hours, or ever.
    case grants(
        atMost: Int,
        perDays: Int? = nil,
        per: GrantScope = .customer,
        stores: StoreScope = .both,
        counting: GrantCounting = .granted
    )
    /// So many days of 24 hours have passed since the last grant of the offer, if there was one.
    case cooldown(
        days: Int,
        per: GrantScope = .customer,
        stores: StoreScope = .both,
        counting: GrantCounting = .granted
    )
    /// This grant is at most the so-manieth of the offer to anybody in the last UTC calendar days, or ever.
    case budget(atMost: Int, perDays: Int? = nil, stores: StoreScope = .both)
    /// Now is `from` or later, and before `until`.
    case window(from: Timestamp?, until: Timestamp?)
    case storefront(in: [Storefront])
    case region(in: [Region])
    case ownership(Ownership)
    /// There was a refund of a subscription in the last days of 24 hours, of at least so many percent of the price.
    case refunded(withinDays: Int, atLeastPercent: Int? = nil)
    case environment(StoreEnvironment)
    /// The app that asks is from one of these places.
    case appOrigin(in: [AppOrigin])
    /// Google says that the app's device meets at least this.
    case deviceIntegrity(atLeast: DeviceIntegrity)
    /// Whether Google says that the user got the app from Google Play.
    case appLicensed(Bool)
    case attribute(name: String, AttributeTest)

    /// The name in an offers file.
    package var name: String {
        switch self {
        case .all: "all"
        case .any: "any"
        case .not: "not"
        case .subscribedBefore: "subscribedBefore"
        case .status: "status"
        case .lapsed: "lapsed"
        case .autoRenew: "autoRenew"
        case .isActive: "isActive"
        case .cancelled: "cancelled"
        case .renewsTo: "renewsTo"
        case .billingPlan: "billingPlan"
        case .priceStepUpConsent: "priceStepUpConsent"
        case .commitmentEnds: "commitmentEnds"
        case .commitmentPeriod: "commitmentPeriod"
        case .appleWinBackEligible: "appleWinBackEligible"
        case .usedOffers: "usedOffers"
        case .grants: "grants"
        case .cooldown: "cooldown"
        case .budget: "budget"
        case .window: "window"
        case .storefront: "storefront"
        case .region: "region"
        case .ownership: "ownership"
        case .refunded: "refunded"
        case .environment: "environment"
        case .appOrigin: "appOrigin"
        case .deviceIntegrity: "deviceIntegrity"
        case .appLicensed: "appLicensed"
        case .attribute: "attribute"
        }
    }

    /// The names of all rules, for suggestions to who misspells one.
    package static let names = [
        "all", "any", "not", "subscribedBefore", "status", "lapsed", "autoRenew", "isActive", "cancelled", "renewsTo",
        "billingPlan", "commitmentEnds", "commitmentPeriod", "appleWinBackEligible", "usedOffers", "grants", "cooldown",
        "budget", "window", "storefront", "region", "ownership", "refunded",
        "environment", "appOrigin", "deviceIntegrity", "appLicensed", "attribute", "priceStepUpConsent",
    ]
}

/// Whose grants a cap counts.
package enum GrantScope: String, CaseIterable, Sendable {
    /// Those to any of the customer's identities.
    case customer
    /// Those to the subscription's original transaction.
    case originalTransaction
}

/// In which stores a cap counts, of an offer that is in both.
package enum StoreScope: String, CaseIterable, Sendable {
    /// In both together: what was granted in one is no longer left for the other.
    case both
    /// In each by itself.
    case each
}

/// Which of a customer's grants a cap counts.
package enum GrantCounting: String, CaseIterable, Sendable {
    /// All of them, from the moment of their record.
    case granted
    /// Those that were redeemed, and those that are still reserved: a store may yet report that they were.
    case redeemed
}

/// What is asked of an attribute.
package enum AttributeTest: Hashable, Sendable {
    case equals(AttributeValue)
    case isIn([AttributeValue])
    /// A number within these bounds, themselves included.
    case range(atLeast: Double?, atMost: Double?)
    /// Whether the caller stated it at all.
    case exists(Bool)
}
