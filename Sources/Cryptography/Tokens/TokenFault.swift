// SPDX-License-Identifier: Apache-2.0

/// Why a token is refused; these are all the reasons.
///
/// No text repeats any of the token. Callers see no reason, because it would help those who forge tokens.
package enum TokenFault: Error, Hashable, Sendable {
    // The token's form.
    case tooLarge
    case encrypted
    case notThreeSegments
    case notBase64URL
    case headerNotJSON
    case algorithmMissing
    case algorithmNone
    case algorithmSymmetric
    /// The provider's list does not have it.
    case algorithmNotAllowed
    /// A member `crit`, which makes others count that are not known here, or `enc`.
    case forbiddenHeaderMember
    case keyIDUnfit
    case otherType
    case payloadNotJSON
    // Who signed it.
    case issuerUnknown
    case keyUnknown
    case signatureWrong
    // What it says.
    case claimMissing(String)
    case claimUnfit(String)
    case expired
    case notYetValid
    case issuedInFuture
    case livesTooLong
    case otherAudience
    /// It is an ID token, which is for the app itself.
    case identityToken
    case scopeMissing
    // The audience and the permitted users.
    /// It is bound to a key, and the request has no proof of possession.
    case boundToKey
    /// It is bound to a client certificate, and the request came without that certificate.
    case boundToCertificate
    /// It is bound in a way that is not known here.
    case boundOtherwise
    /// The provider's tokens need a proof of possession.
    case proofMissing
    case proof(ProofFault)

    /// The reason in a few lowercase words joined by hyphens, for metrics and logs.
    package var label: String {
        switch self {
        case .tooLarge: "too-large"
        case .encrypted: "encrypted"
        case .notThreeSegments: "not-three-segments"
        case .notBase64URL: "not-base64url"
        case .headerNotJSON: "header-not-json"
        case .algorithmMissing: "algorithm-missing"
        case .algorithmNone: "algorithm-none"
        case .algorithmSymmetric: "algorithm-symmetric"
        case .algorithmNotAllowed: "algorithm-not-allowed"
        case .forbiddenHeaderMember: "forbidden-header-member"
        case .keyIDUnfit: "key-id-unfit"
        case .otherType: "other-type"
        case .payloadNotJSON: "payload-not-json"
        case .issuerUnknown: "issuer-unknown"
        case .keyUnknown: "key-unknown"
        case .signatureWrong: "signature-wrong"
        case .claimMissing: "claim-missing"
        case .claimUnfit: "claim-unfit"
        case .expired: "expired"
        case .notYetValid: "not-yet-valid"
        case .issuedInFuture: "issued-in-future"
        case .livesTooLong: "lives-too-long"
        case .otherAudience: "other-audience"
        case .identityToken: "identity-token"
        case .scopeMissing: "scope-missing"
        case .boundToKey: "bound-to-key"
        case .boundToCertificate: "bound-to-certificate"
        case .boundOtherwise: "bound-otherwise"
        case .proofMissing: "proof-missing"
        case .proof(let fault): fault.label
        }
    }
}

extension TokenFault: CustomStringConvertible {
    /// A sentence for the operator, with the setting of the keys file where one decides.
    package var description: String {
        switch self {
        case .tooLarge: "The token has more than \(JSONWebToken.maximumBytes) bytes."
        case .encrypted: "The token is encrypted (five segments); have the provider issue signed tokens."
        case .notThreeSegments: "The token is not three segments with dots between them."
        case .notBase64URL: "A segment of the token is not canonical base64url without padding."
        case .headerNotJSON: "The token's header is not a strict JSON object."
        case .algorithmMissing: "The token's header names no algorithm (alg)."
        case .algorithmNone: "The token is not signed: its alg is “none”."
        case .algorithmSymmetric: "The token's alg is symmetric; only public-key algorithms are accepted."
        case .algorithmNotAllowed: "The token's alg is not among the provider's algorithms in the keys file."
        case .forbiddenHeaderMember: "The token's header has a member crit or enc, which the service does not accept."
        case .keyIDUnfit: "The token's kid is not a text of 1 to \(JSONWebToken.maximumKeyIDBytes) bytes."
        case .otherType: "The token's typ does not fit the provider's tokenType in the keys file."
        case .payloadNotJSON: "The token's payload is not a strict JSON object within the limits."
        case .issuerUnknown: "No identity provider in the keys file has the token's issuer (iss), byte for byte."
        case .keyUnknown: "No key that the provider publishes has the token's kid and fits its alg."
        case .signatureWrong: "The token's signature does not verify."
        case .claimMissing(let name): "The token has no claim “\(name)”."
        case .claimUnfit(let name): "The token's claim “\(name)” does not have the required form or value."
        case .expired: "The token has expired (exp)."
        case .notYetValid: "The token is not valid yet (nbf); a clock may be wrong."
        case .issuedInFuture: "The token was issued in the future (iat); a clock may be wrong."
        case .livesTooLong: "The token is valid for longer than the provider's maximumLifetime in the keys file."
        case .otherAudience: "The token's audience is not among the provider's audiences in the keys file."
        case .identityToken: "The token is an ID token, which is for the app itself; send an access token."
        case .scopeMissing: "The token does not have the provider's requiredScope."
        case .boundToKey: "The token is bound to a key (cnf.jkt) and came without a DPoP proof."
        case .boundToCertificate:
            "The token is bound to a client certificate (cnf.x5t#S256), and the request came without that certificate."
        case .boundOtherwise:
            "The token is bound (cnf) in a way other than DPoP or a certificate, which is not supported."
        case .proofMissing: "The provider's dpop is “required”, and the token came without a DPoP proof."
        case .proof(let fault): fault.description
        }
    }
}
