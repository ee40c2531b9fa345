// SPDX-License-Identifier: Apache-2.0
import Configuration

extension ProviderMetadata {
    /// The address that the browser is sent to.
    func authorizationRequest(_ pending: PendingSignIn, _ settings: ConsoleSignIn) -> String {
        var parameters = [
            ("response_type", "code"), ("client_id", settings.clientID), ("redirect_uri", settings.redirectURL),
            ("scope", settings.scopes.joined(separator: " ")), ("state", pending.state), ("nonce", pending.nonce),
            ("code_challenge", pending.codeChallenge), ("code_challenge_method", "S256"),
        ]
        if let minutes = settings.maximumAgeMinutes { parameters.append(("max_age", String(minutes * 60))) }
        return Self.with(parameters, at: authorizationURL)
    }

    /// The address where the person can sign out at the provider too.
    ///
    /// Source: OpenID Connect RP-Initiated Logout 1.0 section 2.
    func endSessionRequest(_ settings: ConsoleSignIn) -> String? {
        let console = settings.redirectURL.dropLast(ConsoleSignIn.redirectPath.utf8.count) + "/console/"
        return endSessionURL.map { url in
            Self.with([("client_id", settings.clientID), ("post_logout_redirect_uri", String(console))], at: url)
        }
    }
}
