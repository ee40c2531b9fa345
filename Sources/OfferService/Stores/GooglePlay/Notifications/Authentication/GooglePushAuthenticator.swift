// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// Tells whether a request comes from the push subscription that is set, by the OIDC token that Google signs for it.
///
/// Source: Google, [Authentication for push subscriptions](https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions).
package struct GooglePushAuthenticator: Sendable {
    private let identity: GooglePushIdentity
    private let keys: GoogleSigningKeys

    package init(expecting identity: GooglePushIdentity, keys: GoogleSigningKeys) {
        self.identity = identity
        self.keys = keys
    }

    /// Checks a token, from its form to its times; nothing it says counts before its signature does.
    ///
    /// `token` is what follows `Bearer ` in the request; `nil` is a request without one.
    @discardableResult
    package func verify(_ token: [UInt8]?, at now: Timestamp) async throws(GooglePushFault) -> GooglePushClaims {
        guard let token else { throw .missing }
        let parts = try GooglePushToken(token[...])
        let claims = try parts.claims(verifiedWith: try await keys.key(parts.keyID))
        try check(claims, at: now)
        return claims
    }

    private func check(_ claims: GooglePushClaims, at now: Timestamp) throws(GooglePushFault) {
        guard Self.issuers.contains(where: { claims.issuer.utf8.elementsEqual($0.utf8) }) else { throw .otherIssuer }
        guard claims.audience.utf8.elementsEqual(identity.audience.utf8) else { throw .otherAudience }
        guard claims.email.utf8.elementsEqual(identity.email.text.utf8) else { throw .otherEmail }
        guard claims.isEmailVerified else { throw .emailNotVerified }
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

extension GooglePushAuthenticator: GooglePushAuthentication {
    package func authenticate(_ token: [UInt8]?, at now: Timestamp) async throws(GooglePushDoubt) {
        do throws(GooglePushFault) {
            try await verify(token, at: now)
        } catch {
            throw error.isTemporary ? .keysUnavailable : .refused(label: error.label)
        }
    }
}
