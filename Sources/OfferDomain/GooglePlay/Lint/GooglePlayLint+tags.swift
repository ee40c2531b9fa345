// SPDX-License-Identifier: Apache-2.0

extension GooglePlayLint {
    /// Tags by which third-party software hides offers, and the vendor of each.
    ///
    /// Source: RevenueCat, [Google Play offers](https://www.revenuecat.com/docs/subscription-guidance/subscription-offers/google-play-offers);
    /// Superwall, [Google Play](https://superwall.com/docs/dashboard/products).
    private static let vendorTags = [
        "rc-customer-center": "RevenueCat", "rc-ignore-offer": "RevenueCat", "sw-ignore-offer": "Superwall",
    ]

    func findings(_ basePlan: GooglePlayBasePlan, _ productID: GooglePlayProductID) -> [GooglePlayFinding] {
        let place = "\(productID)/\(basePlan.id)"
        let keys = offers(of: basePlan.id, productID)
        var findings: [GooglePlayFinding] = []
        let tags = basePlan.tags.intersection(hideTags)
        if !tags.isEmpty {
            let hidden = keys.isEmpty ? "" : ": \(listed(keys.map(\.offerID)))"
            findings.append(
                GooglePlayFinding(
                    .warning,
                    .hideTagOnBasePlan,
                    at: place,
                    sentence: "The tag \(listed(tags)) is on the base plan, which hides every offer of it\(hidden).",
                    advice: "Take the tag off the base plan, and give it to each offer that is to be hidden."
                )
            )
        }
        if let id = basePlan.legacyCompatibleOfferID, let key = keys.first(where: { $0.offerID == id }),
            let offer = playCatalog.offers[key]?.value,
            offer.targeting == .absent || !offer.tags.union(basePlan.tags).isDisjoint(with: hideTags)
        {
            findings.append(
                GooglePlayFinding(
                    .warning,
                    .legacyOfferNotHidden,
                    at: "\(key)",
                    sentence:
                        "The offer is the base plan's “backwards compatible” one: apps with an old billing library show it "
                        + "to everyone, since offers have no tags there.",
                    advice: "Take that mark off the offer in the Play Console."
                )
            )
        }
        return findings
    }

    func tagFindings(
        _ key: GooglePlayOfferKey,
        _ offer: GooglePlayOffer,
        in basePlan: GooglePlayBasePlan?
    ) -> [GooglePlayFinding] {
        let tags = offer.tags.union(basePlan?.tags ?? [])
        var findings: [GooglePlayFinding] = []
        let vendorTags = tags.filter { Self.vendorTags[$0.text] != nil }
        let isShown = tags.isDisjoint(with: hideTags)
        if isShown, !vendorTags.isEmpty {
            findings.append(vendorFinding(key, vendorTags))
        } else if isShown, offer.targeting == .absent, !wantedKeys.contains(key) {
            let severity: GooglePlayFinding.Severity = offer.state == .known(.active) ? .warning : .note
            findings.append(GooglePlayFinding(severity, .hideTagMissing(wanted: hideTags, found: tags), at: "\(key)"))
        }
        if !offer.tags.isDisjoint(with: hideTags), let code = offer.targeting.codeOfHidden {
            findings.append(
                GooglePlayFinding(
                    .warning,
                    code,
                    at: "\(key)",
                    sentence: "The offer is for \(offer.targeting.audience), whom Google Play picks, and the tag "
                        + "\(listed(offer.tags.intersection(hideTags))) hides it from them.",
                    advice: "Take the tag off, unless the offer is to be shown only where an app asks for it by its id."
                )
            )
        }
        return findings + unnamed(key, offer)
    }

    private func vendorFinding(_ key: GooglePlayOfferKey, _ tags: Set<OfferTag>) -> GooglePlayFinding {
        let vendors = Set(tags.compactMap { Self.vendorTags[$0.text] }).sorted().joined(separator: " and ")
        let wants = hideTags.isEmpty ? "no tag is named for this app" : "\(listed(hideTags, "or")) is not there"
        return GooglePlayFinding(
            .warning,
            .vendorTagWithoutOurs,
            at: "\(key)",
            sentence: "The tag \(listed(tags)) hides the offer where \(vendors) picks one, and nowhere else: \(wants).",
            advice: hideTags.isEmpty
                ? "Name the tag in googlePlay.hideTags of the app."
                : "Add \(listed(hideTags, "or")) to the offer beside it, or name the tag in googlePlay.hideTags of the app."
        )
    }

    /// The offers file need not name inactive offers, or offers that Google Play gives out by itself.
    private func unnamed(_ key: GooglePlayOfferKey, _ offer: GooglePlayOffer) -> [GooglePlayFinding] {
        guard !wantedKeys.contains(key), offer.state != .known(.inactive),
            offer.targeting == .absent || offer.targeting == .unknown
        else { return [] }
        return [
            GooglePlayFinding(
                .note,
                .offerNotInCatalog,
                at: "\(key)",
                sentence: "The offers file does not name the offer, so no customer is authorized to use it.",
                advice: "Add it to the offers file, or deactivate it in the Play Console."
            )
        ]
    }
}

extension GooglePlayTargeting {
    /// What it is called when such an offer is hidden; `nil` if hiding it is right, or can't be judged.
    fileprivate var codeOfHidden: GooglePlayFinding.Code? {
        switch self {
        case .acquisition: .hideTagOnAcquisitionOffer
        case .upgrade: .hideTagOnUpgradeOffer
        case .absent, .unknown: nil
        }
    }
}
