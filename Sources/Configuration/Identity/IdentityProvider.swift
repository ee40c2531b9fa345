// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import OfferDomain

/// An identity provider of the keys file; the service accepts its users' tokens.
package struct IdentityProvider: Sendable {
    /// What records and metrics call it.
    package let name: String
    /// What a token must have to be accepted: issuer, audience, algorithms, age.
    package let policy: TokenPolicy
    /// Where the provider's keys are read.
    package let keySource: KeySource
    /// The apps that its users may ask for, as the ledger names them; empty if people only sign in to the console by it.
    package let apps: Set<AppName>
    /// Whether a token is good only for the app that its audience names, as Apple's are.
    package let isConfinedToAudience: Bool
    /// How a customer's ID is made of a claim.
    package let customer: CustomerClaim
    /// Where the account token of the App Store comes from; `nil` if a token proves none.
    package let accountToken: AccountTokenClaim?
    /// Attributes by the claims that they are read from.
    package let attributes: [AttributeClaim]
    /// Whether tokens need a proof of possession.
    package let proofs: ProofPolicy
    /// The origin that DPoP proofs name in `htu`; `nil` accepts proofs only for requests to this machine.
    package let publicOrigin: String?
    /// Whether its tokens may be bound to a client certificate, so that TLS connections are asked for one.
    package let asksForCertificates: Bool
    /// How people sign in to the console by it; `nil` if they do not.
    package let console: ConsoleSignIn?

    /// Where the provider's keys are.
    package struct KeySource: Hashable, Sendable {
        /// The provider's issuer, byte for byte as tokens have it in `iss`.
        package let issuer: String
        /// The address of the key set; `nil` reads it from the discovery document.
        package let jwksURL: String?

        /// Source: OpenID Connect Discovery 1.0 section 4.
        package var discoveryURL: String {
            (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + "/.well-known/openid-configuration"
        }
    }

    /// The claim that a customer's id is read from.
    package struct CustomerClaim: Hashable, Sendable {
        /// What is made of the claim's text.
        package enum Form: String, CaseIterable, Sendable {
            /// Nothing.
            case asIs
            /// It is a UUID, held in lowercase.
            case uuid
            /// Its SHA-256 in hexadecimal, for texts that are longer than an id may be, or name a person.
            case sha256
        }

        /// The claim's name.
        package let claim: String
        /// What is made of its text.
        package let form: Form
    }

    /// Where the token comes from that the customer's purchases name.
    package enum AccountTokenClaim: Hashable, Sendable {
        case claim(String)
        /// A UUID of version 5 out of the customer's id (RFC 9562 section 5.5).
        case derived(namespace: UniqueID)
    }

    /// An attribute, and the claim that it is read from.
    package struct AttributeClaim: Hashable, Sendable {
        /// The attribute's name in rules.
        package let attribute: String
        /// The name of the claim that has its value.
        package let claim: String
    }

    /// Whether tokens need a DPoP proof of possession (RFC 9449).
    package enum ProofPolicy: String, CaseIterable, Hashable, Sendable {
        case required, accepted, off
    }
}

extension IdentityProvider {
    /// The apps that a token for those audiences is good for; never empty, because a caller without apps may ask for all.
    package func apps(for audiences: [String]) throws(TokenFault) -> Set<AppName> {
        let apps = isConfinedToAudience ? apps.filter { audiences.contains($0.text) } : apps
        guard !apps.isEmpty else { throw .otherAudience }
        return apps
    }
}

/// All identity providers; an immutable snapshot.
package struct IdentityProviders: Sendable {
    /// In the order of the file.
    package let all: [IdentityProvider]
    private let byIssuer: [String: IdentityProvider]

    /// Whether tokens of one of them may be bound to a client certificate, so that TLS connections are asked for one.
    package let asksForCertificates: Bool

    package init(_ all: [IdentityProvider] = []) {
        self.all = all
        asksForCertificates = all.contains(where: \.asksForCertificates)
        byIssuer = Dictionary(all.map { ($0.policy.issuer, $0) }) { first, _ in first }
    }

    /// Whether no provider is set, so that every user's token is refused.
    package var isEmpty: Bool { all.isEmpty }

    /// The provider of that issuer; whether a token's issuer is the same byte for byte is checked with its claims.
    package subscript(issuer: String) -> IdentityProvider? { byIssuer[issuer] }
}
