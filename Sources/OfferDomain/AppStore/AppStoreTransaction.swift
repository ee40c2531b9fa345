// SPDX-License-Identifier: Apache-2.0

/// A transaction as the App Store signed it, its signature verified and its app checked.
///
/// It holds who bought (`appAccountToken`) and the ids of the purchase, so it is not kept: a ``TransactionRecord`` is.
///
/// Source: Apple, [JWSTransactionDecodedPayload](https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload).
package struct AppStoreTransaction: Hashable, Sendable {
    package let transactionID: TransactionID
    /// The first purchase of the subscription, which names the whole chain of renewals.
    package let originalTransactionID: TransactionID
    package let bundleID: BundleID
    /// The store's own text, at most 255 bytes.
    package var productID: String
    package var environment: StoreEnvironment
    /// When Apple signed this, which is the instant for which all of it was true.
    package let signedAt: Timestamp
    package let purchasedAt: Timestamp
    package var productType: Reported<AppStoreProductType>?
    package var subscriptionGroup: SubscriptionGroupID?
    package var originallyPurchasedAt: Timestamp?
    package var expiresAt: Timestamp?
    package var revokedAt: Timestamp?
    package var revocationType: Reported<RevocationType>?
    /// The customer upgraded out of this subscription, which says nothing more of their status.
    package var isUpgraded: Bool = false
    package var ownership: Reported<Ownership>?
    package var offerType: Reported<OfferType>?
    /// The store's id of the offer, at most 255 bytes; absent from introductory offers.
    package var offerID: String?
    package var offerDiscountType: Reported<OfferDiscountType>?
    package var storefront: Storefront?
    package var reason: Reported<TransactionReason>?
    package var appAccountToken: UniqueID?
    /// One for each Apple account and app, also of who has bought nothing.
    package var appTransactionID: TransactionID?
    package var billingPlan: Reported<BillingPlan>?
    /// When the commitment of a monthly plan ends.
    package var commitmentEndsAt: Timestamp?
    /// Which period of the commitment this is, counted from 1.
    package var commitmentPeriod: Int?
    /// The chain that the customer left to move into a bundle, or out of one.
    package var previousOriginalTransactionID: TransactionID?
    /// The chain of the bundle that this subscription is part of.
    package var bundleOriginalTransactionID: TransactionID?

    package init(
        transactionID: TransactionID,
        originalTransactionID: TransactionID,
        bundleID: BundleID,
        productID: String,
        environment: StoreEnvironment,
        signedAt: Timestamp,
        purchasedAt: Timestamp
    ) {
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.bundleID = bundleID
        self.productID = productID
        self.environment = environment
        self.signedAt = signedAt
        self.purchasedAt = purchasedAt
    }
}

extension AppStoreTransaction {
    /// Other chains of the same customer that this transaction names.
    ///
    /// The members of a family may share a bundle, so the bundle tells nothing of a subscription by Family Sharing.
    package var linkedOriginalTransactionIDs: [TransactionID] {
        guard previousOriginalTransactionID != nil || bundleOriginalTransactionID != nil else { return [] }
        let bundle = ownership?.known == .familyShared ? nil : bundleOriginalTransactionID
        return [previousOriginalTransactionID, bundle].compactMap(\.self).filter { $0 != originalTransactionID }
    }
}
