// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import JSON
import ServiceRuntime

/// Problems with the caller and with what it may ask for.
extension Problem {
    init(_ fault: CallerFault) {
        switch fault {
        case .unauthenticated:
            self.init(
                "unauthenticated",
                title: "No valid API key",
                status: 401,
                detail: "Send Authorization: Bearer ID.SECRET with a key that is neither expired nor revoked."
            )
            headers = [("WWW-Authenticate", "Bearer realm=\"offer-signer\"")]
        case .sessionEnded: self.init(sessionEnded: ())
        case .crossOrigin: self.init(crossOrigin: ())
        case .pushUnauthenticated:
            self.init(
                "push-unauthenticated",
                title: "No valid push token",
                status: 401,
                detail:
                    "Send a token of Google's for the audience and the service account that this service is set up with."
            )
            headers = [("WWW-Authenticate", "Bearer realm=\"offer-signer\"")]
        case .tokenRefused(let fault, let nonce): self.init(fault, nonce)
        case .identityProviderUnavailable(let seconds): self.init(identityProviderUnavailable: seconds)
        case .genuineAppRequired: self.init(genuineAppRequired: ())
        case .genuineAppRefused(let fault): self.init(fault)
        case .roleNotAllowed(let role): self.init(roleNotAllowed: role)
        case .assertionNotAllowed(let pointer, let role): self.init(assertionNotAllowed: pointer, to: role)
        case .bundleNotAllowed(let app): self.init(appNotAllowed: app)
        case .rateLimited(let scope, let limit, let seconds):
            self.init("rate-limited", title: "Too many requests", status: 429, detail: Self.detail(scope, seconds))
            headers = Self.rateFields(of: limit, in: scope, seconds: seconds)
        }
    }

    private init(identityProviderUnavailable seconds: Int) {
        self.init(
            "identity-provider-unavailable",
            title: "The token can't be verified just now",
            status: 503,
            detail: "The keys of the provider that issued the token can't be read. Send the same request again."
        )
        headers = [("Retry-After", String(seconds))]
    }

    private init(roleNotAllowed role: CallerRole) {
        self.init(
            "role-not-allowed",
            title: "The caller's role can't do this",
            status: 403,
            detail: "Callers of role \(role.rawValue) can't do this."
        )
    }

    private init(assertionNotAllowed pointer: String, to role: CallerRole) {
        self.init(
            "assertion-not-allowed",
            title: "The caller may not state this",
            status: 403,
            detail:
                "What a caller of role \(role.rawValue) states about a customer is not trusted; leave \(pointer) out."
        )
        mismatches = [Mismatch(pointer: pointer, offset: 0, message: "may not be stated by \(role.rawValue)")]
    }

    private init(appNotAllowed app: NamedApp) {
        self.init(
            "bundle-not-allowed",
            title: "The caller may not ask for this app",
            status: 403,
            detail: "This caller's key is not for \(app.text)."
        )
        mismatches = [Mismatch(pointer: app.pointer, offset: 0, message: "is outside this caller's scope")]
    }

    /// Leaves the reason out, because it would help to forge tokens; the log has it.
    ///
    /// Source: RFC 6750 section 3.1.
    private init(_ fault: TokenFault, _ nonce: String?) {
        guard fault != .scopeMissing else {
            self.init(
                "insufficient-scope",
                title: "The token does not have the scope",
                status: 403,
                detail: "Have your identity provider issue the token with the scope that this service is set up with."
            )
            headers = [("WWW-Authenticate", #"Bearer realm="offer-signer", error="insufficient_scope""#)]
            return
        }
        self.init(
            "invalid-token",
            title: "No valid token",
            status: 401,
            detail: Self.remedy(fault)
        )
        headers = [("WWW-Authenticate", Self.challenge(fault))]
        if let nonce { headers.append(("DPoP-Nonce", nonce)) }
    }

    /// What to send instead; it says no more than ``challenge(_:)``.
    private static func remedy(_ fault: TokenFault) -> String {
        switch fault {
        case .proof(let fault) where fault.needsNonce:
            "Put the value of DPoP-Nonce into a new DPoP proof as nonce, and send the request again."
        case .proof: "Send the token as Authorization: DPoP TOKEN, with one new DPoP proof for this very request."
        case .proofMissing, .boundToKey:
            "The token needs a proof: send it as Authorization: DPoP TOKEN, with one DPoP header."
        default: "Get a new token from your identity provider, and send it as Authorization: Bearer TOKEN."
        }
    }

    /// Source: RFC 6750 section 3, RFC 9449 sections 7.1 and 9.
    private static func challenge(_ fault: TokenFault) -> String {
        switch fault {
        case .proof(let fault) where fault.needsNonce: #"DPoP error="use_dpop_nonce", algs="ES256""#
        case .proof: #"DPoP error="invalid_dpop_proof", algs="ES256""#
        case .proofMissing, .boundToKey: #"DPoP error="invalid_token", algs="ES256""#
        default: #"Bearer realm="offer-signer", error="invalid_token""#
        }
    }

    private static func detail(_ scope: RateScope, _ seconds: Int64) -> String {
        let whose =
            switch scope {
            case .caller: "This caller has"
            case .address: "This caller has, from this network address,"
            case .subject: "About this customer, this caller has"
            case .proofs: "With DPoP proofs, this user has"
            case .atOnce: "Of this caller's requests, too many are under way at once: it has"
            }
        return "\(whose) asked for more than it may. Ask again in \(seconds) s."
    }

    /// Source: draft-ietf-httpapi-ratelimit-headers, sections 3 and 4.
    private static func rateFields(
        of limit: RateLimit?,
        in scope: RateScope,
        seconds: Int64
    ) -> [(name: String, value: String)] {
        var fields = [(name: "Retry-After", value: String(seconds))]
        guard let limit else { return fields }
        let name = scope.rawValue
        fields.append(("RateLimit-Policy", #""\#(name)";q=\#(limit.burst);w=\#(limit.windowSeconds)"#))
        fields.append(("RateLimit", #""\#(name)";r=0;t=\#(seconds)"#))
        return fields
    }
}
