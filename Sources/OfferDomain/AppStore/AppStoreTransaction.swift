// SPDX-License-Identifier: Apache-2.0

/// A transaction as the App Store signed it, its signature verified and its app checked.
///
/// It holds who bought (`appAccountToken`) and the ids of the purchase, so it is not kept: a ``TransactionRecord`` is.
///
/// Source: Apple, [JWSTransactionDecodedPayload](https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload).
package struct AppStoreTransaction: Hashable, Sendable {
    /// Names this purchase or renewal alone.
    package let transactionID: TransactionID
    /// The first purchase of the subscription, which names the whole chain of renewals.
    package let originalTransactionID: TransactionID
    /// The bundle ID that Apple signed; it belongs to a configured app.
    package let bundleID: BundleID
    /// The store's own text, at most 255 bytes.
    package var productID: String
    /// The environment that Apple signed; the configured app accepts it.
    package var environment: StoreEnvironment
    /// When Apple signed this; all of it was true at that instant.
    package let signedAt: Timestamp
    /// When the bought or renewed period begins (`purchaseDate`); Apple may charge up to a day earlier.
    package let purchasedAt: Timestamp
    /// What kind of product it is (`type`); offers are for auto-renewable subscriptions alone.
    package var productType: Reported<AppStoreProductType>?
    /// The group of the subscription; nil of other products, and if Apple's value is no such id.
    package var subscriptionGroup: SubscriptionGroupID?
    /// When the original transaction was bought (`originalPurchaseDate`).
    package var originallyPurchasedAt: Timestamp?
    /// When the paid period ends (`expiresDate`); nil of products that don't expire.
    package var expiresAt: Timestamp?
    /// When Apple refunded the transaction or family sharing ended (`revocationDate`).
    package var revokedAt: Timestamp?
    /// Whether it was refunded in full, refunded in part, or lost with family sharing.
    package var revocationType: Reported<RevocationType>?
    /// How much of the price was paid back, in thousandths of a percent.
    package var revocationPercentage: Int?
    /// The customer upgraded out of this subscription, which says nothing more of their status.
    package var isUpgraded: Bool = false
    /// Whether the customer bought it or has it by Family Sharing (`inAppOwnershipType`).
    package var ownership: Reported<Ownership>?
    /// The kind of offer that it was bought with; nil without an offer.
    package var offerType: Reported<OfferType>?
    /// The store's id of the offer, at most 255 bytes; absent from introductory offers.
    package var offerID: String?
    /// How that offer lowers the price.
    package var offerDiscountType: Reported<OfferDiscountType>?
    /// The storefront of the purchase; nil if Apple's value is not a storefront.
    package var storefront: Storefront?
    /// Whether the customer bought it or the store renewed it (`transactionReason`).
    package var reason: Reported<TransactionReason>?
    /// The UUID that the app attached to the purchase; nil if it attached none.
    package var appAccountToken: UniqueID?
    /// One for each Apple account and app, even if the account has bought nothing.
    package var appTransactionID: TransactionID?
    /// How the customer pays (`billingPlanType`).
    package var billingPlan: Reported<BillingPlan>?
    /// When the commitment of a monthly plan ends.
    package var commitmentEndsAt: Timestamp?
    /// Which period of the commitment this is, counted from 1.
    package var commitmentPeriod: Int?
    /// The chain that the customer left to move into a bundle, or out of one.
    package var previousOriginalTransactionID: TransactionID?
    /// The chain of the bundle that this subscription is part of.
    ///
    /// Apple documents it of StoreKit alone; the member has the name that Apple's other IDs have in signed data.
    /// Source: Apple, [bundleOriginalTransactionID](https://developer.apple.com/documentation/storekit/transaction/bundleoriginaltransactionid).
    package var bundleOriginalTransactionID: TransactionID?

    /// What each transaction has; the caller sets the rest.
    package init(
        transactionID: TransactionID,
        originalTransactionID: TransactionID,
        productID: String,
        claims: SignedDataClaims,
        purchasedAt: Timestamp
    ) {
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        bundleID = claims.bundleID
        environment = claims.environment
        signedAt = claims.signedAt
        self.purchasedAt = purchasedAt
    }
}

extension AppStoreTransaction {
    /// Other chains of the same customer that this transaction names.
    ///
    /// The members of a family may share a bundle, so the bundle of a subscription by Family Sharing is left out.
    package var linkedOriginalTransactionIDs: [TransactionID] {
        guard previousOriginalTransactionID != nil || bundleOriginalTransactionID != nil else { return [] }
        let bundle = ownership?.known == .familyShared ? nil : bundleOriginalTransactionID
        return [previousOriginalTransactionID, bundle].compactMap(\.self).filter { $0 != originalTransactionID }
    }
}
