// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import OfferDomain

/// How people sign in to the console by an identity provider: `consoleSignIn` of the provider's entry in the keys file.
package struct ConsoleSignIn: Sendable {
    /// What the console calls the provider; `nil`: the name of its entry.
    package let title: String?
    /// The name of this service at the provider.
    package let clientID: String
    /// `nil` of a public client, which proves itself by PKCE alone.
    package let clientSecret: ClientSecret?
    /// Where the provider sends the browser back to, byte for byte as it is registered there.
    package let redirectURL: String
    /// The origin of ``redirectURL``, which is the console's own.
    package let origin: String
    /// With `openid`.
    package let scopes: [String]
    /// The claim of the ID token that decides about the role: its name, and names within it.
    package let roleClaim: [String]
    /// The role of each text that the claim may have.
    package let roles: [String: CallerRole]
    /// How long a session lasts.
    package let sessionMinutes: Int64
    /// How long ago the person may have logged in at the provider; `nil` leaves that to the provider.
    package let maximumAgeMinutes: Int64?

    /// What follows the console's own path in ``redirectURL``.
    package static let redirectPath = "/console/signed-in"

    /// Changes with everything here but the secret: a session ends when what gave it its role changes.
    package func digest(of issuer: String) -> SHA256Digest {
        let roles = roles.map { "\($0.key)\u{1}\($0.value.rawValue)" }.sorted()
        let parts =
            [issuer, clientID, redirectURL, roleClaim.joined(separator: "\u{1}"), "\(maximumAgeMinutes ?? 0)"] + roles
        return SHA256.digest(of: Array(parts.joined(separator: "\u{0}").utf8))
    }
}

extension IdentityProviders {
    /// The provider of that name, if people sign in to the console by it.
    package func console(_ name: some StringProtocol) -> (provider: IdentityProvider, settings: ConsoleSignIn)? {
        guard let found = all.first(where: { $0.name.utf8.elementsEqual(name.utf8) }), let settings = found.console
        else { return nil }
        return (found, settings)
    }
}

extension CallerID {
    /// The name of a person in a session of the console; no caller with an API key can have it.
    ///
    /// It contains a pseudonym in place of the subject, because the subject may name a person.
    package init(consoleUserOf provider: IdentityProvider, _ subject: String, under pseudonyms: Pseudonyms) {
        let message = Array(provider.policy.issuer.utf8) + [0] + Array(subject.utf8)
        let code = SHA256Digest(bytes: pseudonyms.code(.consoleUser, message))?.hex.prefix(16) ?? ""
        self.init(person: String(code), of: provider.name)
    }
}
