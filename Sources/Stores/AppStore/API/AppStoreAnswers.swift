// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// An answer of the App Store, with where and when it was given.
package struct Answered<Answer: Hashable & Sendable>: Hashable, Sendable {
    /// What was answered, as far as it could be read; what is signed in it is not verified yet.
    package let answer: Answer
    /// The environment of the server that answered.
    package let environment: StoreEnvironment
    /// When the answer came, by this machine's clock.
    package let answeredAt: Timestamp

    package init(_ answer: Answer, environment: StoreEnvironment, answeredAt: Timestamp) {
        self.answer = answer
        self.environment = environment
        self.answeredAt = answeredAt
    }
}

/// A JWS as the App Store sent it, neither verified nor decoded: ASCII in the compact form.
package struct UnverifiedJWS: Hashable, Sendable {
    /// The bytes of the JSON string; never empty where an answer was read.
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// All of a customer's subscriptions with their statuses.
///
/// Source: Apple, [StatusResponse](https://developer.apple.com/documentation/appstoreserverapi/statusresponse).
package struct SubscriptionStatuses: Hashable, Sendable {
    /// The latest transaction of one subscription.
    package struct Item: Hashable, Sendable {
        /// `originalTransactionId`: names the subscription over all its renewals.
        package let originalTransactionID: TransactionID
        /// As Apple has it: 1 active, 2 expired, 3 in billing retry, 4 in grace period, 5 revoked; others may come.
        package let status: Int64
        /// `signedTransactionInfo`: the latest transaction of the subscription.
        package let signedTransaction: UnverifiedJWS
        /// `signedRenewalInfo`: `nil` where Apple sends none, or an empty text.
        package let signedRenewalInfo: UnverifiedJWS?

        package init(
            originalTransactionID: TransactionID,
            status: Int64,
            signedTransaction: UnverifiedJWS,
            signedRenewalInfo: UnverifiedJWS?
        ) {
            self.originalTransactionID = originalTransactionID
            self.status = status
            self.signedTransaction = signedTransaction
            self.signedRenewalInfo = signedRenewalInfo
        }
    }

    /// The subscriptions of one subscription group.
    package struct Group: Hashable, Sendable {
        /// `subscriptionGroupIdentifier`.
        package let id: SubscriptionGroupID
        /// One for each subscription that the customer has, or had, in the group.
        package let lastTransactions: [Item]

        package init(id: SubscriptionGroupID, lastTransactions: [Item]) {
            self.id = id
            self.lastTransactions = lastTransactions
        }
    }

    /// `appAppleId`: the app's number in the App Store; `nil` where Apple leaves it out.
    package let appAppleID: Int64?
    /// One for each subscription group in which the customer has, or had, a subscription.
    package let groups: [Group]
    /// JSON pointers of the entries that could not be read; they are left out.
    package let unreadable: [String]

    package init(appAppleID: Int64?, groups: [Group], unreadable: [String] = []) {
        self.appAppleID = appAppleID
        self.groups = groups
        self.unreadable = unreadable
    }
}

/// A customer's transactions in one app.
///
/// Source: Apple, [HistoryResponse](https://developer.apple.com/documentation/appstoreserverapi/historyresponse).
package struct TransactionHistory: Hashable, Sendable {
    /// `appAppleId`: the app's number in the App Store; `nil` where Apple leaves it out.
    package let appAppleID: Int64?
    /// In the order of the pages; a transaction that changed meanwhile may come twice.
    package let signedTransactions: [UnverifiedJWS]
    /// Where to go on, or to look for changes later.
    package let revision: String?
    /// Whether these are all: false if there are more than the limit of pages.
    package let isComplete: Bool
    /// JSON pointers of the entries that could not be read; they are left out.
    package let unreadable: [String]

    package init(
        appAppleID: Int64?,
        signedTransactions: [UnverifiedJWS],
        revision: String?,
        isComplete: Bool,
        unreadable: [String] = []
    ) {
        self.appAppleID = appAppleID
        self.signedTransactions = signedTransactions
        self.revision = revision
        self.isComplete = isComplete
        self.unreadable = unreadable
    }
}

/// Notifications that the App Store sent, oldest attempts first.
///
/// Source: Apple, [NotificationHistoryResponse](https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryresponse).
package struct NotificationHistory: Hashable, Sendable {
    /// One notification, and how the App Store fared when it sent it.
    package struct Item: Hashable, Sendable {
        /// The notification: the `signedPayload` that the App Store posted.
        package let signedPayload: UnverifiedJWS
        /// The attempts to deliver it, in Apple's order; empty if Apple lists none.
        package let attempts: [DeliveryAttempt]

        package init(signedPayload: UnverifiedJWS, attempts: [DeliveryAttempt]) {
            self.signedPayload = signedPayload
            self.attempts = attempts
        }
    }

    /// In Apple's order, without those that could not be read.
    package let items: [Item]
    /// Where to go on; `nil` at the end.
    package let nextPage: String?
    /// JSON pointers of the entries that could not be read; they are left out.
    package let unreadable: [String]

    /// Whether the last page has been read.
    package var isComplete: Bool { nextPage == nil }

    package init(items: [Item], nextPage: String?, unreadable: [String] = []) {
        self.items = items
        self.nextPage = nextPage
        self.unreadable = unreadable
    }
}

/// How the App Store fared when it sent a notification.
package struct DeliveryAttempt: Hashable, Sendable {
    /// `attemptDate`; `nil` if Apple leaves it out, or sends no time.
    package let attemptedAt: Timestamp?
    /// As Apple names it: `SUCCESS`, `TIMED_OUT`, and others; new ones may come.
    package let result: String

    package init(attemptedAt: Timestamp?, result: String) {
        self.attemptedAt = attemptedAt
        self.result = result
    }
}

/// Whether a test notification arrived.
package struct TestNotificationStatus: Hashable, Sendable {
    /// The test notification, as the App Store posted it.
    package let signedPayload: UnverifiedJWS
    /// The attempts to deliver it, in Apple's order; empty if Apple lists none.
    package let attempts: [DeliveryAttempt]
}
