// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import Stores

/// Problems with what a request holds.
extension Problem {
    init(_ fault: RequestFault) {
        switch fault {
        case .malformedJSON(let error): self.init(malformedJSON: error)
        case .invalid(let mismatches, let more): self.init(invalid: mismatches, more: more)
        case .invalidParameters(let faults): self.init(invalidParameters: faults)
        case .refusedByStore(let store, let pointer, let code):
            self.init(refusedBy: store, pointer: pointer, code: code)
        case .signedDataRefused(let pointer, let fault): self.init(signedDataRefused: fault, pointer: pointer)
        case .transactionNotShown: self.init(transactionNotShown: ())
        case .signedDataOfOtherAccount(let pointer, let member):
            self.init(signedDataOfOtherAccount: pointer, member: member)
        case .tooManyTransfers(let pointer, let limit): self.init(tooManyTransfers: limit, pointer: pointer)
        case .subscriptionOfOtherCustomer(let pointer): self.init(subscriptionOfOtherCustomer: pointer)
        case .purchaseOfOtherAccount(let pointer): self.init(purchaseOfOtherAccount: pointer)
        case .noRecord(let absence): self.init(absence)
        case .unsupportedMediaType: self.init(unsupportedMediaType: ())
        case .clientCertificate(let fault): self.init(fault)
        case .invalidIdempotencyKey: self.init(invalidIdempotencyKey: ())
        case .idempotencyKeyReused: self.init(idempotencyKeyReused: ())
        case .noSuchPath: self.init(nothingHere: "The calls of this service are in /openapi.yaml.")
        case .notInLog: self.init(nothingHere: "The audit log has no such entry or tile, or not yet.")
        case .notYetCovered: self.init(notYetCovered: ())
        case .noSuchKey: self.init(nothingHere: "The key ring has no key of this id.")
        case .noSuchGrant: self.init(nothingHere: Self.noSuchGrant)
        case .noSuchAttributes: self.init(nothingHere: Self.noSuchAttributes)
        case .notConfigured: self.init(notConfigured: ())
        case .methodNotAllowed(let allowed): self.init(methodNotAllowed: allowed)
        case .rejected(let rejection): self.init(rejection)
        }
    }

    private init(malformedJSON error: JSONError) {
        self.init("malformed-json", title: "The body is not acceptable JSON", status: 400, detail: error.description)
        mismatches = [Mismatch(pointer: error.pointer, offset: error.offset, message: error.description)]
    }

    private init(invalid mismatches: [Mismatch], more: Int) {
        self.init(
            "invalid-request",
            title: "A member is not as expected",
            status: 400,
            detail: Self.summary(of: mismatches, more: more)
        )
        self.mismatches = mismatches
    }

    private static func summary(of mismatches: [Mismatch], more: Int) -> String {
        guard let first = mismatches.first else { return "The body is not as expected." }
        let place = first.pointer.isEmpty ? "The body" : first.pointer
        let others = mismatches.count - 1 + more
        let listed = others < mostListed ? ", see errors" : "; errors has the first \(mostListed)"
        return "\(place) \(first.message)\(others > 0 ? " (and \(others) more\(listed))" : "")"
    }

    private init(invalidParameters faults: [ParameterFault]) {
        let first = faults.first.map { "\($0.name) \($0.message)" } ?? "The query is not as expected."
        let more = faults.count > 1 ? " (and \(faults.count - 1) more, see errors)" : ""
        self.init(
            "invalid-parameter",
            title: "A parameter of the query is not as expected",
            status: 400,
            detail: first + more
        )
        parameters = faults
    }

    private init(refusedBy store: Store, pointer: String, code: Int64) {
        let reason = "is refused by \(store.title) (code \(code)\(store.meaning(of: code)))"
        self.init(
            "refused-by-store",
            title: "The store refuses what the request names",
            status: 400,
            detail: "\(pointer) \(reason). Waiting does not help: send another value."
        )
        mismatches = [Mismatch(pointer: pointer, offset: 0, message: reason)]
    }

    private init(signedDataRefused fault: SignedDataFault, pointer: String) {
        self.init(
            "invalid-signed-data",
            title: "Signed data is not acceptable",
            status: 400,
            detail: "\(pointer): \(fault.description)"
        )
        mismatches = [Mismatch(pointer: pointer, offset: 0, message: "\(fault.label): \(fault.description)")]
    }

    private init(transactionNotShown: Void) {
        self.init(
            "transaction-not-shown",
            title: "Signed data shows no such transaction",
            status: 403,
            detail:
                "An app may name a transaction only if signed data in the same request contains it, because ids are not secret."
        )
        mismatches = [Mismatch(pointer: "/transactionId", offset: 0, message: "is in none of the signed data")]
    }

    private init(signedDataOfOtherAccount pointer: String, member: String) {
        self.init(
            "signed-data-of-other-account",
            title: "Signed data belongs to another account",
            status: 403,
            detail: "The transaction was bought with a different \(member) than the request names."
        )
        mismatches = [Mismatch(pointer: pointer, offset: 0, message: "names another \(member)")]
    }

    private init(tooManyTransfers limit: Int, pointer: String) {
        self.init(
            "too-many-transfers",
            title: "The customer was transferred too often",
            status: 409,
            detail: "This customer is linked to \(limit) others already, so nothing was transferred."
        )
        mismatches = [Mismatch(pointer: pointer, offset: 0, message: "has \(limit) links already")]
    }

    private init(_ absence: NoRecord) {
        guard absence.madeBy == nil else {
            self.init(
                "unrecorded-signature",
                title: "A key of this service made the signature, and it is not on record",
                status: 404,
                detail: absence.description
            )
            return
        }
        self.init("no-record", title: "The signature is not on record", status: 404, detail: absence.description)
        mismatches = (absence.near?.differences ?? []).map { name in
            Mismatch(pointer: "/\(name)", offset: 0, message: "is on record otherwise")
        }
    }

    private init(unsupportedMediaType: Void) {
        self.init(
            "unsupported-media-type",
            title: "The body must be JSON",
            status: 415,
            detail: "Content-Type must be application/json, and UTF-8 if it names a charset."
        )
    }

    private init(_ fault: ClientCertificateFault) {
        self.init(
            "client-certificate-refused",
            title: "The header with a client certificate is not accepted",
            status: 400,
            detail: fault.description
        )
    }

    private init(invalidIdempotencyKey: Void) {
        self.init(
            "invalid-idempotency-key",
            title: "The Idempotency-Key header is not acceptable",
            status: 400,
            detail:
                "Expected one header of 1 to 255 visible ASCII characters without spaces and double quotes; one pair of "
                + "quotes may be around it."
        )
    }

    private init(idempotencyKeyReused: Void) {
        self.init(
            "idempotency-key-reused",
            title: "The idempotency key belongs to another request",
            status: 422,
            detail:
                "This key was used within the last \(IdempotencyClaim.lifetimeHours) hours with another body, or for an "
                + "offer that has become another one in the catalog since; use a fresh key for each new request."
        )
    }

    private init(notYetCovered: Void) {
        self.init(
            "not-yet-covered",
            title: "No checkpoint covers the entry yet",
            status: 409,
            detail:
                "The entry is on record; the next checkpoint, which is signed within a second, will cover it. Try again."
        )
        headers = [("Retry-After", "1")]
    }

    private init(notConfigured: Void) {
        self.init(
            "not-configured",
            title: "This call is not set up",
            status: 404,
            detail: "The service was started without the settings that this call needs."
        )
    }

    private init(methodNotAllowed allowed: [HTTP.Method]) {
        let list = allowed.map(\.name).joined(separator: ", ")
        self.init(
            "method-not-allowed",
            title: "The method is not allowed here",
            status: 405,
            detail: "Allowed here: \(list)."
        )
        headers = [("Allow", list)]
    }

    private static let noSuchAttributes = "No attributes of this customer are stored, or they have expired."
    private static let noSuchGrant =
        "No grant of this ID is on record for this caller's apps. Send the grantId of an answer."

    private init(nothingHere detail: String) {
        self.init("not-found", title: "There is nothing here", status: 404, detail: detail)
    }

    private init(_ rejection: Rejection) {
        let (name, title, isTemporary) =
            switch rejection {
            case .bodyTooLarge, .headTooLarge, .tooManyFields: ("too-large", "The request is too large", false)
            case .headTimeout, .bodyTimeout: ("timeout", "The request did not arrive in time", false)
            case .tooManyConnections, .tooManyConnectionsFromAddress:
                ("too-many-connections", "Too many connections", true)
            case .tooManyBodyBytes: ("overloaded", "Too many requests are waiting", true)
            case .malformed, .lengthRequired, .expectationFailed, .methodNotImplemented, .versionNotSupported:
                ("malformed-http", "The request is not valid HTTP/1.1", false)
            }
        self.init(name, title: title, status: rejection.status, detail: rejection.explanation)
        if isTemporary { headers = [("Retry-After", "1")] }
    }
}

extension Store {
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
