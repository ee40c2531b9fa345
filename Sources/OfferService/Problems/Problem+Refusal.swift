// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime
import Stores
import TransparencyLog

extension Problem {
    /// Tells a refusal to the caller; the one place where our failures become HTTP.
    package init(_ refusal: Refusal) {
        switch refusal {
        case .request(let fault): self.init(fault)
        case .caller(let fault): self.init(fault)
        case .decision(let decision): self.init(decision)
        case .service(let fault): self.init(fault)
        }
    }

    private init(_ fault: ClientCertificateFault) {
        self.init(
            "client-certificate-refused",
            "The header with a client certificate is not accepted",
            400,
            fault.description
        )
    }

    private init(_ fault: RequestFault) {
        switch fault {
        case .malformedJSON(let error):
            self.init("malformed-json", "The body is not acceptable JSON", 400, error.description)
            mismatches = [Mismatch(pointer: error.pointer, offset: error.offset, message: error.description)]
        case .invalid(let mismatches, let more):
            self.init("invalid-request", "A member is not as expected", 400, Self.summary(of: mismatches, more: more))
            self.mismatches = mismatches
        case .invalidParameters(let faults):
            let first = faults.first.map { "\($0.name) \($0.message)" } ?? "The query is not as expected."
            let more = faults.count > 1 ? " (and \(faults.count - 1) more, see errors)" : ""
            self.init("invalid-parameter", "A parameter of the query is not as expected", 400, first + more)
            parameters = faults
        case .refusedByStore(let store, let pointer, let code):
            let reason = "is refused by \(store.title) (code \(code)\(store.meaning(of: code)))"
            self.init(
                "refused-by-store",
                "The store refuses what the request names",
                400,
                "\(pointer) \(reason). Waiting does not help: send another value."
            )
            mismatches = [Mismatch(pointer: pointer, offset: 0, message: reason)]
        case .signedDataRefused(let pointer, let fault):
            self.init("invalid-signed-data", "Signed data is not acceptable", 400, "\(pointer): \(fault.description)")
            mismatches = [Mismatch(pointer: pointer, offset: 0, message: "\(fault.label): \(fault.description)")]
        case .transactionNotShown:
            self.init(
                "transaction-not-shown",
                "Signed data shows no such transaction",
                403,
                "An app may name a transaction only if signed data in the same request contains it, because ids are not secret."
            )
            mismatches = [Mismatch(pointer: "/transactionId", offset: 0, message: "is in none of the signed data")]
        case .signedDataOfOtherAccount(let pointer, let member):
            self.init(
                "signed-data-of-other-account",
                "Signed data belongs to another account",
                403,
                "The transaction was bought with a different \(member) than the request names."
            )
            mismatches = [Mismatch(pointer: pointer, offset: 0, message: "names another \(member)")]
        case .tooManyTransfers(let pointer, let limit):
            self.init(
                "too-many-transfers",
                "The customer was transferred too often",
                409,
                "This customer is linked to \(limit) others already, so nothing was transferred."
            )
            mismatches = [Mismatch(pointer: pointer, offset: 0, message: "has \(limit) links already")]
        case .subscriptionOfOtherCustomer(let pointer): self.init(subscriptionOfOtherCustomer: pointer)
        case .purchaseOfOtherAccount(let pointer): self.init(purchaseOfOtherAccount: pointer)
        case .noRecord(let absence) where absence.madeBy != nil:
            self.init(
                "unrecorded-signature",
                "A key of this service made the signature, and it is not on record",
                404,
                absence.description
            )
        case .noRecord(let absence):
            self.init("no-record", "The signature is not on record", 404, absence.description)
            mismatches = (absence.near?.differences ?? []).map { name in
                Mismatch(pointer: "/\(name)", offset: 0, message: "is on record otherwise")
            }
        case .unsupportedMediaType:
            self.init(
                "unsupported-media-type",
                "The body must be JSON",
                415,
                "Content-Type must be application/json, and UTF-8 if it names a charset."
            )
        case .clientCertificate(let fault): self.init(fault)
        case .invalidIdempotencyKey:
            self.init(
                "invalid-idempotency-key",
                "The Idempotency-Key header is not acceptable",
                400,
                "Expected one header of 1 to 255 visible ASCII characters without spaces and double quotes; one pair of "
                    + "quotes may be around it."
            )
        case .idempotencyKeyReused:
            self.init(
                "idempotency-key-reused",
                "The idempotency key belongs to another request",
                422,
                "This key was used within the last \(IdempotencyClaim.lifetimeHours) hours with another body, or for an "
                    + "offer that has become another one in the catalog since; use a fresh key for each new request."
            )
        case .noSuchPath: self.init(nothingHere: "The calls of this service are in /openapi.yaml.")
        case .notInLog: self.init(nothingHere: "The audit log has no such entry or tile, or not yet.")
        case .notYetCovered:
            self.init(
                "not-yet-covered",
                "No checkpoint covers the entry yet",
                409,
                "The entry is on record; the next checkpoint, which is signed within a second, will cover it. Try again."
            )
            headers = [("Retry-After", "1")]
        case .noSuchKey: self.init(nothingHere: "The key ring has no key of this id.")
        case .noSuchGrant: self.init(nothingHere: Self.noSuchGrant)
        case .noSuchAttributes: self.init(nothingHere: Self.noSuchAttributes)
        case .notConfigured:
            self.init(
                "not-configured",
                "This call is not set up",
                404,
                "The service was started without the settings that this call needs."
            )
        case .methodNotAllowed(let allowed):
            let list = allowed.map(\.name).joined(separator: ", ")
            self.init("method-not-allowed", "The method is not allowed here", 405, "Allowed here: \(list).")
            headers = [("Allow", list)]
        case .rejected(let rejection): self.init(rejection)
        }
    }

    private static let noSuchAttributes = "No attributes of this customer are stored, or they have expired."
    private static let noSuchGrant =
        "No grant of this ID is on record for this caller's apps. Send the grantId of an answer."

    private init(nothingHere detail: String) {
        self.init("not-found", "There is nothing here", 404, detail)
    }

    private init(_ rejection: Rejection) {
        switch rejection {
        case .bodyTooLarge, .headTooLarge, .tooManyFields:
            self.init("too-large", "The request is too large", rejection.status, rejection.explanation)
        case .headTimeout, .bodyTimeout:
            self.init("timeout", "The request did not arrive in time", rejection.status, rejection.explanation)
        case .tooManyConnections, .tooManyConnectionsFromAddress:
            self.init("too-many-connections", "Too many connections", rejection.status, rejection.explanation)
            headers = [("Retry-After", "1")]
        case .tooManyBodyBytes:
            self.init("overloaded", "Too many requests are waiting", rejection.status, rejection.explanation)
            headers = [("Retry-After", "1")]
        case .malformed, .lengthRequired, .expectationFailed, .methodNotImplemented, .versionNotSupported:
            self.init(
                "malformed-http",
                "The request is not valid HTTP/1.1",
                rejection.status,
                rejection.explanation
            )
        }
    }

    private static func summary(of mismatches: [Mismatch], more: Int) -> String {
        guard let first = mismatches.first else { return "The body is not as expected." }
        let place = first.pointer.isEmpty ? "The body" : first.pointer
        let others = mismatches.count - 1 + more
        let listed = others < mostListed ? ", see errors" : "; errors has the first \(mostListed)"
        return "\(place) \(first.message)\(others > 0 ? " (and \(others) more\(listed))" : "")"
    }

    private init(_ fault: CallerFault) {
        switch fault {
        case .unauthenticated:
            self.init(
                "unauthenticated",
                "No valid API key",
                401,
                "Send Authorization: Bearer ID.SECRET with a key that is neither expired nor revoked."
            )
            headers = [("WWW-Authenticate", "Bearer realm=\"offer-signer\"")]
        case .sessionEnded: self.init(sessionEnded: ())
        case .crossOrigin: self.init(crossOrigin: ())
        case .pushUnauthenticated:
            self.init(
                "push-unauthenticated",
                "No valid push token",
                401,
                "Send a token of Google's for the audience and the service account that this service is set up with."
            )
            headers = [("WWW-Authenticate", "Bearer realm=\"offer-signer\"")]
        case .tokenRefused(let fault, let nonce): self.init(fault, nonce)
        case .identityProviderUnavailable(let seconds):
            self.init(
                "identity-provider-unavailable",
                "The token can't be verified just now",
                503,
                "The keys of the provider that issued the token can't be read. Send the same request again."
            )
            headers = [("Retry-After", String(seconds))]
        case .genuineAppRequired: self.init(genuineAppRequired: ())
        case .genuineAppRefused(let fault): self.init(fault)
        case .roleNotAllowed(let role):
            self.init(
                "role-not-allowed",
                "The caller's role can't do this",
                403,
                "Callers of role \(role.rawValue) can't do this."
            )
        case .assertionNotAllowed(let pointer, let role):
            self.init(
                "assertion-not-allowed",
                "The caller may not state this",
                403,
                "What a caller of role \(role.rawValue) states about a customer is not trusted; leave \(pointer) out."
            )
            mismatches = [Mismatch(pointer: pointer, offset: 0, message: "may not be stated by \(role.rawValue)")]
        case .bundleNotAllowed(let app):
            self.init(
                "bundle-not-allowed",
                "The caller may not ask for this app",
                403,
                "This caller's key is not for \(app.text)."
            )
            mismatches = [Mismatch(pointer: app.pointer, offset: 0, message: "is outside this caller's scope")]
        case .rateLimited(let scope, let limit, let seconds):
            self.init("rate-limited", "Too many requests", 429, Self.detail(scope, seconds))
            headers = Self.rateFields(scope, limit, seconds)
        }
    }

    /// Without the reason, which only the log has: it would help those who forge tokens.
    ///
    /// Source: RFC 6750 section 3.1.
    private init(_ fault: TokenFault, _ nonce: String?) {
        guard fault != .scopeMissing else {
            self.init(
                "insufficient-scope",
                "The token does not have the scope",
                403,
                "Have your identity provider issue the token with the scope that this service is set up with."
            )
            headers = [("WWW-Authenticate", #"Bearer realm="offer-signer", error="insufficient_scope""#)]
            return
        }
        self.init(
            "invalid-token",
            "No valid token",
            401,
            Self.remedy(fault)
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
        _ scope: RateScope,
        _ limit: RateLimit?,
        _ seconds: Int64
    ) -> [(name: String, value: String)] {
        var fields = [(name: "Retry-After", value: String(seconds))]
        guard let limit else { return fields }
        let name = scope.rawValue
        fields.append(("RateLimit-Policy", #""\#(name)";q=\#(limit.burst);w=\#(limit.windowSeconds)"#))
        fields.append(("RateLimit", #""\#(name)";r=0;t=\#(seconds)"#))
        return fields
    }

    private init(_ refusal: DecisionRefusal) {
        switch refusal {
        case .unknownOffer(let missing, let near):
            let (pointer, what) =
                switch missing {
                case .app: ("/bundleId", "app with that bundleId")
                case .package: ("/packageName", "app with that packageName")
                case .product: ("/productId", "product with that productId in this app")
                case .basePlan: ("/basePlanId", "base plan with that basePlanId for this product")
                case .offer: ("/offerId", "offer with that offerId for this product")
                case .introductoryOffer: ("/productId", "introductory offer for this product")
                }
            self.init("unknown-offer", "The catalog has no such offer", 404, "The catalog has no \(what).")
            let suggestion = near.map { "; did you mean “\($0)”?" } ?? ""
            mismatches = [Mismatch(pointer: pointer, offset: 0, message: "is not in the catalog\(suggestion)")]
        case .offerNotUsable(let fault):
            self.init(
                "offer-not-usable",
                "The offer's setup in the store is wrong",
                409,
                "\(fault.code): \(fault.description) See docs/google-play.md."
            )
            mismatches = [Mismatch(pointer: "/offerId", offset: 0, message: fault.code)]
        case .notEligible(let outcome, let decision, let showsFindings):
            if outcome == .undecided {
                self.init(
                    "eligibility-undecided",
                    "Eligibility could not be decided",
                    403,
                    decision.lacksProof ? Self.proofWanted : Self.tooLittleKnown(showsFindings)
                )
            } else {
                self.init(
                    "not-eligible",
                    "The customer is not eligible for this offer",
                    403,
                    "The rules of this offer do not admit this customer now."
                )
            }
            self.decision = (decision, showsFindings)
        }
    }

    private static func tooLittleKnown(_ showsFindings: Bool) -> String {
        "Too little is known of this customer; nothing is signed on a guess. "
            + (showsFindings
                ? "The undecided findings say what to send."
                : "Send signedTransactions, or purchaseTokens at Google Play; or let your backend ask.")
    }

    private static let proofWanted =
        "Nothing in the request shows who the customer is. Send signedTransactions, or purchaseTokens at Google Play, or a "
        + "transactionId with its appAccountToken; or let your backend ask."

    /// Names the causes, and for the operator what ends each.
    private static func sealed(_ names: String, _ causes: [SealCause]) -> String {
        let remedies = causes.map { causes.count == 1 ? $0.remedy : "\($0.rawValue): \($0.remedy)" }
        return "Nothing is signed or authorized now: \(names). For the operator: \(remedies.joined(separator: "; "))."
    }

    private init(_ fault: ServiceFault) {
        switch fault {
        case .keyUnavailable(let purpose):
            self.init(
                "key-unavailable",
                "No active key",
                503,
                "No key is active for this app and the purpose \(purpose.rawValue)."
            )
        case .storeUnavailable(let seconds):
            self.init(
                "store-unavailable",
                "The store could not be asked",
                503,
                "Whether the customer is eligible is not known, so nothing was signed. Try again."
            )
            headers = [("Retry-After", String(seconds ?? 5))]
        case .changeUnconfirmed(let seconds): self.init(changeUnconfirmed: seconds ?? 5)
        case .storeLimitReached(let seconds): self.init(storeLimitReached: seconds ?? 5)
        case .refusedByStore(let store, let app):
            self.init(
                "store-refuses-service",
                "The store refuses this service",
                500,
                "\(store.title.capitalizedFirst) refuses this service's credentials for \(app). Waiting does not help: an operator has to "
                    + "run offer-signer check --live."
            )
        case .auditUnavailable:
            self.init(
                "audit-unavailable",
                "The record could not be written",
                503,
                "Only what is on record is signed, so nothing was signed. Try again."
            )
            headers = [("Retry-After", "5")]
        case .overloaded:
            self.init("overloaded", "Too many requests are waiting", 503, "Nothing was decided. Try again.")
            headers = [("Retry-After", "1")]
        case .logUnreadable(let error):
            self.init("log-unreadable", "The audit log could not be read", 503, error.description)
        case .signingFailed:
            self.init(
                "signing-failed",
                "The signature could not be made",
                500,
                "The grant is on record, and so is this failure; no signature left the service."
            )
        case .sealed(let causes):
            let names = causes.map(\.rawValue).joined(separator: ", ")
            self.init("sealed", "The service is sealed", 503, Self.sealed(names, causes))
            if causes.allSatisfy(\.endsByItself) { headers = [("Retry-After", "5")] }
        case .switchNotRecorded:
            self.init(
                "audit-unavailable",
                "The record could not be written",
                503,
                "The change is in effect, but it is not recorded yet, and a restart might lose it. "
                    + "The service tries again each second."
            )
            headers = [("Retry-After", "5")]
        case .stillSealed(let obstacles):
            let reasons = obstacles.map { "\($0.cause.rawValue): \($0.reason); \($0.cause.remedy)." }
                .joined(separator: " ")
            self.init("still-sealed", "What sealed the service still holds", 409, "Nothing was lifted. \(reasons)")
        }
    }
}

extension String {
    /// The same at the beginning of a sentence.
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension Store {
    /// As its readers call it.
    fileprivate var title: String {
        switch self {
        case .appStore: "the App Store"
        case .googlePlay: "Google Play"
        }
    }

    /// What Apple's codes mean that a request may bring about; empty for others.
    ///
    /// Source: Apple, [error codes](https://developer.apple.com/documentation/appstoreserverapi/error-codes).
    fileprivate func meaning(of code: Int64) -> String {
        guard self == .appStore else { return "" }
        return switch code {
        case 4_000_006: ": the transaction id is invalid"
        case 4_000_008: ": the original transaction id is invalid"
        case 4_000_047: ": the transaction is of a type that is not supported"
        case 4_000_048: ": an app transaction id is not supported"
        case 4_000_183: ": the token is not a UUID"
        case 4_000_185: ": a transaction of family sharing is not supported"
        case 4_000_187: ": it is not the id of an original transaction"
        case 4_040_001, 4_040_005, 4_040_010: ": no such transaction"
        default: ""
        }
    }
}
