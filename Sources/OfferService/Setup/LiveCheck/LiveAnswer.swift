// SPDX-License-Identifier: Apache-2.0
package import HTTP
import JSON
package import OfferDomain
import Stores

/// The App Store's answer to one harmless request, as far as it shows whether the credentials work.
package struct LiveAnswer: Hashable, Sendable {
    /// What the answer shows about the key, its issuer and the app.
    package enum Outcome: Hashable, Sendable {
        /// Key, issuer and app are known: there is an answer to the question itself. `code` is `nil` for a transaction.
        case accepted(status: Int, code: Int64?)
        /// 401, which does not say what is wrong.
        case refused
        /// The key is accepted, but the store knows no app with that bundle ID.
        case appUnknown(status: Int, code: Int64)
        case rateLimited
        /// The store fails by itself.
        case storeFailed(status: Int, code: Int64?)
        /// Not a response that the App Store gives; `reason` is short.
        case strange(status: Int, reason: String)
        case notReached(ClientError)
    }

    /// The environment that was asked.
    package let environment: StoreEnvironment
    /// The server that was asked.
    package let origin: Origin
    /// What the status and `errorCode` show.
    package let outcome: Outcome
    /// How long the answer took.
    package let milliseconds: Int64
    /// By how much our clock is ahead of the store's; `nil` if its answer has no date.
    package let skewSeconds: Int?

    package init(
        environment: StoreEnvironment,
        origin: Origin,
        outcome: Outcome,
        milliseconds: Int64 = 0,
        skewSeconds: Int? = nil
    ) {
        self.environment = environment
        self.origin = origin
        self.outcome = outcome
        self.milliseconds = milliseconds
        self.skewSeconds = skewSeconds
    }

    /// Whether key, issuer and app are proven right.
    var isAccepted: Bool {
        if case .accepted = outcome { true } else { false }
    }

    /// Whether key and issuer are proven right.
    var provesKey: Bool {
        if case .appUnknown = outcome { true } else { isAccepted }
    }
}

extension LiveAnswer.Outcome {
    /// Reads an answer to a question about a transaction that does not exist.
    init(_ response: ClientResponse) {
        let members = (try? JSONDocument(response.body))?.root.object
        let code = members?["errorCode"]?.integer
        switch response.status {
        case 200 where members?["signedTransactionInfo"]?.string != nil: self = .accepted(status: 200, code: nil)
        case 401: self = .refused
        case 429: self = .rateLimited
        case 400..<500:
            guard let code else {
                self = .strange(status: response.status, reason: "no errorCode in the body")
                return
            }
            self =
                AppStoreReading.appUnknown.contains(code)
                ? .appUnknown(status: response.status, code: code)
                : .accepted(status: response.status, code: code)
        case 500...: self = .storeFailed(status: response.status, code: code)
        default: self = .strange(status: response.status, reason: "no answer of the App Store Server API")
        }
    }
}
