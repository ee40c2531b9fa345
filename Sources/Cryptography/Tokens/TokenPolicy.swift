// SPDX-License-Identifier: Apache-2.0
import JSON

/// What a provider's tokens must be like.
package struct TokenPolicy: Hashable, Sendable {
    /// How access tokens are distinguished from ID tokens, which are for the app alone.
    package enum Kind: Hashable, Sendable {
        /// The header's `typ` is `at+jwt` (RFC 9068 section 2.1).
        case accessToken
        /// Nothing in the header tells, so what only ID tokens have is refused.
        case any
        /// Only ID tokens are accepted.
        case identityToken
    }

    /// Compared with `iss` byte for byte.
    package var issuer: String
    /// One of them must be in the audience claim.
    package var audiences: Set<String>
    /// Mostly `aud`.
    package var audienceClaim = "aud"
    /// Those that a token's `alg` may name.
    package var algorithms: Set<TokenAlgorithm>
    /// Which tokens of the provider are accepted.
    package var kind = Kind.accessToken
    /// Claims that must have one of these texts.
    package var requiredClaims: [String: Set<String>] = [:]
    /// Whether Firebase's tokens of users who did not log in are refused: anyone can have any number of them.
    package var refusesAnonymous = false
    /// In `scope`, a list with spaces, or `scp`, an array or such a list.
    package var requiredScope: String?
    /// Any scope at all.
    package var requiresAnyScope = false
    /// Whether `azp` or `client_id` may be the audience itself, and `nonce` may be there.
    package var admitsOwnClient = false
    /// From `iat` to `exp`.
    package var maximumLifetimeSeconds: Int64 = 3600
    /// How far the provider's clock may differ from ours, either way.
    package var clockSkewSeconds: Int64 = 60

    /// A policy for access tokens of at most one hour; the caller changes what the provider does otherwise.
    package init(issuer: String, audiences: Set<String>, algorithms: Set<TokenAlgorithm>) {
        self.issuer = issuer
        self.audiences = audiences
        self.algorithms = algorithms
    }

    /// Checks what the header says, before any key is looked for.
    package func checkHeader(_ token: JSONWebToken) throws(TokenFault) {
        guard algorithms.contains(token.algorithm) else { throw .algorithmNotAllowed }
        let type = token.type?.lowercased()
        switch kind {
        case .accessToken: guard type == "at+jwt" || type == "application/at+jwt" else { throw .otherType }
        case .any:
            guard [nil, "jwt", "application/jwt", "at+jwt", "application/at+jwt"].contains(type) else {
                // A logout token, a DPoP proof and the like are no access tokens.
                throw .otherType
            }
        case .identityToken: guard [nil, "jwt", "application/jwt"].contains(type) else { throw .otherType }
        }
    }

    /// Checks what a token says once its signature is verified.
    ///
    /// - Returns: The audiences that are ours.
    @discardableResult
    package func check(_ claims: TokenClaims, at unixMilliseconds: Int64) throws(TokenFault) -> [String] {
        guard claims.issuer.utf8.elementsEqual(issuer.utf8) else { throw .issuerUnknown }
        let skew = clockSkewSeconds * 1000
        guard unixMilliseconds < claims.expiresAt + skew else { throw .expired }
        if let start = claims.notBefore, start > unixMilliseconds + skew { throw .notYetValid }
        guard claims.issuedAt <= unixMilliseconds + skew else { throw .issuedInFuture }
        guard claims.expiresAt - claims.issuedAt <= maximumLifetimeSeconds * 1000 else { throw .livesTooLong }
        let named = try claims.texts(audienceClaim)
        let ours = named.filter { name in audiences.contains { $0.utf8.elementsEqual(name.utf8) } }
        guard !ours.isEmpty else { throw .otherAudience }
        try checkRequired(claims)
        if kind == .any { try refuseIdentityToken(claims, ours) }
        try checkScope(claims)
        return ours
    }

    private func checkRequired(_ claims: TokenClaims) throws(TokenFault) {
        for (name, texts) in requiredClaims {
            guard let value = claims.all[name] else { throw .claimMissing(name) }
            guard texts.contains(where: value.string(equals:)) else { throw .claimUnfit(name) }
        }
        guard refusesAnonymous else { return }
        let login = claims.all["firebase"]?.object?["sign_in_provider"]?.string
        guard let login, login != "anonymous" else { throw .claimUnfit("firebase") }
    }

    private func refuseIdentityToken(_ claims: TokenClaims, _ audiences: [String]) throws(TokenFault) {
        guard claims.all["at_hash"] == nil, claims.all["c_hash"] == nil else { throw .identityToken }
        guard !admitsOwnClient else { return }
        guard claims.all["nonce"] == nil else { throw .identityToken }
        guard audienceClaim == "aud" else { return }
        for name in ["azp", "client_id"] {
            if let client = claims.all[name], audiences.contains(where: client.string(equals:)) {
                throw .identityToken
            }
        }
    }

    private func checkScope(_ claims: TokenClaims) throws(TokenFault) {
        guard requiredScope != nil || requiresAnyScope else { return }
        let scopes = try claims.scopes
        if requiresAnyScope, scopes.isEmpty { throw .scopeMissing }
        guard let requiredScope else { return }
        guard scopes.contains(Array(requiredScope.utf8)) else { throw .scopeMissing }
    }
}
