// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Cryptography
package import HTTP
package import JSON
package import Ledger
package import OfferDomain
package import ServiceRuntime
package import Stores
package import TransparencyLog

/// Why a request ended without what it asked for; these are all the ways.
package enum Refusal: Error, Sendable {
    case request(RequestFault)
    case caller(CallerFault)
    case decision(DecisionRefusal)
    case service(ServiceFault)

    /// What is done about signed data with a fault: nothing is wrong with it if what is missing is another's answer.
    static func signedData(_ fault: SignedDataFault, pointer: String) -> Refusal {
        fault.isTemporary
            ? .service(.storeUnavailable(retryAfterSeconds: nil))
            : .request(.signedDataRefused(pointer: pointer, fault))
    }

    /// What is done about a body that is not as expected.
    static func invalid(_ mismatches: Mismatches) -> Refusal {
        .request(.invalid(mismatches.all, more: mismatches.more))
    }
}

/// The service cannot read or process this request.
package enum RequestFault: Sendable {
    case malformedJSON(JSONError)
    /// The first mismatches, and how many there are besides.
    case invalid([Mismatch], more: Int = 0)
    /// Parameters of the query are unknown, repeated, or not as expected.
    case invalidParameters([ParameterFault])
    /// A store refuses what a member names, by its own code, and always will.
    case refusedByStore(Store, pointer: String, code: Int64)
    /// What claims to be signed by the App Store is not, or not for this app.
    case signedDataRefused(pointer: String, SignedDataFault)
    /// In that member, the App Store's signed data names another buyer than the request or its other signed data.
    case signedDataOfOtherAccount(pointer: String, member: String)
    /// A backend has said that the purchases of an original transaction are another customer's.
    case subscriptionOfOtherCustomer(pointer: String)
    /// A purchase at Google Play names another buyer than the request does.
    case purchaseOfOtherAccount(pointer: String)
    /// An app names a transaction, and nothing that it sends along shows that it is the customer's.
    case transactionNotShown
    /// The customer already has the maximum number of links to other customers.
    case tooManyTransfers(pointer: String, limit: Int)
    /// The log has no record of a signature.
    case noRecord(NoRecord)
    case unsupportedMediaType
    /// A header with a client certificate that can't count.
    case clientCertificate(ClientCertificateFault)
    case invalidIdempotencyKey
    case idempotencyKeyReused
    case noSuchPath
    /// The log has no such entry or tile, or not yet.
    case notInLog
    /// The entry is in the log, but no checkpoint covers it yet.
    case notYetCovered
    /// The key ring has no key of that id.
    case noSuchKey
    /// No grant of that id is on record for the caller's apps.
    case noSuchGrant
    /// Nothing is stored of the customer, or it has expired.
    case noSuchAttributes
    /// The call exists, but the settings that it needs are missing.
    case notConfigured
    case methodNotAllowed(allowed: [HTTP.Method])
    /// The HTTP server rejected the request before it was routed.
    case rejected(Rejection)
}

/// The caller is unknown, or may not ask for this.
package enum CallerFault: Sendable {
    case unauthenticated
    /// The session in the request's cookie is over, or never was.
    case sessionEnded
    /// A request with a session's cookie does not come from the console's own page.
    case crossOrigin
    /// A message with a token that does not prove that the configured Pub/Sub subscription sent it.
    case pushUnauthenticated
    /// A token of an identity provider that is refused. Callers see no reason, but get the nonce that their next
    /// proof of possession needs.
    case tokenRefused(TokenFault, nonce: String?)
    /// The keys of the token's provider are not available now, so its users cannot be authenticated.
    case identityProviderUnavailable(retryAfterSeconds: Int)
    /// The offer requires proof that the app is genuine, and the request has none.
    case genuineAppRequired
    /// What an app sent to prove itself is refused. Callers see no reason beyond what to do.
    case genuineAppRefused(GenuineAppFault)
    case roleNotAllowed(CallerRole)
    case assertionNotAllowed(pointer: String, CallerRole)
    /// The app is outside the caller's scope; the answer is the same whether or not the app exists.
    case bundleNotAllowed(NamedApp)
    /// A limit was exceeded; the rate is `nil` for the limit of simultaneous requests.
    case rateLimited(RateScope, RateLimit?, retryAfterSeconds: Int64)
}

/// An app as a request names it.
package enum NamedApp: Hashable, Sendable {
    case bundle(BundleID)
    case package(PackageName)

    var text: String {
        switch self {
        case .bundle(let id): id.text
        case .package(let name): name.text
        }
    }

    /// Where requests name it.
    var pointer: String {
        switch self {
        case .bundle: "/bundleId"
        case .package: "/packageName"
        }
    }
}

/// The catalog or the rules said no.
package enum DecisionRefusal: Sendable {
    /// `near` is the name in the catalog that was most likely meant.
    case unknownOffer(Catalog.Missing, near: String? = nil)
    /// The offer is not set up correctly at Google Play; this does not depend on the customer.
    case offerNotUsable(OfferFault)
    /// Not eligible, or undecided.
    case notEligible(Outcome, DecisionJSON, showsFindings: Bool)
}

/// The service cannot do its work at present; nothing was signed.
package enum ServiceFault: Sendable {
    case keyUnavailable(KeyPurpose)
    /// The store could not be asked, so nothing is decided.
    case storeUnavailable(retryAfterSeconds: Int?)
    /// The store was asked to change something and has not said that it did; it may have.
    case changeUnconfirmed(retryAfterSeconds: Int?)
    /// The store's limits, or our share of them, are reached, so it was not asked to change anything.
    case storeLimitReached(retryAfterSeconds: Int?)
    /// The store refuses this service's credentials or app, until an operator changes something.
    case refusedByStore(Store, AppName)
    case auditUnavailable
    case overloaded
    /// The audit log could not be read, or is damaged.
    case logUnreadable(AuditReadError)
    case signingFailed
    /// Nothing is signed, for these causes.
    case sealed([SealCause])
    /// The stop holds, but could not be recorded.
    case stopNotRecorded
    /// These causes still hold, and why; nothing was lifted.
    case stillSealed([SealObstacle])
}

extension Refusal {
    /// The refusal for a caller when the log could not be read.
    init(_ error: LogReadersError) {
        switch error {
        case .overloaded: self = .service(.overloaded)
        case .stopped: self = .service(.auditUnavailable)
        case .log(let error): self = .service(.logUnreadable(error))
        }
    }
}
