// SPDX-License-Identifier: Apache-2.0

/// Whether an offer of Google Play may be authorized: it exists, is active, developer-determined and hidden by its
/// tag, has a form that customers understand, and is available where the customer is.
///
/// Google Play enforces nothing for such an offer, so anything missing, unknown or contradictory fails the check.
/// The check is pure: the same catalog gives the same answer.
package enum GooglePlayOfferCheck {
    /// The requested offer if nothing is wrong with it, else the first fault in the order of ``OfferFault``.
    ///
    /// The store's answers must name all four IDs of `key`. Without the customer's region, an offer passes only if it
    /// is available in every region that its base plan names. The offer needs one of `hideTags`, letter for letter; if
    /// `hideTags` is empty, no offer passes.
    package static func validate(
        _ key: GooglePlayOfferKey,
        region: Region?,
        hideTags: Set<OfferTag>,
        in playCatalog: PlayCatalog
    ) -> Result<ValidatedOffer, OfferFault> {
        let found = Found(key, in: playCatalog)
        guard let basePlan = found.basePlan, let offer = found.offer else {
            return .failure(found.faults(hideTags: hideTags).first ?? .offerNotFound)
        }
        if let fault = found.faults(hideTags: hideTags).first ?? regionFault(of: offer, in: basePlan, for: region) {
            return .failure(fault)
        }
        let tags = EffectiveTags(own: offer.tags, inherited: basePlan.tags)
        return .success(
            ValidatedOffer(
                key: key,
                tags: tags,
                hideTags: tags.all.filter(hideTags.contains).compactMap { tag in
                    tags.place(of: tag).map { ValidatedOffer.FoundTag(tag: tag, place: $0) }
                },
                phases: offer.phases.compactMap(\.expectation),
                readAt: playCatalog.readAt
            )
        )
    }

    /// Everything that is wrong with an offer in whatever region, in the order of ``OfferFault``.
    package static func faults(
        of key: GooglePlayOfferKey,
        hideTags: Set<OfferTag>,
        in playCatalog: PlayCatalog
    ) -> [OfferFault] {
        let found = Found(key, in: playCatalog)
        let faults = found.faults(hideTags: hideTags)
        guard let basePlan = found.basePlan, let offer = found.offer,
            !basePlan.regions.isAvailableSomewhere(with: offer.regions)
        else { return faults }
        return faults + [.regionNotAvailable(nil)]
    }

    /// Regions that neither names are no matter of `otherRegionsConfig`, which is for those of the future.
    private static func regionFault(
        of offer: GooglePlayOffer,
        in basePlan: GooglePlayBasePlan,
        for region: Region?
    ) -> OfferFault? {
        if let region {
            let isAvailable = offer.regions.available.contains(region) && basePlan.regions.available.contains(region)
            return isAvailable ? nil : .regionNotAvailable(region)
        }
        guard basePlan.regions.isAvailableSomewhere(with: offer.regions) else { return .regionNotAvailable(nil) }
        return basePlan.regions.isAvailableEverywhere(with: offer.regions) ? nil : .regionUnknown
    }
}

/// What a catalog has under the four ids, as far as it goes.
private struct Found {
    let key: GooglePlayOfferKey
    let subscription: Listed<GooglePlaySubscription>?
    let basePlan: GooglePlayBasePlan?
    let listedOffer: Listed<GooglePlayOffer>?

    var offer: GooglePlayOffer? { listedOffer?.value }

    init(_ key: GooglePlayOfferKey, in playCatalog: PlayCatalog) {
        self.key = key
        subscription = playCatalog.subscriptions[key.productID]
        basePlan = subscription?.value?.basePlans.first { $0.id == key.basePlanID }
        listedOffer = playCatalog.offers[key]
    }

    func faults(hideTags: Set<OfferTag>) -> [OfferFault] {
        switch subscription {
        case nil: return [.subscriptionNotFound]
        case .unusable(let fault): return [.subscriptionMalformed(fault)]
        case .usable(let subscription):
            if let member = subscription.memberOtherwise(than: key) {
                return [.answerNamesAnotherOffer(member: member)]
            }
        }
        guard let basePlan else { return [.basePlanNotFound] }
        return basePlan.faults + offerFaults(basePlan, hideTags)
    }

    private func offerFaults(_ basePlan: GooglePlayBasePlan, _ hideTags: Set<OfferTag>) -> [OfferFault] {
        switch listedOffer {
        case nil: [.offerNotFound]
        case .unusable(let fault): [.offerMalformed(fault)]
        case .usable(let offer):
            if let member = offer.key.memberOtherwise(than: key) {
                [.answerNamesAnotherOffer(member: member)]
            } else {
                offer.faults(EffectiveTags(own: offer.tags, inherited: basePlan.tags), hideTags)
            }
        }
    }
}

extension GooglePlaySubscription {
    /// The first id that is not the one of `key`, by the name that it has in an answer.
    fileprivate func memberOtherwise(than key: GooglePlayOfferKey) -> String? {
        if packageName != key.packageName { return "packageName" }
        return productID == key.productID ? nil : "productId"
    }
}

extension GooglePlayOfferKey {
    /// The first id that is not the one of `key`, by the name that it has in an answer.
    fileprivate func memberOtherwise(than key: GooglePlayOfferKey) -> String? {
        if packageName != key.packageName { return "packageName" }
        if productID != key.productID { return "productId" }
        if basePlanID != key.basePlanID { return "basePlanId" }
        return offerID == key.offerID ? nil : "offerId"
    }
}

extension GooglePlayBasePlan {
    fileprivate var faults: [OfferFault] {
        var faults: [OfferFault] = []
        if state != .known(.active) { faults.append(.basePlanNotActive(state)) }
        if kind != .autoRenewing { faults.append(.basePlanNotAutoRenewing(kind)) }
        return faults
    }
}
