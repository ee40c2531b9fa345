// SPDX-License-Identifier: Apache-2.0

/// Something that a person should know of how an app's offers are set up at Google Play.
package struct GooglePlayFinding: Hashable, Sendable {
    /// How much it matters, the worst first.
    package enum Severity: String, CaseIterable, Comparable, Sendable {
        /// An offer of the catalog is not authorized, or is not the catalog's alone to give.
        case error
        /// Likely not what is meant.
        case warning
        /// Good to know.
        case note

        /// Whether the one is worse.
        package static func < (one: Severity, other: Severity) -> Bool {
            allCases.firstIndex(of: one) ?? 0 < allCases.firstIndex(of: other) ?? 0
        }
    }

    /// How much it matters.
    package let severity: Severity
    /// What programs know it by, and `docs/google-play.md` has as a heading; those of ``OfferFault`` among them.
    package let code: String
    /// Subscription, base plan and offer as far as they are meant, as `premium/monthly/winback-50`.
    package let place: String
    /// What is so.
    package let sentence: String
    /// What to do about it.
    package let advice: String

    init(_ severity: Severity, _ code: Code, at place: String, sentence: String, advice: String) {
        self.init(severity, code.rawValue, at: place, sentence: sentence, advice: advice)
    }

    init(_ severity: Severity, _ fault: OfferFault, at place: String, sentence: String? = nil) {
        self.init(severity, fault.code, at: place, sentence: sentence ?? fault.sentence, advice: fault.advice)
    }

    private init(_ severity: Severity, _ code: String, at place: String, sentence: String, advice: String) {
        self.severity = severity
        self.code = code
        self.place = place
        self.sentence = sentence
        self.advice = advice
    }

    /// The codes beside those of ``OfferFault``.
    package enum Code: String, CaseIterable, Sendable {
        case entryMalformed = "entry-malformed"
        case hideTagOnBasePlan = "hide-tag-on-base-plan"
        case hideTagOnAcquisitionOffer = "hide-tag-on-acquisition-offer"
        case hideTagOnUpgradeOffer = "hide-tag-on-upgrade-offer"
        case legacyOfferNotHidden = "legacy-offer-not-hidden"
        case offerNotInCatalog = "offer-not-in-catalog"
        case offerNotInEveryRegion = "offer-not-in-every-region"
        case phaseRegionUnused = "phase-region-unused"
        case regionWithoutBasePlan = "region-without-base-plan"
        case vendorTagWithoutOurs = "vendor-tag-without-ours"
    }
}

/// An offer that our catalog wants to give.
package struct GooglePlayWantedOffer: Hashable, Sendable {
    /// The catalog's own name of it.
    package let id: CatalogOfferID
    /// Where Google Play must list it.
    package let key: GooglePlayOfferKey

    package init(id: CatalogOfferID, key: GooglePlayOfferKey) {
        self.id = id
        self.key = key
    }
}
