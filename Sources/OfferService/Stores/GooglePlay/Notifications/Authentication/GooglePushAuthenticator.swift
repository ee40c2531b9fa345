// SPDX-License-Identifier: Apache-2.0
package import HTTP
import OfferDomain

/// Tells whether a request comes from the push subscription that is set, by the OIDC token that Google signs for it.
///
/// Source: Google, [Authentication for push subscriptions](https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions).
package struct GooglePushAuthenticator: Sendable {
    private let identity: GooglePushIdentity
    private let keys: GoogleSigningKeys
    private let clock: WallClock

    package init(expecting identity: GooglePushIdentity, keys: GoogleSigningKeys, clock: WallClock) {
        self.identity = identity
        self.keys = keys
        self.clock = clock
    }

    /// Checks the token of a request, from its form to its times; nothing it says counts before its signature does.
    @discardableResult
    package func authenticate(_ headers: HeaderFields) async throws(GooglePushFault) -> GooglePushClaims {
        let token = try GooglePushToken(try Self.bearer(headers))
        let claims = try token.claims(verifiedWith: try await keys.key(token.keyID))
        try check(claims)
        return claims
    }

    private static func bearer(_ headers: HeaderFields) throws(GooglePushFault) -> ArraySlice<UInt8> {
        switch headers.count(of: "authorization") {
        case 0: throw .authorizationMissing
        case 1: break
        default: throw .authorizationRepeated
        }
        // RFC 9110 section 11.1: the scheme's name in any case, one space, the token.
        guard let value = headers.only("authorization"), value.startsIgnoringCase(with: "bearer ") else {
            throw .notBearer
        }
        let token = value.dropFirst(7)
        guard !token.isEmpty, !token.contains(0x20) else { throw .notBearer }
        return token
    }

    private func check(_ claims: GooglePushClaims) throws(GooglePushFault) {
        guard Self.issuers.contains(where: { claims.issuer.utf8.elementsEqual($0.utf8) }) else { throw .otherIssuer }
        guard claims.audience.utf8.elementsEqual(identity.audience.utf8) else { throw .otherAudience }
        guard claims.email.utf8.elementsEqual(identity.email.text.utf8) else { throw .otherEmail }
        guard claims.isEmailVerified else { throw .emailNotVerified }
        let now = clock.now()
        let latest = now.adding(seconds: Self.skewSeconds)
        guard claims.issuedAt <= latest, (claims.notBefore ?? claims.issuedAt) <= latest else { throw .notYetValid }
        guard claims.expiresAt > now.adding(seconds: -Self.skewSeconds) else { throw .expired }
        let life = claims.expiresAt.seconds - claims.issuedAt.seconds
        guard life <= Self.longestLifeSeconds else { throw .livesTooLong }
    }

    /// Both are Google's; its own libraries take either.
    private static let issuers = ["https://accounts.google.com", "accounts.google.com"]
    private static let skewSeconds = 60
    /// An hour, and what Google's servers may differ by.
    private static let longestLifeSeconds: Int64 = 3700
}
