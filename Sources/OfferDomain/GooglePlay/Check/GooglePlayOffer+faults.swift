// SPDX-License-Identifier: Apache-2.0

extension GooglePlayOffer {
    /// What is wrong with the offer itself, in the order of ``OfferFault``.
    func faults(_ tags: EffectiveTags, _ hideTags: Set<OfferTag>) -> [OfferFault] {
        var faults: [OfferFault] = []
        switch state {
        case .known(.active): break
        case .known(.draft): faults.append(.offerDraft)
        case .known(.inactive): faults.append(.offerInactive)
        case .unknown(let text): faults.append(.offerStateUnknown(text))
        }
        switch targeting {
        case .absent: break
        case .acquisition, .upgrade: faults.append(.offerNotDeveloperDetermined(targeting))
        case .unknown: faults.append(.targetingUnknown)
        }
        let found = Set(tags.all)
        if found.isDisjoint(with: hideTags) { faults.append(.hideTagMissing(wanted: hideTags, found: found)) }
        return faults + phaseFaults
    }

    /// What is wrong with the phases of an offer that names these regions.
    static func faults(of phases: [GooglePlayPhase], in regions: GooglePlayRegions) -> [OfferFault] {
        guard !phases.isEmpty else { return [.noPhases] }
        guard phases.count <= 2 else { return [.tooManyPhases(phases.count)] }
        let numbered = Array(zip(1..., phases))
        var faults = numbered.compactMap { number, phase in phase.unknownKind(number) }
        if faults.isEmpty, let kind = repeatedKind(phases) { faults.append(.phaseKindsNotAllowed(kind)) }
        for (number, phase) in numbered {
            if Set(phase.kinds.values).subtracting([.unknown]).count > 1 {
                faults.append(.mixedPhaseKind(phase: number))
            }
            let missing = regions.listed.subtracting(phase.kinds.keys)
            if !missing.isEmpty { faults.append(.phaseRegionMissing(phase: number, missing)) }
        }
        return faults
    }

    /// What both of two phases are somewhere; a customer is in one region, so each region is looked at by itself.
    private static func repeatedKind(_ phases: [GooglePlayPhase]) -> GooglePlayPhaseKind? {
        guard phases.count == 2 else { return nil }
        let (first, second) = (phases[0].kinds, phases[1].kinds)
        let repeated = first.filter { second[$0.key] == $0.value }.map(\.value)
        return GooglePlayPhaseKind.allCases.first(where: repeated.contains)
    }
}

extension GooglePlayPhase {
    /// What a device should find; `nil` of a phase that no valid offer has.
    var expectation: ValidatedOffer.ExpectedPhase? {
        guard let kind, kind != .unknown else { return nil }
        return ValidatedOffer.ExpectedPhase(kind: kind, duration: duration, recurrenceCount: recurrenceCount)
    }

    fileprivate func unknownKind(_ number: Int) -> OfferFault? {
        guard !kinds.isEmpty else { return .phaseKindUnknown(phase: number, nil) }
        let regions = kinds.filter { $0.value == .unknown }.keys
        return regions.min { $0.text < $1.text }.map { .phaseKindUnknown(phase: number, $0) }
    }
}
