// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// The party, the app and the environment of a question to the App Store.
package struct AppStoreAsking: Hashable, Sendable {
    /// The app that the question is about: it is the token's `bid` and determines the key.
    package let bundleID: BundleID
    /// The party that the hourly budget is charged to.
    package let party: Party
    /// Where the transaction is known to be, as its signed data says; `nil` asks production, then the sandbox.
    package let environment: StoreEnvironment?
    /// The time limit of the whole question with pages and retries; `nil` takes the policy's.
    package let overallMilliseconds: Int64?

    package init(
        bundleID: BundleID,
        party: Party,
        environment: StoreEnvironment? = nil,
        overallMilliseconds: Int64? = nil
    ) {
        self.bundleID = bundleID
        self.party = party
        self.environment = environment
        self.overallMilliseconds = overallMilliseconds
    }
}

/// Which transactions of a history are wanted; all pages are asked with the same.
package struct TransactionHistoryFilter: Hashable, Sendable {
    /// Apple's types of products, with its names.
    package enum ProductType: String, Hashable, Sendable {
        case autoRenewable = "AUTO_RENEWABLE"
        case nonRenewable = "NON_RENEWABLE"
        case consumable = "CONSUMABLE"
        case nonConsumable = "NON_CONSUMABLE"
    }

    /// The order by the time of the last change, with Apple's names for it.
    package enum Order: String, Hashable, Sendable {
        /// The least recently modified first, which is Apple's default.
        case ascending = "ASCENDING"
        case descending = "DESCENDING"
    }

    /// `productType` in the query; empty for all types.
    package var productTypes: [ProductType] = []
    /// `productId` in the query; empty for all products.
    package var productIDs: [ProductID] = []
    /// `subscriptionGroupIdentifier` in the query; empty for all groups.
    package var subscriptionGroupIDs: [SubscriptionGroupID] = []
    /// `startDate` in the query: the start of the time in which transactions are wanted; `nil` for no limit.
    package var startsAt: Timestamp?
    /// `endDate` in the query: the end of the time in which transactions are wanted; `nil` for no limit.
    package var endsAt: Timestamp?
    /// Only refunded and revoked ones, or only others; `nil` for both.
    package var isRevoked: Bool?
    /// `sort` in the query; `nil` leaves it to Apple.
    package var order: Order?

    /// All transactions.
    package init() {}

    /// All that has to do with subscriptions.
    package static var subscriptions: TransactionHistoryFilter {
        var filter = TransactionHistoryFilter()
        filter.productTypes = [.autoRenewable]
        return filter
    }

    var query: [(name: String, value: String)] {
        var query: [(name: String, value: String)] = []
        if let startsAt { query.append(("startDate", String(startsAt.milliseconds))) }
        if let endsAt { query.append(("endDate", String(endsAt.milliseconds))) }
        for productID in productIDs { query.append(("productId", productID.text)) }
        for type in productTypes { query.append(("productType", type.rawValue)) }
        if let order { query.append(("sort", order.rawValue)) }
        for group in subscriptionGroupIDs { query.append(("subscriptionGroupIdentifier", group.text)) }
        if let isRevoked { query.append(("revoked", isRevoked ? "true" : "false")) }
        return query
    }
}

/// Which notifications of the last 180 days are wanted.
package struct NotificationHistoryQuery: Hashable, Sendable {
    /// The start of the time in which notifications are wanted.
    package var startsAt: Timestamp
    /// The end of the time in which notifications are wanted.
    package var endsAt: Timestamp
    /// As Apple names it; not together with ``transactionID``.
    package var notificationType: String?
    /// As Apple names it; only together with ``notificationType``.
    package var subtype: String?
    /// Of that customer only.
    package var transactionID: TransactionID?
    /// Only those that never reached the server that Apple calls.
    package var onlyFailures: Bool

    package init(from startsAt: Timestamp, to endsAt: Timestamp, onlyFailures: Bool = false) {
        self.startsAt = startsAt
        self.endsAt = endsAt
        self.onlyFailures = onlyFailures
    }
}

/// Apple's name for a requested test notification: 1 to 128 of `[A-Za-z0-9_-]`.
package struct TestNotificationToken: Hashable, Sendable, CustomStringConvertible {
    /// The token as Apple gave it.
    package let text: String

    /// Takes a token that has the form above; `nil` otherwise.
    package init?(_ text: String) {
        guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.text = text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    package var description: String { text }
}
