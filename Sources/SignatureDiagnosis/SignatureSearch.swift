// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// Looks for the payload that a signature was made over: the right one, with one mistake, then with two.
///
/// A hit is proof: the signature verifies over that payload. It stops at the first number of mistakes that has one, and
/// reports all of that number.
struct SignatureSearch {
    /// What is looked at in all, over every key.
    static let mostVerifications = 4096

    private let variations: Variations
    private let keys: [KnownKey]
    private(set) var verifications = 0
    private(set) var payloads = 0

    /// A payload that the signature was made over, and with whose key.
    struct Hit {
        let faults: [SignatureFault]
        let key: KnownKey
    }

    init(_ variations: Variations, _ keys: [KnownKey]) {
        (self.variations, self.keys) = (variations, keys)
    }

    /// The payloads to try, by how many mistakes they have.
    static func levels(_ variations: Variations) -> [[(form: PayloadForm, faults: [SignatureFault])]] {
        var single: [(PayloadForm, [SignatureFault])] = []
        var double: [(PayloadForm, [SignatureFault])] = []
        for variation in variations.all {
            var form = variations.base
            variation.change(&form)
            if form != variations.base { single.append((form, [variation.fault])) }
        }
        let frequent = variations.all.filter(\.isFrequent)
        for (place, first) in frequent.enumerated() {
            for second in frequent[(place + 1)...] where second.dimension != first.dimension {
                var form = variations.base
                first.change(&form)
                second.change(&form)
                double.append((form, [first.fault, second.fault]))
            }
        }
        return [[(variations.base, [])], single, double]
    }

    /// The hits of the first level that has any.
    mutating func hits(_ signature: ECDSASignature) -> [Hit] {
        for level in Self.levels(variations) {
            var hits: [Hit] = []
            var digests: [SHA256Digest: KnownKey?] = [:]
            for (form, faults) in level {
                let digest = form.digest
                if digests[digest] == nil { digests[digest] = .some(signer(of: signature, digest)) }
                if let key = digests[digest] ?? nil { hits.append(Hit(faults: faults, key: key)) }
            }
            if !hits.isEmpty { return hits }
        }
        return []
    }

    private mutating func signer(of signature: ECDSASignature, _ digest: SHA256Digest) -> KnownKey? {
        payloads += 1
        for key in keys where verifications < Self.mostVerifications {
            verifications += 1
            if key.publicKey.verifies(signature, of: digest) { return key }
        }
        return nil
    }
}

/// Finds the key of a signature that no known key made, if a digest or another signature of it is known.
struct RecoveringSearch {
    private(set) var payloads = 0

    /// The payloads under which a key comes out whose digest is pinned.
    mutating func hits(
        _ signature: ECDSASignature,
        _ variations: Variations,
        pins: Set<SHA256Digest>
    ) -> (faults: [[SignatureFault]], spki: [UInt8])? {
        guard let recovery = try? KeyRecovery(signature) else { return nil }
        for level in SignatureSearch.levels(variations) {
            var found: (faults: [[SignatureFault]], spki: [UInt8])?
            for (form, faults) in level where payloads < SignatureSearch.mostVerifications {
                payloads += 1
                let candidates = (try? recovery.candidates(form.digest)) ?? []
                guard let spki = candidates.first(where: { pins.contains(SHA256.digest(of: $0)) }) else { continue }
                found = ((found?.faults ?? []) + [faults], spki)
            }
            if let found { return found }
        }
        return nil
    }

    /// The digest of every key that may have made a signature over any of the payloads.
    mutating func candidates(_ signature: ECDSASignature, _ variations: Variations) -> Set<SHA256Digest> {
        guard let recovery = try? KeyRecovery(signature) else { return [] }
        var found: Set<SHA256Digest> = []
        for (form, _) in SignatureSearch.levels(variations).joined() where payloads < SignatureSearch.mostVerifications
        {
            payloads += 1
            for spki in (try? recovery.candidates(form.digest)) ?? [] { found.insert(SHA256.digest(of: spki)) }
        }
        return found
    }
}
