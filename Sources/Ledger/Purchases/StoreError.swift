// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// Why a store did not tell us something; these are all the ways.
///
/// None of them means that a customer is not eligible.
package enum StoreError: Error, Hashable, Sendable {
    /// The store does not answer, or answers with its own failure, or was not asked because it has not answered of late.
    case unavailable(retryAfter: Timestamp?)
    /// The store has had enough of our requests for now.
    case rateLimited(retryAfter: Timestamp?)
    /// We have spent what we allow ourselves, or this caller of ours its share of that.
    case budgetSpent(retryAfter: Timestamp)
    /// The store knows nothing by that id; `code` is the store's own.
    case notFound(code: Int64)
    /// The store does not accept our key: it, its issuer or the app's bundle id is wrong, or the clock.
    case credentialsRefused
    /// The store knows whose key it is, and does not let that account ask; `reason` is a word of the store's own.
    case notPermitted(reason: String)
    /// The store does not know the app, which is for the operator to put right.
    case appUnknown(code: Int64)
    /// The store refuses the request itself; `code` is 0 if the answer had none.
    case requestRefused(status: Int, code: Int64)
    /// The answer is not what the store's documentation says; the reason holds nothing of a customer.
    case badAnswer(reason: String)
    /// No key signs for the app, or the use of the key could not be recorded.
    case cannotSign(reason: String)
    /// Whoever asked wants to know no longer.
    case cancelled

    /// Why nothing can be asked about an app, with what to do.
    package static func noKey(for bundleID: BundleID) -> String {
        "no key is active for \(bundleID) and the purpose app-store-server-api; add that to the purposes of its key in the "
            + "keys file"
    }

    /// A short name for metrics and logs, from a closed list.
    package var label: String {
        switch self {
        case .unavailable: "unavailable"
        case .rateLimited: "rate-limited"
        case .budgetSpent: "budget-spent"
        case .notFound: "not-found"
        case .credentialsRefused: "credentials-refused"
        case .notPermitted: "not-permitted"
        case .appUnknown: "app-unknown"
        case .requestRefused: "request-refused"
        case .badAnswer: "bad-answer"
        case .cannotSign: "cannot-sign"
        case .cancelled: "cancelled"
        }
    }

    /// From when on asking again makes sense, where that is known.
    package var retryAfter: Timestamp? {
        switch self {
        case .unavailable(let time), .rateLimited(let time): time
        case .budgetSpent(let time): time
        default: nil
        }
    }
}

extension StoreError {
    /// Whether the store refuses this service, its key or its app, until an operator changes something.
    package var isOfSetUp: Bool {
        switch self {
        case .credentialsRefused, .notPermitted, .appUnknown: true
        default: false
        }
    }

    /// The store's own code, if its answer had one.
    var storeCode: Int64? {
        switch self {
        case .notFound(let code), .appUnknown(let code): code
        case .requestRefused(_, let code): code == 0 ? nil : code
        default: nil
        }
    }

    /// The store's own code, if it refuses what the request names and always will.
    ///
    /// Apple's codes of 4000000 and above are about the request; an answer without one may be a proxy's.
    package var finalCode: Int64? {
        if case .requestRefused(_, let code) = self, (4_000_000..<5_000_000).contains(code) { code } else { nil }
    }
}

extension StoreError: CustomStringConvertible {
    /// A sentence for whoever runs the service.
    package var description: String {
        switch self {
        case .unavailable: "The store does not answer."
        case .rateLimited: "The store limits how often it is asked."
        case .budgetSpent: "So many questions to the store are not allowed in so short a time."
        case .notFound(let code): "The store knows nothing by that id (code \(code))."
        case .credentialsRefused:
            "The store refuses our credentials: check the key's id, its issuer, the app's bundle id and the clock."
        case .notPermitted(let reason):
            "The store knows our account and does not let it ask (\(reason)): check its permissions."
        case .appUnknown(let code): "The store does not know the app (code \(code))."
        case .requestRefused(let status, let code): "The store refuses the request (status \(status), code \(code))."
        case .badAnswer(let reason): "The store's answer makes no sense: \(reason)."
        case .cannotSign(let reason): "The request to the store could not be signed: \(reason)."
        case .cancelled: "The question was withdrawn."
        }
    }
}
