// SPDX-License-Identifier: Apache-2.0

/// Why a request that claims to come from Google's push is not believed; these are all the ways.
///
/// Nothing of the token is repeated.
package enum GooglePushFault: Error, Hashable, Sendable {
    // The request.
    case authorizationMissing
    case authorizationRepeated
    case notBearer
    case tooLarge
    // The token's form.
    case notThreeSegments
    case notBase64URL
    case headerNotJSON
    case algorithmMissing
    case algorithmNone
    case algorithmSymmetric
    case algorithmNotRS256
    case typeNotJWT
    /// A member that names a key or changes what is verified.
    case forbiddenHeaderMember
    case keyIDMissing
    // The signature.
    case keyUnknown
    /// Google's keys can't be had just now.
    case keysUnavailable
    case signatureWrong
    // What is signed.
    case claimsNotJSON
    case claimMissing(Claim)
    case claimUnfit(Claim)
    case otherIssuer
    case otherAudience
    case otherEmail
    case emailNotVerified
    case notYetValid
    case expired
    case livesTooLong

    /// The claims that must be there.
    package enum Claim: String, Hashable, Sendable {
        case issuer = "iss"
        case audience = "aud"
        case email = "email"
        case emailVerified = "email_verified"
        case issuedAt = "iat"
        case expiresAt = "exp"
        case notBefore = "nbf"
    }

    /// Whether the same request may be believed later: nothing is wrong with it that we know.
    package var isTemporary: Bool { self == .keysUnavailable }

    /// The reason in a few lowercase words joined by hyphens, for metrics and logs.
    package var label: String {
        switch self {
        case .authorizationMissing: "authorization-missing"
        case .authorizationRepeated: "authorization-repeated"
        case .notBearer: "not-bearer"
        case .tooLarge: "token-too-large"
        case .notThreeSegments: "not-three-segments"
        case .notBase64URL: "not-base64url"
        case .headerNotJSON: "header-not-json"
        case .algorithmMissing: "algorithm-missing"
        case .algorithmNone: "algorithm-none"
        case .algorithmSymmetric: "algorithm-symmetric"
        case .algorithmNotRS256: "algorithm-not-rs256"
        case .typeNotJWT: "type-not-jwt"
        case .forbiddenHeaderMember: "forbidden-header-member"
        case .keyIDMissing: "key-id-missing"
        case .keyUnknown: "key-unknown"
        case .keysUnavailable: "keys-unavailable"
        case .signatureWrong: "signature-wrong"
        case .claimsNotJSON: "claims-not-json"
        case .claimMissing: "claim-missing"
        case .claimUnfit: "claim-unfit"
        case .otherIssuer: "other-issuer"
        case .otherAudience: "other-audience"
        case .otherEmail: "other-email"
        case .emailNotVerified: "email-not-verified"
        case .notYetValid: "not-yet-valid"
        case .expired: "expired"
        case .livesTooLong: "lives-too-long"
        }
    }
}

extension GooglePushFault: CustomStringConvertible {
    /// A sentence that quotes nothing of the token.
    package var description: String {
        switch self {
        case .authorizationMissing: "There is no Authorization field; Google's push sends one with a token."
        case .authorizationRepeated: "There is more than one Authorization field."
        case .notBearer: "The Authorization field is not “Bearer” and a token."
        case .tooLarge: "The token has more than \(GooglePushToken.maximumBytes) bytes."
        case .notThreeSegments: "The token is not three segments with dots between them."
        case .notBase64URL: "A segment of the token is not base64url."
        case .headerNotJSON: "The token's header is not a strict JSON object."
        case .algorithmMissing: "The token's header names no algorithm."
        case .algorithmNone: "The token is not signed: its algorithm is “none”."
        case .algorithmSymmetric: "The token's algorithm is a symmetric one; Google signs with RS256."
        case .algorithmNotRS256: "The token's algorithm is not RS256."
        case .typeNotJWT: "The token's type is not JWT."
        case .forbiddenHeaderMember: "The token's header has a member that is not accepted here."
        case .keyIDMissing: "The token's header names no key by an id of 1 to 128 bytes."
        case .keyUnknown: "The token was signed with a key that Google does not publish."
        case .keysUnavailable: "Google's public keys are not available now."
        case .signatureWrong: "The token's signature does not verify."
        case .claimsNotJSON: "What the token says is not a strict JSON object."
        case .claimMissing(let claim): "The token has no claim “\(claim.rawValue)”."
        case .claimUnfit(let claim): "The token's claim “\(claim.rawValue)” is of the wrong type."
        case .otherIssuer: "The token was not issued by Google."
        case .otherAudience: "The token is for a different audience than the one that is set."
        case .otherEmail: "The token is of a different service account than the one that is set."
        case .emailNotVerified: "The token's e-mail address is not verified."
        case .notYetValid: "The token is not valid yet; a clock is wrong."
        case .expired: "The token has expired."
        case .livesTooLong: "The token is valid for longer than an hour."
        }
    }
}
