// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// Why the service got no usable answer from a store; the list is complete.
///
/// None of them means that a customer is not eligible.
package enum StoreError: Error, Hashable, Sendable {
    /// The store does not answer, or answers with its own failure, or was not asked because it recently did not answer.
    case unavailable(retryAfter: Timestamp?)
    /// The store limits the rate of the service's requests.
    case rateLimited(retryAfter: Timestamp?)
    /// The service has used up its own request budget, or this caller has used up its share.
    case budgetSpent(retryAfter: Timestamp)
    /// The store knows nothing by that id; `code` is the store's own.
    case notFound(code: Int64)
    /// The store does not accept the key: the key, its issuer, the app's bundle ID or the clock is wrong.
    case credentialsRefused
    /// The store knows the key's account, and does not let it ask; `reason` is a word from the store.
    case notPermitted(reason: String)
    /// The store does not know the app; the operator must fix that.
    case appUnknown(code: Int64)
    /// The store refuses the request itself; `code` is 0 if the answer had none.
    case requestRefused(status: Int, code: Int64)
    /// The answer does not match the store's documentation; the reason has no customer data.
    case badAnswer(reason: String)
    /// No key signs for the app, or the use of the key could not be recorded.
    case cannotSign(reason: String)
    /// The requester no longer needs the answer.
    case cancelled

    /// Why the store can't be asked about an app, and what to do.
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
    /// A sentence for the operator.
    package var description: String {
        switch self {
        case .unavailable: "The store does not answer."
        case .rateLimited: "The store limits how often it is asked."
        case .budgetSpent: "The service's own budget of requests to the store is used up; wait, then ask again."
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
