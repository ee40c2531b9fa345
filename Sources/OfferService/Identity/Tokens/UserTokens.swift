// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import JSON
import OfferDomain
import ServiceRuntime

/// Finds the user of an app that a token of an identity provider proves.
final class UserTokens: Sendable {
    let keys: ProviderKeys
    private let proofs: ProofsOfPossession
    private let metrics: Metrics
    private let log: Log

    init(_ keys: ProviderKeys, proofs: ProofsOfPossession, _ runtime: Runtime) {
        self.keys = keys
        self.proofs = proofs
        metrics = runtime.metrics
        log = runtime.log
    }

    /// A token as far as it can be looked at without a key; nothing that it says is believed yet.
    struct Presented {
        let token: JSONWebToken
        let claims: TokenClaims
        let provider: IdentityProvider
        let credential: TokenCredential
        let request: Request
        /// The certificate of the sender.
        let certificate: CertificateKey?

        /// Whether a proof comes with the scheme `Bearer`, where the provider's entry says that proofs count.
        var offersProof: Bool { provider.proofs == .accepted && request.headers.count(of: "DPoP") > 0 }
    }

    /// Parses a token, and finds the provider that it names.
    func presented(
        _ credential: TokenCredential,
        in request: Request,
        _ providers: IdentityProviders,
        from certificate: CertificateKey?
    ) throws(Refusal) -> Presented {
        var issuer = "unknown"
        do throws(TokenFault) {
            let token = try JSONWebToken(credential.token)
            // Only to count a fault of the claims for the provider that the token names.
            if let named = token.payload["iss"]?.string.flatMap({ providers[$0] }) { issuer = named.policy.issuer }
            let claims = try TokenClaims(token.payload)
            guard let provider = providers[claims.issuer] else { throw .issuerUnknown }
            try provider.policy.checkHeader(token)
            return Presented(
                token: token,
                claims: claims,
                provider: provider,
                credential: credential,
                request: request,
                certificate: certificate
            )
        } catch {
            throw refusal(error, issuer)
        }
    }

    /// The user, if one of the keys that are known has signed the token.
    ///
    /// - Returns: `nil` if the provider has to be asked for its keys first.
    func caller(_ presented: Presented, at now: Timestamp, hasAsked: Bool = false) throws(Refusal) -> Caller? {
        let source = presented.provider.keySource
        guard let isSigned = keys.isSigned(presented.token, by: source, hasAsked: hasAsked) else { return nil }
        do throws(TokenFault) {
            guard isSigned else { throw .signatureWrong }
            return try verifiedCaller(presented, at: now)
        } catch {
            throw refusal(error, source.issuer)
        }
    }

    /// The user, once the provider has been asked for its keys, if it may be.
    func callerAfterAsking(_ presented: Presented, at now: Timestamp) async throws(Refusal) -> Caller {
        let source = presented.provider.keySource
        await keys.awaitKeys(of: source, for: presented.token)
        if let caller = try caller(presented, at: now, hasAsked: true) { return caller }
        guard keys.known(of: source) == nil else { throw refusal(.keyUnknown, source.issuer) }
        throw .caller(.identityProviderUnavailable(retryAfterSeconds: keys.retryAfterSeconds(of: source)))
    }

    private func verifiedCaller(_ presented: Presented, at now: Timestamp) throws(TokenFault) -> Caller {
        let (provider, claims) = (presented.provider, presented.claims)
        let audiences = try provider.policy.check(claims, at: now.milliseconds)
        try checkPossession(presented, at: now)
        let apps = try provider.apps(for: audiences)
        var caller = Caller(id: CallerID(usersOf: provider.name), role: .app, apps: apps)
        caller.user = try ProvenUser(claims, of: provider)
        return caller
    }

    /// A token that is bound to a key or certificate is never accepted from a sender that does not prove to have it, whatever
    /// the provider's entry says.
    private func checkPossession(_ presented: Presented, at now: Timestamp) throws(TokenFault) {
        var thumbprint: String?
        switch try presented.claims.binding {
        case .key(let bound): thumbprint = bound
        case .certificate(let digest):
            guard presented.certificate?.digest == digest else { throw .boundToCertificate }
        case nil: break
        }
        if !presented.credential.isProven {
            guard thumbprint == nil else { throw .boundToKey }
            guard presented.provider.proofs != .required else { throw .proofMissing }
            guard presented.offersProof else { return }
        }
        guard let origin = presented.provider.origin(of: presented.request) else { throw .proof(.otherURL) }
        do throws(ProofFault) {
            try proofs.check(
                presented.request,
                presented.credential.token,
                confirmation: thumbprint,
                origin: origin,
                at: now
            )
        } catch {
            throw .proof(error)
        }
    }

    /// The answer to the caller, without the reason: only metrics and log have it.
    private func refusal(_ fault: TokenFault, _ issuer: String) -> Refusal {
        metrics.count(.tokensRefused(issuer: issuer, reason: fault.label))
        log.onceAMinute(
            .info,
            "a user's token was refused",
            of: "\(issuer) \(fault.label)",
            with: ["issuer": .text(issuer), "reason": .text(fault.label), "detail": .text(fault.description)]
        )
        var nonce: String?
        if case .proof(let fault) = fault {
            if fault.isOfRate {
                metrics.count(.rateLimited(scope: RateScope.proofs.rawValue))
                return .caller(.rateLimited(.proofs, nil, retryAfterSeconds: proofs.retryAfterSeconds))
            }
            if fault.needsNonce { nonce = proofs.nonce }
        }
        return .caller(.tokenRefused(fault, nonce: nonce))
    }
}

extension IdentityProvider {
    /// The origin that clients know the service by.
    ///
    /// A client chooses what `Host` says, so without the setting it counts only where it names this machine, for tests.
    fileprivate func origin(of request: Request) -> String? {
        if let publicOrigin { return publicOrigin }
        guard let host = request.headers.only("Host").map({ String(decoding: $0, as: UTF8.self) }),
            ["127.0.0.1", "[::1]", "localhost"].contains(where: { host == $0 || host.hasPrefix("\($0):") })
        else { return nil }
        return "http://\(host)"
    }
}

/// A credential that may be a token of an identity provider.
struct TokenCredential {
    let token: ArraySlice<UInt8>
    /// Whether it is to come with a proof of possession: the scheme `DPoP` (RFC 9449 section 7.1).
    let isProven: Bool
}

extension HeaderFields {
    /// The credential in the only field `Authorization`, unless it has the shape of an API key.
    var tokenCredential: TokenCredential? {
        if let credential = bearerCredential {
            return APIKey(credential) == nil ? TokenCredential(token: credential, isProven: false) : nil
        }
        guard let value = only("Authorization"), value.startsIgnoringCase(with: "dpop ") else { return nil }
        return TokenCredential(token: value.dropFirst(5), isProven: true)
    }
}
