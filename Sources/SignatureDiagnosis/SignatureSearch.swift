// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// Looks for the payload that a signature was made over: the right one, with one mistake, then with two.
///
/// A signature and a payload leave two public keys at most times. If one of them is known, that is proof: the signature
/// verifies over that payload. So a payload costs the same however many keys are known. The search stops at the first number of
/// mistakes that has a hit, and reports all of that number.
struct SignatureSearch: ~Copyable {
    /// How many payloads are tried.
    static let mostPayloads = 4096

    /// A payload that the signature was made over, and with whose key.
    struct Hit {
        let faults: [SignatureFault]
        let spki: [UInt8]
        /// Of the payload.
        let digest: SHA256Digest
    }

    private let variations: Variations
    /// `nil` of a signature that no key can have made.
    private let recovery: KeyRecovery?
    private(set) var payloads = 0

    init(_ signature: ECDSASignature, _ variations: Variations) {
        self.variations = variations
        recovery = try? KeyRecovery(signature)
    }

    /// The hits of the first level that has any, under the keys that are known by themselves or by their digests.
    mutating func hits(keys: Set<[UInt8]>, pins: Set<SHA256Digest>) -> [Hit] {
        guard !keys.isEmpty || !pins.isEmpty else { return [] }
        for level in 0...2 {
            var hits: [Hit] = []
            var known: [SHA256Digest: [UInt8]?] = [:]
            visit(level) { form, faults, candidates in
                let digest = form.digest
                if known[digest] == nil {
                    known[digest] = .some(
                        candidates(digest).first {
                            keys.contains($0) || (!pins.isEmpty && pins.contains(SHA256.digest(of: $0)))
                        }
                    )
                }
                if let spki = known[digest] ?? nil { hits.append(Hit(faults: faults, spki: spki, digest: digest)) }
            }
            if !hits.isEmpty { return hits }
        }
        return []
    }

    /// The digest of every key that may have made the signature over any of the payloads.
    mutating func candidates() -> Set<SHA256Digest> {
        var found: Set<SHA256Digest> = []
        for level in 0...2 {
            visit(level) { form, _, candidates in
                for spki in candidates(form.digest) { found.insert(SHA256.digest(of: spki)) }
            }
        }
        return found
    }

    // MARK: - Payloads

    private typealias Visitor = (PayloadForm, [SignatureFault], _ candidates: (SHA256Digest) -> [[UInt8]]) -> Void

    /// Makes the payloads with so many mistakes, one after the other, until as many were tried as may be.
    private mutating func visit(_ level: Int, _ body: Visitor) {
        switch level {
        case 0: _ = tries(variations.base, [], body)
        case 1:
            for variation in variations.all {
                var form = variations.base
                variation.change(&form)
                if form != variations.base, !tries(form, [variation.fault], body) { return }
            }
        default: visitPairs(body)
        }
    }

    private mutating func visitPairs(_ body: Visitor) {
        let frequent = variations.all.filter(\.isFrequent)
        for (place, first) in frequent.enumerated() {
            for second in frequent[(place + 1)...] where second.dimension != first.dimension {
                var form = variations.base
                first.change(&form)
                second.change(&form)
                guard tries(form, [first.fault, second.fault], body) else { return }
            }
        }
    }

    /// False once as many were tried as may be.
    private mutating func tries(_ form: PayloadForm, _ faults: [SignatureFault], _ body: Visitor) -> Bool {
        guard payloads < Self.mostPayloads else { return false }
        payloads += 1
        body(form, faults) { digest in
            switch recovery {
            case .some(let recovery): (try? recovery.candidates(digest)) ?? []
            case .none: []
            }
        }
        return true
    }
}
