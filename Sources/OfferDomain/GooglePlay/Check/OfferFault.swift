// SPDX-License-Identifier: Apache-2.0

/// Every reason why an offer of Google Play can't be authorized for any customer.
///
/// The cases are in the order in which the service checks them.
package enum OfferFault: Error, Hashable, Sendable {
    case subscriptionNotFound
    /// The store's entry can't be used.
    case subscriptionMalformed(ListingFault)
    case basePlanNotFound
    case basePlanNotActive(Reported<GooglePlayState>)
    case basePlanNotAutoRenewing(GooglePlayBasePlanKind)
    case offerNotFound
    /// The store's entry can't be used.
    case offerMalformed(ListingFault)
    /// The store answered about another offer than the service asked for; `member` names the ID that differs.
    case answerNamesAnotherOffer(member: String)
    case offerDraft
    case offerInactive
    /// A state that this version does not know.
    case offerStateUnknown(String)
    /// Google Play decides who gets it.
    case offerNotDeveloperDetermined(GooglePlayTargeting)
    case targetingUnknown
    /// Neither the offer nor its base plan has a tag that hides an offer.
    case hideTagMissing(wanted: Set<OfferTag>, found: Set<OfferTag>)
    case noPhases
    case tooManyPhases(Int)
    /// Neither a free trial nor a price discount in a region; phases count from 1.
    case phaseKindUnknown(phase: Int, Region?)
    /// Two free trials, or two price discounts.
    case phaseKindsNotAllowed(GooglePlayPhaseKind)
    /// A free trial in one region and a price discount in another.
    case mixedPhaseKind(phase: Int)
    /// The offer names regions that a phase does not.
    case phaseRegionMissing(phase: Int, Set<Region>)
    /// The offer is not available in this region; `nil` means in no region.
    case regionNotAvailable(Region?)
    /// The offer is not available in every region, and the customer's region is unknown.
    case regionUnknown
}

extension OfferFault {
    /// The fault's name for programs, and its heading in `docs/google-play.md`.
    package var code: String {
        switch self {
        case .subscriptionNotFound: "subscription-not-found"
        case .subscriptionMalformed: "subscription-malformed"
        case .basePlanNotFound: "base-plan-not-found"
        case .basePlanNotActive: "base-plan-not-active"
        case .basePlanNotAutoRenewing: "base-plan-not-auto-renewing"
        case .offerNotFound: "offer-not-found"
        case .offerMalformed: "offer-malformed"
        case .answerNamesAnotherOffer: "answer-names-another-offer"
        case .offerDraft: "offer-draft"
        case .offerInactive: "offer-inactive"
        case .offerStateUnknown: "offer-state-unknown"
        case .offerNotDeveloperDetermined: "offer-not-developer-determined"
        case .targetingUnknown: "targeting-unknown"
        case .hideTagMissing: "hide-tag-missing"
        case .noPhases: "no-phases"
        case .tooManyPhases: "too-many-phases"
        case .phaseKindUnknown: "phase-kind-unknown"
        case .phaseKindsNotAllowed: "phase-kinds-not-allowed"
        case .mixedPhaseKind: "mixed-phase-kind"
        case .phaseRegionMissing: "phase-region-missing"
        case .regionNotAvailable: "region-not-available"
        case .regionUnknown: "region-unknown"
        }
    }
}
