// SPDX-License-Identifier: Apache-2.0

extension FakeAppStore {
    /// A customer of an app in one environment.
    package struct Customer: Encodable, Sendable {
        /// Names the customer, to give another state later; the ids of the subscriptions stay, by their order.
        package var name: String?
        package var environment: Environment
        /// Of an app that was named by ``FakeAppStore/setApp(bundleID:appAppleID:)``; otherwise com.example.app.
        package var bundleID: String?
        package var appAccountToken: String?
        /// Three letters.
        package var storefront: String
        package var subscriptions: [Subscription]
        /// Transactions outside subscriptions, by what differs from a consumable that was bought yesterday.
        package var purchases: [Members]
        /// What differs in the app transaction; `.null`: there is none.
        package var appTransaction: Value

        package init(
            _ name: String? = nil,
            environment: Environment = .production,
            bundleID: String? = nil,
            appAccountToken: String? = nil,
            storefront: String = "USA",
            subscriptions: [Subscription] = [],
            purchases: [Members] = [],
            appTransaction: Value = [:]
        ) {
            self.name = name
            self.environment = environment
            self.bundleID = bundleID
            self.appAccountToken = appAccountToken
            self.storefront = storefront
            self.subscriptions = subscriptions
            self.purchases = purchases
            self.appTransaction = appTransaction
        }

        enum CodingKeys: String, CodingKey {
            case name = "customer"
            case bundleID = "bundleId"
            case environment, appAccountToken, storefront, subscriptions, purchases, appTransaction
        }
    }

    /// One chain of transactions, by its state; the latest period is the last transaction.
    package struct Subscription: Encodable, Sendable {
        package enum State: String, Codable, CaseIterable, Sendable {
            case active, notRenewing, expired, billingRetry, gracePeriod, revoked, refunded, familyShared, upgraded
        }

        package var state: State
        package var productID: String
        package var group: String
        package var originalTransactionID: String?
        /// How many periods, and so transactions, of how many days.
        package var periods: Int
        package var periodDays: Double
        /// When the latest period ends, from now; otherwise as suits the state.
        package var endsInDays: Double?
        /// When the first period began, instead of ``endsInDays``.
        ///
        /// Days count from when the customer was made. So with this, more periods add renewals to those there were.
        package var startedDaysAgo: Double?
        /// How long the customer was away before the latest period.
        package var returnedAfterDays: Double
        /// When it was revoked or refunded, if the state says so.
        package var revokedDaysAgo: Double
        /// Otherwise as suits the state.
        package var autoRenews: Bool?
        /// Apple's number; otherwise as suits the state.
        package var status: Int?
        package var offers: [Offer]
        /// What differs in the latest transaction, in all of them, and in the renewal info.
        package var latestTransaction, allTransactions, renewalInfo: Members

        package init(
            _ state: State,
            productID: String = "com.example.monthly",
            group: String = "20000001",
            originalTransactionID: String? = nil,
            periods: Int = 2,
            periodDays: Double = 30,
            endsInDays: Double? = nil,
            startedDaysAgo: Double? = nil,
            returnedAfterDays: Double = 0,
            revokedDaysAgo: Double = 1,
            autoRenews: Bool? = nil,
            status: Int? = nil,
            offers: [Offer] = [],
            latestTransaction: Members = [:],
            allTransactions: Members = [:],
            renewalInfo: Members = [:]
        ) {
            self.state = state
            self.productID = productID
            self.group = group
            self.originalTransactionID = originalTransactionID
            self.periods = periods
            self.periodDays = periodDays
            self.endsInDays = endsInDays
            self.startedDaysAgo = startedDaysAgo
            self.returnedAfterDays = returnedAfterDays
            self.revokedDaysAgo = revokedDaysAgo
            self.autoRenews = autoRenews
            self.status = status
            self.offers = offers
            self.latestTransaction = latestTransaction
            self.allTransactions = allTransactions
            self.renewalInfo = renewalInfo
        }

        enum CodingKeys: String, CodingKey {
            case productID = "productId"
            case group = "subscriptionGroupIdentifier"
            case originalTransactionID = "originalTransactionId"
            case state, periods, periodDays, endsInDays, startedDaysAgo, returnedAfterDays, revokedDaysAgo
            case autoRenews, status, offers
            case latestTransaction, allTransactions, renewalInfo
        }
    }

    /// An offer that a period was bought with.
    package struct Offer: Encodable, Sendable {
        /// 1 introductory, 2 promotional, 3 offer code, 4 win-back.
        package var type: Int
        package var identifier: String?
        package var discountType: String
        /// Which period, from 0, or from the end with -1; otherwise the one of the same place in the list.
        package var period: Int?

        package init(_ type: Int, _ identifier: String? = nil, discountType: String = "FREE_TRIAL", period: Int? = nil)
        {
            self.type = type
            self.identifier = identifier
            self.discountType = discountType
            self.period = period
        }

        enum CodingKeys: String, CodingKey {
            case type = "offerType"
            case identifier = "offerIdentifier"
            case discountType = "offerDiscountType"
            case period
        }
    }

    /// The ids that a customer was given.
    package struct CustomerIDs: Decodable, Hashable, Sendable {
        package let name: String
        package let appTransactionID: String
        package let subscriptions: [SubscriptionIDs]
        package let purchaseIDs: [String]

        enum CodingKeys: String, CodingKey {
            case name = "customer"
            case appTransactionID = "appTransactionId"
            case subscriptions
            case purchaseIDs = "purchaseIds"
        }
    }

    package struct SubscriptionIDs: Decodable, Hashable, Sendable {
        package let originalTransactionID: String
        /// From the first period to the latest.
        package let transactionIDs: [String]

        enum CodingKeys: String, CodingKey {
            case originalTransactionID = "originalTransactionId"
            case transactionIDs = "transactionIds"
        }
    }

    private struct App: Encodable {
        let bundleId: String
        let appAppleId: Int
    }

    private struct Key: Encodable {
        let keyId, issuerId, publicKeyPEM: String
        let bundleIds: [String]
    }

    /// Names an app and the number that Apple knows it by.
    package func setApp(bundleID: String, appAppleID: Int) throws {
        try perform("setApp", App(bundleId: bundleID, appAppleId: appAppleID))
    }

    /// Lets the tokens of a key in, which is to be a P-256 public key.
    package func registerKey(keyID: String, issuerID: String, publicKeyPEM: String, bundleIDs: [String]) throws {
        let key = Key(keyId: keyID, issuerId: issuerID, publicKeyPEM: publicKeyPEM, bundleIds: bundleIDs)
        try perform("registerKey", key)
    }

    /// Lets tokens for the App Store Connect API in that are signed with this key.
    package func registerConnectKey(keyID: String, issuerID: String, publicKeyPEM: String) throws {
        try perform(
            "registerConnectKey",
            ["keyId": keyID, "issuerId": issuerID, "publicKeyPEM": publicKeyPEM]
        )
    }

    /// What App Store Connect has, as the fake's README.md describes it.
    package func setConnect(_ apps: [ConnectApp]) throws {
        try perform("setConnect", ["apps": apps])
    }

    /// Lets no token of the key in any more.
    package func revokeKey(_ keyID: String) throws {
        try perform("revokeKey", ["keyId": keyID])
    }

    /// Makes a customer, or gives one another state.
    @discardableResult
    package func setCustomer(_ customer: Customer) throws -> CustomerIDs {
        try call("setCustomer", customer)
    }

    /// Makes a customer with one subscription.
    ///
    /// - Returns: The subscription's ids.
    package func addSubscription(
        _ subscription: Subscription,
        environment: Environment = .production
    ) throws -> SubscriptionIDs {
        let ids = try setCustomer(Customer(environment: environment, subscriptions: [subscription]))
        return ids.subscriptions[0]
    }
}
