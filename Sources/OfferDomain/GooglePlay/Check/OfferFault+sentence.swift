// SPDX-License-Identifier: Apache-2.0

extension OfferFault: CustomStringConvertible {
    /// What is so, in a sentence that a person can read.
    package var sentence: String {
        switch self {
        case .subscriptionNotFound: "Google Play has no such subscription in the app."
        case .subscriptionMalformed(let fault):
            "What Google Play says of the subscription can't be used: \(fault)."
        case .basePlanNotFound: "The subscription has no such base plan."
        case .basePlanNotActive(let state):
            "The base plan is \(state.adjective), and the base plan's state overrides that of its offers."
        case .basePlanNotAutoRenewing(let kind):
            "The base plan \(kind.predicate), and only base plans that renew by themselves can have offers."
        case .offerNotFound: "The base plan has no such offer."
        case .offerMalformed(let fault): "What Google Play says of the offer can't be used: \(fault)."
        case .answerNamesAnotherOffer(let member):
            "Google Play answered about something other than was asked for: \(member) differs."
        case .offerDraft: "The offer is a draft: it was never activated."
        case .offerInactive: "The offer is inactive: no new customer gets it."
        case .offerStateUnknown(let state):
            state.isEmpty
                ? "Google Play gives the offer no state."
                : "The offer is in the state \(visible(state)), which this version does not know."
        case .offerNotDeveloperDetermined(let targeting):
            "The offer is for \(targeting.audience), and Google Play decides by itself who gets it."
        case .targetingUnknown: "This version does not know the offer's targeting, so it is unclear who gets it."
        case .hideTagMissing(let wanted, let found): Self.hideTagSentence(wanted, found)
        case .noPhases: "The offer has no phases."
        case .tooManyPhases(let count): "The offer has \(count) phases; it may have one or two."
        case .phaseKindUnknown(let phase, let region):
            "What phase \(phase) does to the price\(region.map { " in \($0)" } ?? "") is not known here."
        case .phaseKindsNotAllowed(let kind):
            "The offer has two \(kind.plural); it may have one free trial and one price discount."
        case .mixedPhaseKind(let phase): "Phase \(phase) is free in some regions and discounted in others."
        case .phaseRegionMissing(let phase, let regions):
            "Phase \(phase) has no price for \(listed(regions)), which the offer names."
        case .regionNotAvailable(let region?):
            "The offer and its base plan are not both open to new subscribers in \(region)."
        case .regionNotAvailable(nil):
            "There is no region in which both the offer and its base plan are open to new subscribers."
        case .regionUnknown:
            "The offer is not available in every region that its base plan names, and the customer's is not known."
        }
    }

    /// The sentence; ``code`` is for programs.
    package var description: String { sentence }

    private static func hideTagSentence(_ wanted: Set<OfferTag>, _ found: Set<OfferTag>) -> String {
        let has = found.isEmpty ? "no tags" : "only \(listed(found))"
        let wants = wanted.isEmpty ? "and the app names no tag that hides one" : "not \(listed(wanted, "or"))"
        return "Nothing hides the offer: it and its base plan have \(has), \(wants)."
    }
}

extension OfferFault {
    /// What to do about it, in a sentence for the people who run the service or set up the store.
    package var advice: String {
        switch self {
        case .subscriptionNotFound:
            "Compare googlePlay.productId and packageName in the offers file with the Play Console, letter by letter."
        case .basePlanNotFound:
            "Compare googlePlay.basePlanId in the offers file with the base plans of the subscription."
        case .offerNotFound:
            "Compare googlePlay.offerId in the offers file with the offers of the base plan, or create the offer there."
        case .subscriptionMalformed, .offerMalformed, .answerNamesAnotherOffer, .offerStateUnknown, .phaseKindUnknown:
            "Look for a newer version of offer-signer; if there is none, report what Google Play answers."
        case .targetingUnknown:
            "Set the offer's eligibility criteria to “Developer determined”; if they are, look for a newer version of "
                + "offer-signer."
        case .basePlanNotActive: "Activate the base plan in the Play Console, or take the offer out of the offers file."
        case .basePlanNotAutoRenewing: "Create the offer under an auto-renewing base plan, and name that."
        case .offerDraft, .offerInactive:
            "Activate the offer in the Play Console, or take it out of the offers file."
        case .offerNotDeveloperDetermined:
            "Create another offer whose eligibility criteria are “Developer determined”, and name that: an offer's "
                + "criteria decide without this service."
        case .hideTagMissing(let wanted, _):
            wanted.isEmpty
                ? "Name the tag in googlePlay.hideTags of the app, and give it to the offer."
                : "Add the tag \(listed(wanted, "or")) to the offer in the Play Console; devices learn of it within a day."
        case .noPhases, .tooManyPhases, .phaseKindsNotAllowed:
            "Give the offer one free trial, one price discount, or one of each."
        case .mixedPhaseKind: "Make the phase free in every region or in none."
        case .phaseRegionMissing: "Set the phase's price for every region of the offer."
        case .regionNotAvailable(let region):
            "Open both the offer and its base plan in \(region.map { "\($0)" } ?? "a region"), or do not promise the "
                + "offer there."
        case .regionUnknown: "Send the customer's region, as Google Play's billing library reports it to the app."
        }
    }
}

extension Reported<GooglePlayState> {
    var adjective: String {
        switch self {
        case .known(.draft): "a draft"
        case .known(.active): "active"
        case .known(.inactive): "inactive"
        case .unknown(""): "without a state"
        case .unknown(let text): "in the state \(visible(text)), which this version does not know"
        }
    }
}

extension GooglePlayBasePlanKind {
    fileprivate var predicate: String {
        switch self {
        case .autoRenewing: "renews by itself"
        case .prepaid: "is prepaid"
        case .installments: "is paid in installments"
        case .unknown: "is of a type that this version does not know"
        }
    }
}

extension GooglePlayTargeting {
    var audience: String {
        switch self {
        case .absent: "everyone"
        case .acquisition: "new customers"
        case .upgrade: "customers who change their plan"
        case .unknown: "customers of some kind"
        }
    }
}

extension GooglePlayPhaseKind {
    fileprivate var plural: String {
        switch self {
        case .freeTrial: "free trials"
        case .priceDiscount: "price discounts"
        case .unknown: "phases of a kind that this version does not know"
        }
    }
}

/// The names in order, as a sentence has them: at most eight, and how many more.
func listed<Kind>(_ names: some Collection<Identifier<Kind>>, _ conjunction: String = "and") -> String {
    let sorted = names.map(\.text).sorted()
    guard sorted.count > 1, let last = sorted.last else { return sorted.first ?? "none" }
    guard sorted.count > 8 else { return "\(sorted.dropLast().joined(separator: ", ")) \(conjunction) \(last)" }
    return "\(sorted.prefix(8).joined(separator: ", ")) and \(sorted.count - 8) more"
}

/// A text of the store's, fit for a line of a terminal: visible ASCII, at most 40 characters.
func visible(_ text: String) -> String {
    String(decoding: text.utf8.prefix(40).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
}
