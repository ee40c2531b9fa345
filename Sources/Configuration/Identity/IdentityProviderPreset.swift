// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// What is known of the tokens of a kind of provider, so that the keys file need not say it.
///
/// A member of the file replaces what is set here.
///
/// Source: the providers' pages on access tokens and ID tokens, such as Amazon Cognito, Understanding the access token;
/// Firebase, Verify ID tokens using a third-party JWT library; Auth0, Access token profiles; Microsoft, Access token claims
/// reference; Okta, OpenID Connect and OAuth 2.0 API; Keycloak, Upgrading to 25 (`nonce`, `sub`).
enum IdentityProviderPreset: String, CaseIterable {
    case auth0, cognito, entra, firebase, keycloak, okta, signInWithApple

    /// The issuer, where all customers of the provider have the same.
    var issuer: String? { self == .signInWithApple ? "https://appleid.apple.com" : nil }

    /// Where the keys are, where there is no discovery document that says so.
    var jwksURL: String? {
        switch self {
        case .firebase:
            "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
        case .signInWithApple: "https://appleid.apple.com/auth/keys"
        case .auth0, .cognito, .entra, .keycloak, .okta: nil
        }
    }

    /// The claim that is the same for a user in all clients, and never another user's.
    var customerClaim: String {
        switch self {
        // `sub` is the user's login, which can change. Machines have no `uid`.
        case .okta: "uid"
        // `sub` differs for each application.
        case .entra: "oid"
        case .auth0, .cognito, .firebase, .keycloak, .signInWithApple: "sub"
        }
    }

    /// Changes what a policy has by default to what the provider's tokens are like.
    func adapt(_ policy: inout TokenPolicy) {
        policy.algorithms = [.rs256]
        switch self {
        case .auth0:
            // `typ` is at+jwt only where the API has the RFC 9068 profile.
            policy.kind = .any
            policy.maximumLifetimeSeconds = 86_400
        case .cognito:
            // Access tokens have no `aud`; `token_use` distinguishes them from ID tokens.
            policy.kind = .any
            policy.audienceClaim = "client_id"
            policy.requiredClaims = ["token_use": ["access"]]
            policy.maximumLifetimeSeconds = 86_400
        case .entra:
            // One registration may be app and API, and then `azp` is the audience; only access tokens have a scope.
            policy.kind = .any
            policy.requiredClaims = ["ver": ["2.0"]]
            policy.requiresAnyScope = true
            policy.admitsOwnClient = true
            policy.maximumLifetimeSeconds = 7200
        case .firebase:
            policy.kind = .identityToken
            policy.refusesAnonymous = true
        case .keycloak:
            // The claim `typ` is ID in ID tokens; access tokens of older versions have a nonce.
            policy.kind = .any
            // Tokens that are bound to a key have DPoP.
            policy.requiredClaims = ["typ": ["Bearer", "DPoP"]]
            policy.admitsOwnClient = true
        case .okta:
            policy.kind = .any
            policy.maximumLifetimeSeconds = 86_400
        case .signInWithApple:
            policy.kind = .identityToken
            policy.maximumLifetimeSeconds = 86_400
        }
    }
}
