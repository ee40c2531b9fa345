// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
package import OfferDomain

/// The parts of an OIDC token (RFC 7515 section 7.1), told apart; its claims are looked at only once it is verified.
struct GooglePushToken {
    let keyID: String
    private let signingInput: [UInt8]
    private let payload: [UInt8]
    private let signature: [UInt8]

    /// Many times what Google sends.
    static let maximumBytes = 8192

    init(_ token: ArraySlice<UInt8>) throws(GooglePushFault) {
        guard token.count <= Self.maximumBytes else { throw .tooLarge }
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else { throw .notThreeSegments }
        guard let header = Base64.decodeURL(Array(parts[0])), let payload = Base64.decodeURL(Array(parts[1])),
            let signature = Base64.decodeURL(Array(parts[2]))
        else { throw .notBase64URL }
        keyID = try Self.keyID(inHeader: header)
        self.payload = payload
        self.signature = signature
        signingInput = Array(token[..<parts[1].endIndex])
    }

    /// The claims, if the key has signed them.
    func claims(verifiedWith key: RSAPublicKey) throws(GooglePushFault) -> GooglePushClaims {
        guard key.verifiesRS256(signature, of: signingInput) else { throw .signatureWrong }
        return try GooglePushClaims(payload)
    }

    /// Members that bring a key along, or would change what is verified.
    private static let forbidden = ["crit", "b64", "zip", "jwk", "jku", "x5c", "x5u"]

    private static func keyID(inHeader header: [UInt8]) throws(GooglePushFault) -> String {
        guard let members = (try? JSONDocument(header, limits: limits))?.root.object else { throw .headerNotJSON }
        guard !forbidden.contains(where: { members[$0] != nil }) else { throw .forbiddenHeaderMember }
        try checkAlgorithm(members["alg"])
        if let type = members["typ"], !type.string(equals: "JWT") { throw .typeNotJWT }
        guard let keyID = members["kid"]?.string, (1...128).contains(keyID.utf8.count) else { throw .keyIDMissing }
        return keyID
    }

    private static func checkAlgorithm(_ value: JSONValue?) throws(GooglePushFault) {
        guard let value else { throw .algorithmMissing }
        // As bytes; the names below only make the reason clearer.
        guard !value.string(equals: "RS256") else { return }
        switch value.string?.lowercased() {
        case "none": throw .algorithmNone
        case "hs256", "hs384", "hs512": throw .algorithmSymmetric
        default: throw .algorithmNotRS256
        }
    }

    fileprivate static let limits = JSONLimits(maximumBytes: maximumBytes, maximumDepth: 4, maximumNodes: 128)
}

/// What a verified token says.
package struct GooglePushClaims: Hashable, Sendable {
    /// `iss`: Google, with or without `https://`.
    package let issuer: String
    /// `aud`: one text; a token with an array of audiences is refused.
    package let audience: String
    /// `email`: the service account that the push subscription signs as.
    package let email: String
    /// `email_verified`: must be true.
    package let isEmailVerified: Bool
    /// `iat`: at most 60 s in the future.
    package let issuedAt: Timestamp
    /// `exp`: at most 60 s ago, and at most 3,700 s after ``issuedAt``.
    package let expiresAt: Timestamp
    let notBefore: Timestamp?

    init(_ payload: [UInt8]) throws(GooglePushFault) {
        guard let claims = (try? JSONDocument(payload, limits: GooglePushToken.limits))?.root.object else {
            throw .claimsNotJSON
        }
        issuer = try Self.required(.issuer, claims, \.string)
        // RFC 7519 allows an array; Google sends a text, and one audience of several is not ours alone.
        audience = try Self.required(.audience, claims, \.string)
        email = try Self.required(.email, claims, \.string)
        isEmailVerified = try Self.required(.emailVerified, claims, \.bool)
        issuedAt = try Self.required(.issuedAt, claims, Self.instant)
        expiresAt = try Self.required(.expiresAt, claims, Self.instant)
        notBefore = claims["nbf"] == nil ? nil : try Self.required(.notBefore, claims, Self.instant)
    }

    private static func required<Value>(
        _ claim: GooglePushFault.Claim,
        _ claims: JSONObject,
        _ parse: (JSONValue) -> Value?
    ) throws(GooglePushFault) -> Value {
        guard let value = claims[claim.rawValue] else { throw .claimMissing(claim) }
        guard let parsed = parse(value) else { throw .claimUnfit(claim) }
        return parsed
    }

    /// Whole seconds since 1970.
    private static func instant(_ value: JSONValue) -> Timestamp? {
        guard let seconds = value.integer, (0...253_402_300_799).contains(seconds) else { return nil }
        return Timestamp(exactlyMilliseconds: seconds * 1000)
    }
}
