// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
package import HTTP
import JSON
import OfferDomain
package import ServiceRuntime

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

    /// Checks the token of a request; nothing it says counts before its signature does.
    package func authenticate(_ headers: HeaderFields) async throws(GooglePushFault) {
        let bytes = try Self.bearer(headers)
        let (token, claims) = try faultOfToken { () throws(TokenFault) in
            let token = try JSONWebToken(bytes)
            return (token, try TokenClaims(token.payload))
        }
        // Its own libraries take either name.
        let policy = policy(issuer: claims.issuer == Self.shortIssuer ? Self.shortIssuer : Self.issuer)
        try faultOfToken { () throws(TokenFault) in try policy.checkHeader(token) }
        guard token.isSigned(by: try await keys.key(of: token)) else { throw .token(.signatureWrong) }
        _ = try faultOfToken { () throws(TokenFault) in try policy.check(claims, at: clock.now().milliseconds) }
        guard claims.all["email"]?.string(equals: identity.email.text) == true else { throw .otherEmail }
        guard claims.all["email_verified"]?.bool == true else { throw .emailNotVerified }
    }

    private static func bearer(_ headers: HeaderFields) throws(GooglePushFault) -> ArraySlice<UInt8> {
        switch headers.count(of: "authorization") {
        case 0: throw .authorizationMissing
        case 1: break
        default: throw .authorizationRepeated
        }
        guard let token = headers.bearerCredential, !token.isEmpty, !token.contains(0x20) else { throw .notBearer }
        return token
    }

    private func faultOfToken<Value>(_ body: () throws(TokenFault) -> Value) throws(GooglePushFault) -> Value {
        do throws(TokenFault) { return try body() } catch { throw .token(error) }
    }

    private func policy(issuer: String) -> TokenPolicy {
        var policy = TokenPolicy(issuer: issuer, audiences: [identity.audience], algorithms: [.rs256])
        policy.kind = .identityToken
        policy.maximumLifetimeSeconds = Self.longestLifeSeconds
        return policy
    }

    private static let issuer = "https://accounts.google.com"
    private static let shortIssuer = "accounts.google.com"
    /// An hour, and what Google's servers may differ by.
    private static let longestLifeSeconds: Int64 = 3700
}
