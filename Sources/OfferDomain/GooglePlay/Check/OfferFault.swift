// SPDX-License-Identifier: Apache-2.0

/// What keeps an offer of Google Play from being authorized, whoever asks for it; these are all the ways.
///
/// In the order in which they are looked for.
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
    /// The store answered about something else than was asked for; `member` names the id that differs.
    case answerNamesAnotherOffer(member: String)
    case offerDraft
    case offerInactive
    /// A state that was not known when this was written.
    case offerStateUnknown(String)
    /// Google Play decides who gets it.
    case offerNotDeveloperDetermined(GooglePlayTargeting)
    case targetingUnknown
    /// None of the tags that hide an offer is on it or on its base plan.
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
    /// Not to be had there; `nil` is nowhere.
    case regionNotAvailable(Region?)
    /// It is not to be had in every region, and nobody said which.
    case regionUnknown
}

extension OfferFault {
    /// What programs know it by, and `docs/google-play.md` has as a heading.
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
