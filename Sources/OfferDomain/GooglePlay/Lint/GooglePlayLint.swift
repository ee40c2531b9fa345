// SPDX-License-Identifier: Apache-2.0

/// Compares what the store lists of an app with what our catalog wants of it, and looks for offers that leak.
package struct GooglePlayLint {
    let wanted: [GooglePlayWantedOffer]
    let wantedKeys: Set<GooglePlayOfferKey>
    let playCatalog: PlayCatalog
    let hideTags: Set<OfferTag>

    /// All findings, the worst first, then in the order of their places.
    package static func findings(
        wanted: [GooglePlayWantedOffer],
        hideTags: Set<OfferTag>,
        in playCatalog: PlayCatalog
    ) -> [GooglePlayFinding] {
        let lint = GooglePlayLint(
            wanted: wanted,
            wantedKeys: Set(wanted.map(\.key)),
            playCatalog: playCatalog,
            hideTags: hideTags
        )
        let findings =
            wanted.flatMap(lint.findings) + playCatalog.subscriptions.flatMap(lint.findings)
            + playCatalog.offers.flatMap(lint.findings) + playCatalog.strays.map(lint.finding)
        return findings.sorted { ($0.severity, $0.place, $0.code) < ($1.severity, $1.place, $1.code) }
    }

    // MARK: - What we want

    private func findings(_ offer: GooglePlayWantedOffer) -> [GooglePlayFinding] {
        let name = offer.id.text == offer.key.offerID.text ? "" : " (\(offer.id))"
        return GooglePlayOfferCheck.faults(of: offer.key, hideTags: hideTags, in: playCatalog).map { fault in
            GooglePlayFinding(
                .error,
                fault,
                at: "\(offer.key)\(name)",
                sentence: fault.sentence + alternatives(fault, offer.key)
            )
        }
    }

    /// What there is where something was not found.
    private func alternatives(_ fault: OfferFault, _ key: GooglePlayOfferKey) -> String {
        func listing(_ names: [Identifier<some IdentifierKind>]) -> String {
            " Google Play lists \(listed(names))."
        }
        switch fault {
        case .subscriptionNotFound: return listing(Array(playCatalog.subscriptions.keys))
        case .basePlanNotFound:
            return listing(playCatalog.subscriptions[key.productID]?.value?.basePlans.map(\.id) ?? [])
        case .offerNotFound: return listing(offers(of: key.basePlanID, key.productID).map(\.offerID))
        default: return ""
        }
    }

    func offers(of basePlanID: BasePlanID, _ productID: GooglePlayProductID) -> [GooglePlayOfferKey] {
        playCatalog.offers.keys.filter { $0.productID == productID && $0.basePlanID == basePlanID }
    }

    // MARK: - What the store lists

    private func finding(_ stray: ListingFault) -> GooglePlayFinding {
        GooglePlayFinding(
            .warning,
            .entryMalformed,
            at: "",
            sentence: "Google Play lists something that can't even be named: \(stray).",
            advice: OfferFault.offerMalformed(stray).advice
        )
    }

    private func findings(
        _ productID: GooglePlayProductID,
        _ subscription: Listed<GooglePlaySubscription>
    ) -> [GooglePlayFinding] {
        switch subscription {
        case .usable(let subscription): return subscription.basePlans.flatMap { findings($0, productID) }
        case .unusable(let fault):
            // If the offers file names the subscription, each of its offers has already reported the fault.
            guard !wantedKeys.contains(where: { $0.productID == productID }) else { return [] }
            return [GooglePlayFinding(.warning, .subscriptionMalformed(fault), at: productID.text)]
        }
    }

    private func findings(_ key: GooglePlayOfferKey, _ offer: Listed<GooglePlayOffer>) -> [GooglePlayFinding] {
        switch offer {
        case .usable(let offer):
            let basePlan = playCatalog.subscriptions[key.productID]?.value?.basePlans.first { $0.id == key.basePlanID }
            return tagFindings(key, offer, in: basePlan) + regionFindings(key, offer, in: basePlan)
        case .unusable(let fault):
            return wantedKeys.contains(key) ? [] : [GooglePlayFinding(.warning, .offerMalformed(fault), at: "\(key)")]
        }
    }
}
