// SPDX-License-Identifier: Apache-2.0

/// What the App Store signed of a subscription's next renewal.
///
/// It names no app. It is told here only together with a verified transaction of the same chain.
///
/// Source: Apple, [JWSRenewalInfoDecodedPayload](https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload).
package struct AppStoreRenewalInfo: Hashable, Sendable {
    package let originalTransactionID: TransactionID
    /// The product that the customer has, at most 255 bytes.
    package var productID: String
    package var environment: StoreEnvironment
    package let signedAt: Timestamp
    /// The product of the next renewal.
    package var autoRenewProductID: String?
    /// Nil also if Apple's value is neither 0 nor 1.
    package var autoRenews: Bool?
    package var isInBillingRetry: Bool?
    package var gracePeriodExpiresAt: Timestamp?
    /// Present once the subscription has ended, also while the store still tries to collect.
    package var expirationIntent: Reported<ExpirationIntent>?
    /// The offer that applies to the next renewal, not to the running period.
    package var offerType: Reported<OfferType>?
    package var offerID: String?
    /// False while the customer's consent to a higher price is outstanding.
    package var priceIncreaseSettled: Bool?
    /// When the most recent purchase of the chain ends, or ended.
    package var renewsAt: Timestamp?
    /// Since when the customer has subscribed without a gap of 60 days.
    package var recentSubscriptionStartAt: Timestamp?
    /// The best first.
    package var eligibleWinBackOfferIDs: [String]?
    package var appAccountToken: UniqueID?
    package var appTransactionID: TransactionID?

    package init(
        originalTransactionID: TransactionID,
        productID: String,
        environment: StoreEnvironment,
        signedAt: Timestamp
    ) {
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        self.environment = environment
        self.signedAt = signedAt
    }
}
