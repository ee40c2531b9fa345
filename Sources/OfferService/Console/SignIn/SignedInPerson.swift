// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import JSON
import OfferDomain

/// An ID token that a key of the provider has signed; what it says is not judged yet.
struct SignedIDToken: Sendable {
    let token: JSONWebToken
    let claims: TokenClaims
}

/// What a verified ID token says of a person.
///
/// Source: OpenID Connect Core 1.0 section 3.1.3.7.
struct SignedInPerson: Sendable {
    let subject: String
    let role: CallerRole

    /// Judges a token that answers a sign-in.
    init(
        _ signed: SignedIDToken,
        of provider: IdentityProvider,
        by settings: ConsoleSignIn,
        nonce: String,
        at now: Timestamp
    ) throws(SignInFault) {
        let (policy, claims) = (Self.policy(provider, settings), signed.claims)
        do throws(TokenFault) {
            try policy.checkHeader(signed.token)
            try policy.check(claims, at: now.milliseconds)
        } catch {
            throw .token(error)
        }
        guard claims.all["nonce"]?.string(equals: nonce) == true else { throw .otherNonce }
        try Self.checkParty(claims, settings)
        try Self.checkLogin(claims, settings, skew: policy.clockSkewSeconds, at: now)
        subject = claims.subject
        role = try Self.role(claims, settings)
    }

    /// ID tokens for this service alone, by the algorithms and clocks of the provider's entry.
    static func policy(_ provider: IdentityProvider, _ settings: ConsoleSignIn) -> TokenPolicy {
        var policy = TokenPolicy(
            issuer: provider.policy.issuer,
            audiences: [settings.clientID],
            algorithms: provider.policy.algorithms
        )
        policy.kind = .identityToken
        policy.clockSkewSeconds = provider.policy.clockSkewSeconds
        policy.maximumLifetimeSeconds = longestLifetimeSeconds
        return policy
    }

    /// The party that the token was issued to; a token for several parties must name it.
    private static func checkParty(_ claims: TokenClaims, _ settings: ConsoleSignIn) throws(SignInFault) {
        guard let party = claims.all["azp"] else {
            guard (claims.all["aud"]?.array?.count ?? 1) == 1 else { throw .otherParty }
            return
        }
        guard party.string(equals: settings.clientID) else { throw .otherParty }
    }

    private static func checkLogin(
        _ claims: TokenClaims,
        _ settings: ConsoleSignIn,
        skew: Int64,
        at now: Timestamp
    ) throws(SignInFault) {
        guard let minutes = settings.maximumAgeMinutes else { return }
        guard let value = claims.all["auth_time"] else { throw .token(.claimMissing("auth_time")) }
        guard let seconds = value.integer else { throw .token(.claimUnfit("auth_time")) }
        guard now.seconds - seconds <= minutes * 60 + skew else { throw .loginTooOld }
    }

    /// The highest role that the claim gives.
    private static func role(_ claims: TokenClaims, _ settings: ConsoleSignIn) throws(SignInFault) -> CallerRole {
        let claim = settings.roleClaim.joined(separator: ".")
        var value = settings.roleClaim.first.flatMap { claims.all[$0] }
        for name in settings.roleClaim.dropFirst() { value = value?.object?[name] }
        guard let value else { throw .noRole(claim: claim) }
        // Without this, a person who registers with another's address has that person's role.
        if settings.roleClaim == ["email"], claims.all["email_verified"]?.bool != true {
            throw .token(.claimUnfit("email_verified"))
        }
        let texts = value.array.map { $0.compactMap(\.string) } ?? [value.string].compactMap(\.self)
        let roles = settings.roles.filter { role in
            texts.contains { $0.utf8.elementsEqual(role.key.utf8) }
        }.values
        if roles.contains(.admin) { return .admin }
        guard let role = roles.first else { throw .noRole(claim: claim) }
        return role
    }

    /// Of an ID token, from `iat` to `exp`: it counts once, so what matters is that it is not over.
    private static let longestLifetimeSeconds: Int64 = 172_800
}

/// Finds the key that signed an ID token.
struct IDTokenVerifier: Sendable {
    let keys: ProviderKeys

    /// The token with its claims once a key of the provider has signed it; asks the provider for keys at most once.
    func verified(
        _ text: [UInt8],
        of provider: IdentityProvider
    ) async throws(SignInFault) -> SignedIDToken {
        do throws(TokenFault) {
            let token = try JSONWebToken(text[...])
            let signed = SignedIDToken(token: token, claims: try TokenClaims(token.payload))
            // Before the provider is asked for the key of a header that it cannot have made.
            guard provider.policy.algorithms.contains(token.algorithm) else { throw .algorithmNotAllowed }
            for hasAsked in [false, true] {
                if hasAsked { await keys.awaitKeys(of: provider.keySource, for: token) }
                let isSigned = keys.isSigned(token, by: provider.keySource, hasAsked: hasAsked)
                guard isSigned != false else { throw .signatureWrong }
                if isSigned == true { return signed }
            }
        } catch {
            throw .token(error)
        }
        throw keys.known(of: provider.keySource) == nil ? .keysUnknown : .token(.keyUnknown)
    }
}
