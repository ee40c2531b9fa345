// SPDX-License-Identifier: Apache-2.0

/// Why a DPoP proof is refused; these are all the reasons.
///
/// Source: RFC 9449 section 4.3.
package enum ProofFault: Error, Hashable, Sendable {
    case missing
    case repeated
    case form
    case otherType
    case algorithmNotES256
    case keyUnfit
    case signatureWrong
    case claimMissing(String)
    case claimUnfit(String)
    case otherMethod
    case otherURL
    /// `iat` is too far from now; a nonce of ours makes up for a wrong clock.
    case stale
    /// Another instance could have taken the proof, so it needs a nonce of this one.
    case nonceMissing
    /// The nonce is not one of ours, or it is an old one.
    case nonceUnknown
    case otherToken
    /// The token is bound to another key.
    case otherKey
    case replayed
    /// One key has used as many proofs as are remembered of it.
    case tooManyOfKey
    /// All keys together have used as many proofs as are remembered.
    case tooMany

    /// Whether the same app gets through with a nonce of ours.
    package var needsNonce: Bool { [.stale, .nonceMissing, .nonceUnknown].contains(self) }

    /// Whether the same proof counts once earlier ones are forgotten.
    package var isOfRate: Bool { [.tooManyOfKey, .tooMany].contains(self) }

    /// The reason in a few lowercase words joined by hyphens, for metrics and logs.
    package var label: String {
        switch self {
        case .missing: "proof-missing"
        case .repeated: "proof-repeated"
        case .form: "proof-form"
        case .otherType: "proof-other-type"
        case .algorithmNotES256: "proof-algorithm"
        case .keyUnfit: "proof-key-unfit"
        case .signatureWrong: "proof-signature-wrong"
        case .claimMissing: "proof-claim-missing"
        case .claimUnfit: "proof-claim-unfit"
        case .otherMethod: "proof-other-method"
        case .otherURL: "proof-other-url"
        case .stale: "proof-stale"
        case .nonceMissing: "proof-nonce-missing"
        case .nonceUnknown: "proof-nonce-unknown"
        case .otherToken: "proof-other-token"
        case .otherKey: "proof-other-key"
        case .replayed: "proof-replayed"
        case .tooManyOfKey: "proof-too-many-of-key"
        case .tooMany: "proof-too-many"
        }
    }
}

extension ProofFault: CustomStringConvertible {
    /// A sentence for the operator; it shows no more of the proof than the name of a claim.
    package var description: String {
        switch self {
        case .missing: "The token came with the scheme DPoP and without a DPoP header."
        case .repeated: "The request has more than one DPoP header."
        case .form: "The DPoP proof is not a compact JWS with strict JSON."
        case .otherType: "The DPoP proof's typ is not dpop+jwt."
        case .algorithmNotES256: "The DPoP proof's alg is not ES256."
        case .keyUnfit: "The DPoP proof's jwk is not exactly a public P-256 key."
        case .signatureWrong: "The DPoP proof's signature does not verify."
        case .claimMissing(let name): "The DPoP proof has no claim “\(name)”."
        case .claimUnfit(let name): "The DPoP proof's claim “\(name)” does not have the required form."
        case .otherMethod: "The DPoP proof is for another method (htm)."
        case .otherURL: "The DPoP proof is for another URL (htu)."
        case .stale: "The DPoP proof was not made within the last minute (iat), and has no nonce."
        case .nonceMissing: "The DPoP proof has no nonce, which several instances always ask for."
        case .nonceUnknown: "The DPoP proof's nonce is not a recent nonce of this service."
        case .otherToken: "The DPoP proof is for another token (ath)."
        case .otherKey: "The token is bound to a key other than the DPoP proof's (cnf.jkt)."
        case .replayed: "The DPoP proof was used before (jti)."
        case .tooManyOfKey: "The DPoP proof's key has used more proofs in 11 minutes than the service remembers of one."
        case .tooMany: "More DPoP proofs were used in 11 minutes than the service remembers; add an instance."
        }
    }
}
