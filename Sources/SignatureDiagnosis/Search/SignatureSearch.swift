// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// Looks for the payload that a signature was made over: the right one, with one mistake, then with two.
///
/// A signature and a payload leave two public keys at most times. If one of them is known, that is proof: the signature
/// verifies over that payload. So a payload costs the same however many keys are known. The same holds for a key that two
/// reports have in common. The search stops at the first number of mistakes that has a hit, and reports all of that number.
struct SignatureSearch {
    /// How many payloads are tried, of both reports together.
    static let mostPayloads = 4096
    /// How many are tried before there are two mistakes, so that a large catalog leaves room for these.
    private static let mostWithOne = 2400

    /// What is tried, in this order: fewer mistakes first, and what needs no catalog before what does.
    enum Stage: CaseIterable {
        case exact, local, milliseconds, names, localPairs, listings, millisecondPairs, namePairs
    }

    /// A payload that the signature was made over, and the key that made it.
    struct Hit {
        let faults: [SignatureFault]
        let spki: [UInt8]
        /// Of the payload.
        let digest: SHA256Digest
        /// Whether the key is known by the other report alone.
        var isOfBoth = false
    }

    private let keys: Set<[UInt8]>
    private let pins: Set<SHA256Digest>
    private let own: RecoveredKeys
    private let other: RecoveredKeys?
    /// The payloads by the keys that they and the signature leave; only if there is another report.
    private var hitsByKey: [[UInt8]: [Hit]] = [:]
    private var othersKeys: Set<[UInt8]> = []
    private(set) var payloads = 0
    /// Whether all was tried that there is to try.
    private(set) var isComplete: Bool

    /// Prepares for known keys, for keys known by their digests, and for a key that made both signatures.
    init(_ own: RecoveredKeys, _ other: RecoveredKeys?, keys: Set<[UInt8]>, pins: Set<SHA256Digest>) {
        (self.own, self.other, self.keys, self.pins) = (own, other, keys, pins)
        isComplete = own.variations.hasAllBases && other?.variations.hasAllBases ?? true
    }

    /// The hits of the first stage that has any.
    mutating func hits() -> [Hit] {
        guard other != nil || !keys.isEmpty || !pins.isEmpty else { return [] }
        for stage in Stage.allCases {
            let found = search(stage)
            if !found.isEmpty { return found }
            guard let other else { continue }
            searchOther(other, stage)
            let common = hitsByKey.filter { othersKeys.contains($0.key) }.values.joined()
            // Of one key: a second one in common would be chance, and has not been seen.
            guard let key = common.first?.spki else { continue }
            return common.filter { $0.spki == key }.map { hit in
                var hit = hit
                hit.isOfBoth = true
                return hit
            }
        }
        return []
    }

    private mutating func search(_ stage: Stage) -> [Hit] {
        var found: [Hit] = []
        let most = limit(stage, sides: other == nil ? 1 : 2)
        var known: [SHA256Digest: [[UInt8]]] = [:]
        isComplete =
            own.variations.visit(stage) { form, faults in
                let digest = form.digest
                if known[digest] == nil {
                    guard payloads < most else { return false }
                    payloads += 1
                    known[digest] = own.candidates(digest)
                }
                for spki in known[digest] ?? [] {
                    let hit = Hit(faults: faults, spki: spki, digest: digest)
                    if isKnown(spki) {
                        found.append(hit)
                    } else if other != nil {
                        hitsByKey[spki, default: []].append(hit)
                    }
                }
                return true
            } && isComplete
        return found
    }

    private func isKnown(_ spki: [UInt8]) -> Bool {
        keys.contains(spki) || (!pins.isEmpty && pins.contains(SHA256.digest(of: spki)))
    }

    private mutating func searchOther(_ other: RecoveredKeys, _ stage: Stage) {
        let most = limit(stage, sides: 1)
        isComplete =
            other.variations.visit(stage) { form, _ in
                guard payloads < most else { return false }
                payloads += 1
                othersKeys.formUnion(other.candidates(form.digest))
                return true
            } && isComplete
    }

    /// How many payloads may have been tried at the end of a stage, or at the end of the first of its two sides.
    private func limit(_ stage: Stage, sides: Int) -> Int {
        let most = stage == .milliseconds || stage == .names ? Self.mostWithOne : Self.mostPayloads
        return payloads + max(0, most - payloads) / sides
    }
}

/// A signature with what it may have been made over, and so the keys that may have made it.
final class RecoveredKeys {
    let variations: Variations
    /// `nil` of a signature that no key can have made.
    private let recovery: KeyRecovery?

    init(_ signature: ECDSASignature, _ variations: Variations) {
        self.variations = variations
        recovery = try? KeyRecovery(signature)
    }

    /// The keys that may have made the signature over a digest.
    func candidates(_ digest: SHA256Digest) -> [[UInt8]] {
        switch recovery {
        case .some(let recovery): (try? recovery.candidates(digest)) ?? []
        case .none: []
        }
    }
}

extension Variations {
    typealias Visitor = (PayloadForm, [SignatureFault]) -> Bool

    /// Makes the payloads of a stage, one after the other, until the visitor has enough; false if it had.
    func visit(_ stage: SignatureSearch.Stage, _ body: Visitor) -> Bool {
        bases.allSatisfy { base in
            switch stage {
            case .exact: visit(base, with: [], body)
            case .local: local.allSatisfy { visit(base, with: [$0], body) }
            case .milliseconds: milliseconds.allSatisfy { visit(base, with: [$0], body) }
            case .names: names.allSatisfy { visit(base, with: [$0], body) }
            case .localPairs: visitPairs(base, body)
            case .listings: listings.allSatisfy { visit(base, with: [$0], body) }
            case .millisecondPairs: visitMilliseconds(base, body)
            case .namePairs: visitNames(base, body)
            }
        }
    }

    private var frequent: [Variation] { local.filter(\.isFrequent) }

    private func visitPairs(_ base: Base, _ body: Visitor) -> Bool {
        let frequent = frequent
        for (place, first) in frequent.enumerated() {
            for second in frequent[(place + 1)...] where second.dimension != first.dimension {
                guard visit(base, with: [first, second], body) else { return false }
            }
        }
        return true
    }

    private func visitMilliseconds(_ base: Base, _ body: Visitor) -> Bool {
        let mostFrequent: [SignatureFault] = [.nonceCase, .tokenCase]
        return mostFrequent.compactMap { fault in frequent.first { $0.faults == [fault] } }
            .allSatisfy { second in milliseconds.allSatisfy { visit(base, with: [$0, second], body) } }
    }

    /// One name of the catalog beside another mistake.
    private func visitNames(_ base: Base, _ body: Visitor) -> Bool {
        let frequent = frequent
        for (place, name) in names.enumerated() {
            // Of products and offers, the listings say which belong together.
            let others = names[(place + 1)...].prefix(Self.mostNamesTogether).filter { other in
                listings.isEmpty || name.dimension == .bundleID || other.dimension == .bundleID
            }
            for second in frequent + others where second.dimension != name.dimension {
                guard visit(base, with: [name, second], body) else { return false }
            }
        }
        return true
    }

    /// How many other names of the catalog each one is tried with.
    private static var mostNamesTogether: Int { 12 }

    private func visit(_ base: Base, with variations: [Variation], _ body: Visitor) -> Bool {
        var form = base.form
        for variation in variations { variation.change(&form) }
        guard form != base.form || variations.isEmpty else { return true }
        var faults = base.faults + variations.flatMap(\.faults)
        let isEmpty = PayloadForm.Field.allCases.contains { $0 != .account && form[$0].isEmpty }
        if isEmpty, !faults.contains(.placeholder) { faults.append(.placeholder) }
        return body(form, faults)
    }
}
