// SPDX-License-Identifier: Apache-2.0

/// The four ids that together name an offer of a subscription; an offer's own id is unique only within its base plan.
package struct GooglePlayOfferKey: Hashable, Sendable, CustomStringConvertible {
    /// The app.
    package let packageName: PackageName
    /// The subscription within the app.
    package let productID: GooglePlayProductID
    /// The base plan within the subscription.
    package let basePlanID: BasePlanID
    /// The offer within the base plan.
    package let offerID: GooglePlayOfferID

    package init(
        packageName: PackageName,
        productID: GooglePlayProductID,
        basePlanID: BasePlanID,
        offerID: GooglePlayOfferID
    ) {
        self.packageName = packageName
        self.productID = productID
        self.basePlanID = basePlanID
        self.offerID = offerID
    }

    /// The offer within its app, as `premium/monthly/winback-50`.
    package var description: String { "\(productID)/\(basePlanID)/\(offerID)" }
}

/// An offer of a subscription as Google Play lists it.
///
/// Source: Google, [SubscriptionOffer](https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.subscriptions.basePlans.offers).
package struct GooglePlayOffer: Hashable, Sendable {
    /// As the answer names it, which may differ from the request.
    package let key: GooglePlayOfferKey
    /// Of no effect while the base plan is not active.
    package let state: Reported<GooglePlayState>
    /// In the order in which they follow one another, before the base plan's own price.
    package let phases: [GooglePlayPhase]
    /// Who decides which customers get it; this service gives only offers that Google leaves to the developer.
    package let targeting: GooglePlayTargeting
    /// Its own, without those of its base plan.
    package var tags: Set<OfferTag> = []
    /// Where new subscribers may have the offer, if the base plan is available there too.
    package let regions: GooglePlayRegions
    /// What is wrong with the phases; looked for once, since an offer is looked at for each customer.
    let phaseFaults: [OfferFault]

    /// An offer without tags, which the caller sets.
    package init(
        key: GooglePlayOfferKey,
        state: Reported<GooglePlayState>,
        phases: [GooglePlayPhase],
        targeting: GooglePlayTargeting,
        regions: GooglePlayRegions
    ) {
        self.key = key
        self.state = state
        self.phases = phases
        self.targeting = targeting
        self.regions = regions
        phaseFaults = Self.faults(of: phases, in: regions)
    }
}

/// Who decides which customers get an offer.
package enum GooglePlayTargeting: String, Hashable, Sendable {
    /// The answer has no `targeting`, so the offer is developer-determined: Google Play shows it to everyone.
    case absent
    /// Google Play shows it to users who never had the subscription, or any subscription of the app.
    case acquisition
    /// Google Play shows it to users who have the subscription, or another one.
    case upgrade
    /// There is a `targeting`, but this version knows no rule in it; also if it is empty.
    case unknown
}

/// A time of an offer with a price of its own.
package struct GooglePlayPhase: Hashable, Sendable {
    /// How long it lasts if it comes once.
    package let duration: OfferDuration
    /// How many times the duration, at least 1.
    package let recurrenceCount: Int
    /// What it does to the price, by region; those where Google Play may open in the future are left out.
    package let kinds: [Region: GooglePlayPhaseKind]
    /// The kind that it is in every region; `nil` if it is not one and the same.
    let kind: GooglePlayPhaseKind?

    /// A phase with what it does to the price in each region.
    package init(duration: OfferDuration, recurrenceCount: Int, kinds: [Region: GooglePlayPhaseKind]) {
        self.duration = duration
        self.recurrenceCount = recurrenceCount
        self.kinds = kinds
        let different = Set(kinds.values)
        kind = different.count == 1 ? different.first : nil
    }
}

/// What a phase does to the price.
package enum GooglePlayPhaseKind: String, CaseIterable, Sendable {
    case freeTrial
    /// A price of its own, or a part of the base plan's.
    case priceDiscount
    /// Nothing that was known when this was written.
    case unknown
}
