// SPDX-License-Identifier: Apache-2.0

/// A subscription as Google Play lists it, as far as its offers hang on it.
///
/// Source: Google, [Subscription](https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.subscriptions).
package struct GooglePlaySubscription: Hashable, Sendable {
    /// As the answer names it, which may differ from the request.
    package let packageName: PackageName
    /// As the answer names it.
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
    /// Unique within the subscription.
    package let id: BasePlanID
    /// Offers are available only while it is active, regardless of their own state.
    package let state: Reported<GooglePlayState>
    /// How the base plan continues when its period is over.
    package let kind: GooglePlayBasePlanKind
    /// Every offer of the base plan has these too, on devices and in purchases, though the list of offers does not show
    /// them there.
    package let tags: Set<OfferTag>
    /// An offer that old versions of the billing library show too, where offers have no tags.
    package var legacyCompatibleOfferID: GooglePlayOfferID?
    /// Where new subscribers may buy the base plan.
    package let regions: GooglePlayRegions

    package init(
        id: BasePlanID,
        state: Reported<GooglePlayState>,
        kind: GooglePlayBasePlanKind,
        tags: Set<OfferTag>,
        regions: GooglePlayRegions
    ) {
        self.id = id
        self.state = state
        self.kind = kind
        self.tags = tags
        self.regions = regions
    }
}

/// Whether base plans and offers can be bought.
package enum GooglePlayState: String, StoreCode {
    /// Never yet.
    case draft = "DRAFT"
    case active = "ACTIVE"
    /// No longer; customers who have it keep it.
    case inactive = "INACTIVE"

    /// The value of `state`.
    package var storeText: String { rawValue }
}

/// How a base plan continues; only auto-renewing ones have offers.
package enum GooglePlayBasePlanKind: String, Sendable {
    case autoRenewing
    case prepaid
    case installments
    /// A kind that this version does not know, or several kinds at once.
    case unknown
}

/// Where new subscribers may buy something.
package struct GooglePlayRegions: Hashable, Sendable {
    /// All named regions, whether or not it is available there.
    package let listed: Set<Region>
    /// The named regions in which it is available.
    package let available: Set<Region>
    /// Whether it will be available in regions that Google Play adds in the future; this covers no present region.
    package let includesFutureRegions: Bool
    // An offer is looked at for each customer, and there are some 180 regions.
    private let listedBits, availableBits: RegionBits

    /// Takes the regions; what is available is listed too.
    package init(listed: Set<Region>, available: Set<Region>, includesFutureRegions: Bool = false) {
        self.listed = listed.union(available)
        self.available = available
        self.includesFutureRegions = includesFutureRegions
        listedBits = RegionBits(self.listed)
        availableBits = RegionBits(available)
    }

    /// Whether both are available in at least one region.
    func isAvailableSomewhere(with other: GooglePlayRegions) -> Bool {
        !availableBits.isDisjoint(with: other.availableBits)
    }

    /// Whether both are available in every region that this one names.
    func isAvailableEverywhere(with other: GooglePlayRegions) -> Bool {
        listedBits.isSubset(of: availableBits) && listedBits.isSubset(of: other.availableBits)
    }
}

/// A set of regions as a bit for each two capital letters.
private struct RegionBits: Hashable, Sendable {
    private var words = [UInt64](repeating: 0, count: 11)

    init(_ regions: Set<Region>) {
        for region in regions {
            let place = region.text.utf8.reduce(0) { $0 * 26 + Int($1) - 0x41 }
            words[place / 64] |= 1 << UInt64(place % 64)
        }
    }

    func isDisjoint(with other: RegionBits) -> Bool { zip(words, other.words).allSatisfy { $0 & $1 == 0 } }

    func isSubset(of other: RegionBits) -> Bool { zip(words, other.words).allSatisfy { $0 & ~$1 == 0 } }
}
