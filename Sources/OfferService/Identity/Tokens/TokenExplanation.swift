// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
import Dispatch
package import HTTP
import JSON
import Ledger
package import OfferDomain
import ServiceRuntime

/// Why a token is refused, or which customer it proves, for the operator.
package struct TokenExplanation: Sendable {
    /// What it comes to.
    package enum Verdict: Sendable {
        case accepted, refused
        /// The provider's keys can't be read, so it is not known.
        case unknown
    }

    /// Whether the service would accept the token.
    package let verdict: Verdict
    /// A line each.
    package let lines: [String]

    /// Checks a token as the service does, with keys that the provider publishes now.
    ///
    /// Blocks the thread meanwhile; that must not be one of Swift's shared pool.
    package static func make(
        of token: [UInt8],
        _ loaded: LoadedConfiguration,
        _ settings: Settings,
        at now: Timestamp
    ) throws(ClientError) -> TokenExplanation {
        let client = try Client(settings.providerClientConfiguration)
        try client.start()
        defer { client.stop() }
        let done = DispatchSemaphore(value: 0)
        let outcome = Guarded<TokenExplanation?>(nil)
        Task {
            let made = await TokenExplanation(of: token, loaded.keys.identity, by: client, at: now)
            outcome.withLock { $0 = made }
            done.signal()
        }
        done.wait()
        return outcome.withLock { $0 } ?? TokenExplanation(.unknown, [])
    }

    private init(_ verdict: Verdict, _ lines: [String]) {
        (self.verdict, self.lines) = (verdict, lines)
    }

    private init(
        of text: [UInt8],
        _ providers: IdentityProviders,
        by transport: any Transport,
        at now: Timestamp
    ) async {
        guard !providers.isEmpty else {
            self.init(.refused, ["refused: the keys file has no identityProviders, so no token is accepted"])
            return
        }
        var lines: [String] = []
        do throws(TokenFault) {
            let token = try JSONWebToken(text[...])
            lines.append("header: \(Self.header(token))")
            let claims = try TokenClaims(token.payload)
            lines.append("claims: \(Self.claims(claims, at: now))")
            guard let provider = providers[claims.issuer] else { throw .issuerUnknown }
            lines.append("provider: \(provider.name)")
            try provider.policy.checkHeader(token)
            let reading = ProviderReading(transport: transport, timeoutMilliseconds: 10_000)
            switch await reading.wholeSet(of: provider.keySource) {
            case .failure(let fault):
                self.init(.unknown, lines + ["not known: \(provider.policy.issuer) \(fault)"])
            case .success(let keys):
                lines.append("keys: \(keys.set.keys.count) from \(keys.url)")
                try Self.verify(token, by: keys.set)
                self.init(.accepted, lines + (try Self.lines(claims, provider, at: now)))
            }
        } catch {
            self.init(.refused, lines + ["refused: \(error.label): \(error)"] + Self.help(error))
        }
    }

    private static func verify(_ token: JSONWebToken, by set: TokenKeySet) throws(TokenFault) {
        let candidates = set.candidates(for: token)
        guard !candidates.isEmpty else { throw .keyUnknown }
        guard candidates.contains(where: token.isSigned) else { throw .signatureWrong }
    }

    private static func header(_ token: JSONWebToken) -> String {
        "alg \(token.algorithm.rawValue), typ \(token.type.map(printable) ?? "none"), "
            + "kid \(token.keyID.map(printable) ?? "none")"
    }

    private static func claims(_ claims: TokenClaims, at now: Timestamp) -> String {
        let left = (claims.expiresAt - now.milliseconds) / 1000
        let end = left >= 0 ? "expires in \(left) s" : "expired \(-left) s ago"
        return
            "iss \(printable(claims.issuer)), \(end), valid for \((claims.expiresAt - claims.issuedAt) / 1000) s in all"
    }

    /// What the claims prove.
    private static func lines(
        _ claims: TokenClaims,
        _ provider: IdentityProvider,
        at now: Timestamp
    ) throws(TokenFault) -> [String] {
        let audiences = try provider.policy.check(claims, at: now.milliseconds)
        let binding = try claims.binding
        // A proof for a token that is bound to no key is refused too.
        let needsProof = if case .key = binding { true } else { false }
        guard needsProof || provider.proofs != .required else { throw .proofMissing }
        let apps = try provider.apps(for: audiences)
        let user = try ProvenUser(claims, of: provider)
        let attributes = user.attributes?.entries.map(\.name).joined(separator: ", ") ?? ""
        return [
            "accepted: customerId \(user.customerID.text)",
            "appAccountToken: \(user.appAccountToken.map { "\($0)" } ?? "none; the app may name one, which proves nothing")",
            "apps: \(apps.map(\.text).sorted().joined(separator: ", "))",
        ] + (attributes.isEmpty ? [] : ["attributes: \(attributes)"])
            + lines(of: binding)
    }

    private static func lines(of binding: TokenBinding?) -> [String] {
        switch binding {
        case .key: ["proof: the token is bound to a key, so each request needs a DPoP proof"]
        case .certificate: ["proof: the token is bound to a client certificate, so each request needs that certificate"]
        case nil: []
        }
    }

    /// What to do about it, where that is not plain.
    private static func help(_ fault: TokenFault) -> [String] {
        switch fault {
        case .otherType:
            [
                "Providers without the RFC 9068 profile send no typ or JWT: set tokenType: \"any\", or the provider's preset."
            ]
        case .otherAudience, .claimMissing("aud"):
            ["Set audience to what the token's aud has; where there is none, as at Cognito, set audienceClaim."]
        case .proofMissing: ["Have the provider bind its tokens to the app's key: they have cnf.jkt then."]
        case .livesTooLong: ["Have the provider issue shorter tokens, or raise maximumLifetime (seconds)."]
        case .issuerUnknown:
            ["Set issuer to exactly what the token's iss has, also with or without a slash at its end."]
        case .identityToken:
            [
                "Have the app send its access token; for providers whose users have ID tokens alone, set tokenType: \"idToken\"."
            ]
        default: []
        }
    }
}
