// SPDX-License-Identifier: Apache-2.0

extension GooglePlayLint {
    func regionFindings(
        _ key: GooglePlayOfferKey,
        _ offer: GooglePlayOffer,
        in basePlan: GooglePlayBasePlan?
    ) -> [GooglePlayFinding] {
        var findings: [GooglePlayFinding] = []
        for (number, phase) in zip(1..., offer.phases) {
            let missing = offer.regions.listed.subtracting(phase.kinds.keys)
            if !missing.isEmpty, !wantedKeys.contains(key) {
                let fault = OfferFault.phaseRegionMissing(phase: number, missing)
                findings.append(GooglePlayFinding(.warning, fault, at: "\(key)"))
            }
            let unused = Set(phase.kinds.keys).subtracting(offer.regions.listed)
            if !unused.isEmpty {
                findings.append(
                    GooglePlayFinding(
                        .warning,
                        .phaseRegionUnused,
                        at: "\(key)",
                        sentence: "Phase \(number) has a price for \(listed(unused)), which the offer does not name.",
                        advice: "Add the region to the offer, or take it out of the phase."
                    )
                )
            }
        }
        return findings + (basePlan.map { regionFindings(key, offer, in: $0) } ?? [])
    }

    private func regionFindings(
        _ key: GooglePlayOfferKey,
        _ offer: GooglePlayOffer,
        in basePlan: GooglePlayBasePlan
    ) -> [GooglePlayFinding] {
        var findings: [GooglePlayFinding] = []
        let closed = offer.regions.available.subtracting(basePlan.regions.available)
        if !closed.isEmpty {
            findings.append(
                GooglePlayFinding(
                    .warning,
                    .regionWithoutBasePlan,
                    at: "\(key)",
                    sentence: "The offer is open to new subscribers in \(listed(closed)), and its base plan is not.",
                    advice: "Open the base plan there, or close the offer there."
                )
            )
        }
        let without = basePlan.regions.available.subtracting(offer.regions.available)
        if !without.isEmpty, wantedKeys.contains(key) {
            findings.append(
                GooglePlayFinding(
                    .note,
                    .offerNotInEveryRegion,
                    at: "\(key)",
                    sentence: "The base plan is open to new subscribers in \(listed(without)), and the offer is not.",
                    advice: "Nothing, if you intend this; requests then must send the customer's region."
                )
            )
        }
        return findings
    }
}
