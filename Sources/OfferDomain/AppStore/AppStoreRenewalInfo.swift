// SPDX-License-Identifier: Apache-2.0

/// What the App Store signed about a subscription's next renewal.
///
/// It names no app. The service uses it only together with a verified transaction of the same chain.
///
/// Source: Apple, [JWSRenewalInfoDecodedPayload](https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload).
package struct AppStoreRenewalInfo: Hashable, Sendable {
    /// Names the chain that renews.
    package let originalTransactionID: TransactionID
    /// The product that the customer has, at most 255 bytes.
    package var productID: String
    /// The environment of the transaction beside it; the service refuses the info if they differ.
    package var environment: StoreEnvironment
    /// When Apple signed this (`signedDate`).
    package let signedAt: Timestamp
    /// The product of the next renewal.
    package var autoRenewProductID: String?
    /// Nil also if Apple's value is neither 0 nor 1.
    package var autoRenews: Bool?
    /// Whether the store tries to collect for a renewal that it could not charge (`isInBillingRetryPeriod`).
    package var isInBillingRetry: Bool?
    /// When the billing grace period ends, during which the customer keeps the service (`gracePeriodExpiresDate`).
    package var gracePeriodExpiresAt: Timestamp?
    /// Present once the subscription has ended, also while the store still tries to collect.
    package var expirationIntent: Reported<ExpirationIntent>?
    /// The offer that applies to the next renewal, not to the running period.
    package var offerType: Reported<OfferType>?
    /// The store's id of that offer (`offerIdentifier`); absent from introductory offers.
    package var offerID: String?
    /// False while the customer's consent to a higher price is outstanding.
    package var priceIncreaseSettled: Bool?
    /// When the most recent purchase of the chain ends, or ended.
    package var renewsAt: Timestamp?
    /// Since when the customer has subscribed without a gap of 60 days.
    package var recentSubscriptionStartAt: Timestamp?
    /// The best first.
    package var eligibleWinBackOfferIDs: [String]?
    /// The UUID that the app attached to the purchase; nil if it attached none.
    package var appAccountToken: UniqueID?
    /// One for each Apple account and app; nil if Apple's value is no such id.
    package var appTransactionID: TransactionID?

    /// What each renewal info has; the caller sets the rest.
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
