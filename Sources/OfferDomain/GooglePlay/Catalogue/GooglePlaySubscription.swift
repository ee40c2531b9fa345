// SPDX-License-Identifier: Apache-2.0

/// A subscription as Google Play lists it, as far as its offers hang on it.
///
/// Source: Google, [Subscription](https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.subscriptions).
package struct GooglePlaySubscription: Hashable, Sendable {
    /// As the answer names it, which need not be as it was asked for.
    package let packageName: PackageName
    package let productID: GooglePlayProductID
    /// Each with an id of its own.
    package let basePlans: [GooglePlayBasePlan]

    package init(packageName: PackageName, productID: GooglePlayProductID, basePlans: [GooglePlayBasePlan]) {
        self.packageName = packageName
        self.productID = productID
        self.basePlans = basePlans
    }
}

/// What an offer lowers the price of: a period and a way of renewing.
package struct GooglePlayBasePlan: Hashable, Sendable {
    package let id: BasePlanID
    package let state: Reported<GooglePlayState>
    package let kind: GooglePlayBasePlanKind
    /// Every offer of the base plan has these too, on devices and in purchases, though the list of offers does not show
    /// them there.
    package let tags: Set<OfferTag>
    /// An offer that old versions of the billing library show too, where offers have no tags.
    package let legacyCompatibleOfferID: GooglePlayOfferID?
    package let regions: GooglePlayRegions

    package init(
        id: BasePlanID,
        state: Reported<GooglePlayState>,
        kind: GooglePlayBasePlanKind,
        tags: Set<OfferTag>,
        legacyCompatibleOfferID: GooglePlayOfferID? = nil,
        regions: GooglePlayRegions
    ) {
        self.id = id
        self.state = state
        self.kind = kind
        self.tags = tags
        self.legacyCompatibleOfferID = legacyCompatibleOfferID
        self.regions = regions
    }
}

/// Whether base plans and offers can be bought.
package enum GooglePlayState: String, StoreCode {
    /// Never yet.
    case draft = "DRAFT"
    case active = "ACTIVE"
    /// No longer; who has it keeps it.
    case inactive = "INACTIVE"

    package var storeText: String { rawValue }
}

/// How a base plan goes on; only those that renew by themselves have offers.
package enum GooglePlayBasePlanKind: String, Sendable {
    case autoRenewing
    case prepaid
    case installments
    /// None that was known when this was written, or several at once.
    case unknown
}

/// Where new subscribers may buy something.
package struct GooglePlayRegions: Hashable, Sendable {
    /// All that are named, whether or not it is to be had there.
    package let listed: Set<Region>
    /// Those of them where it is to be had.
    package let available: Set<Region>
    /// Whether it will be to be had where Google Play may open in the future; of no region that exists today.
    package let includesFutureRegions: Bool

    package init(listed: Set<Region>, available: Set<Region>, includesFutureRegions: Bool = false) {
        self.listed = listed.union(available)
        self.available = available
        self.includesFutureRegions = includesFutureRegions
    }
}
