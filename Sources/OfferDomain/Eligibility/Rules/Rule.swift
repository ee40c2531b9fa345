// SPDX-License-Identifier: Apache-2.0

/// A condition that a customer must meet to be given an offer.
///
/// Rules are data. Evaluation uses neither the network nor the clock: the same rule and context always give the
/// same ``Finding``. docs/rules.md explains each rule and when it is undecided.
package indirect enum Rule: Hashable, Sendable {
    /// Met if all are.
    case all([Rule])
    /// Met if at least one is.
    case any([Rule])
    case not(Rule)
    /// Whether the customer has or had a subscription of their own in the app.
    case subscribedBefore(Bool)
    case status(in: [SubscriptionStatus])
    /// The subscription ended this number of whole days of 24 hours ago, both bounds included.
    case lapsed(atLeastDays: Int?, atMostDays: Int?)
    case autoRenew(Bool)
    /// Whether the customer has access to what the subscription gives.
    case isActive(Bool)
    /// The customer canceled this number of whole days of 24 hours ago, both bounds included.
    case cancelled(atLeastDays: Int?, atMostDays: Int?)
    /// The next renewal is for one of these products.
    case renewsTo(in: [ProductID])
    /// How the customer pays in the App Store.
    case billingPlan(BillingPlan)
    /// What the customer has answered to a higher price at Google Play.
    case priceStepUpConsent(PriceStepUpConsent)
    /// The commitment of a monthly plan ends within this number of days of 24 hours.
    case commitmentEnds(withinDays: Int)
    /// The number of the commitment's current period, both bounds included; the first period is 1.
    case commitmentPeriod(atLeast: Int?, atMost: Int?)
    /// Whether the App Store offers a win-back offer of its own.
    case appleWinBackEligible(Bool)
    /// The customer has used offers of this type, ID and subscription group at most `atMost` times;
    /// a parameter that is nil matches any.
    case usedOffers(type: OfferType?, offer: OfferID?, group: SubscriptionGroupID? = nil, atMost: Int)
    /// Including this grant, the offer has at most `atMost` grants in the last `perDays` days of 24 hours, or ever.
    case grants(
        atMost: Int,
        perDays: Int? = nil,
        per: GrantScope = .customer,
        stores: StoreScope = .both,
        counting: GrantCounting = .granted
    )
    /// At least `days` days of 24 hours have passed since the last grant of the offer, if there was one.
    case cooldown(
        days: Int,
        per: GrantScope = .customer,
        stores: StoreScope = .both,
        counting: GrantCounting = .granted
    )
    /// Including this grant, all customers together have at most `atMost` in the last `perDays` UTC days, or ever.
    case budget(atMost: Int, perDays: Int? = nil, stores: StoreScope = .both)
    /// Now is `from` or later, and before `until`.
    case window(from: Timestamp?, until: Timestamp?)
    case storefront(in: [Storefront])
    case region(in: [Region])
    case ownership(Ownership)
    /// A subscription was refunded in the last `withinDays` days of 24 hours, by at least this percentage of the price.
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

    /// The names of all rules, for suggestions when a name is misspelled.
    package static let names = [
        "all", "any", "not", "subscribedBefore", "status", "lapsed", "autoRenew", "isActive", "cancelled", "renewsTo",
        "billingPlan", "commitmentEnds", "commitmentPeriod", "appleWinBackEligible", "usedOffers", "grants", "cooldown",
        "budget", "window", "storefront", "region", "ownership", "refunded",
        "environment", "appOrigin", "deviceIntegrity", "appLicensed", "attribute", "priceStepUpConsent",
    ]
}

/// Which owner's grants a cap counts.
package enum GrantScope: String, CaseIterable, Sendable {
    /// The grants to any of the customer's identities.
    case customer
    /// The grants to the subscription's original transaction.
    case originalTransaction
}

/// In which stores a cap counts the grants of an offer that is in both.
package enum StoreScope: String, CaseIterable, Sendable {
    /// In both together: a grant in one store also uses up the cap in the other.
    case both
    /// In each by itself.
    case each
}

/// Which of a customer's grants a cap counts.
package enum GrantCounting: String, CaseIterable, Sendable {
    /// All of them, from the moment of their record.
    case granted
    /// Redeemed grants, and reserved grants that a store may still report as redeemed.
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
