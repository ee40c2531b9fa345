// SPDX-License-Identifier: Apache-2.0

/// The part of a transaction that the ledger may keep; facts and redemptions are computed from it.
///
/// It names no person, purchase or account in the clear. Its row adds a ``TransactionKey`` and a ``ChainKey``, and the
/// account is a pseudonym.
package struct TransactionRecord: Hashable, Sendable, Superseding {
    /// The store's own text, at most 255 bytes.
    package var productID: String
    /// What kind of product was bought.
    package var productType: Reported<AppStoreProductType>?
    /// The group of the subscription; nil for other products.
    package var subscriptionGroup: SubscriptionGroupID?
    /// When the period begins, by which transactions of a chain are ordered.
    package var purchasedAt: Timestamp
    /// When the paid period ends; nil for products that don't expire.
    package var expiresAt: Timestamp?
    /// When Apple refunded it or family sharing ended; see ``refund``.
    package var revokedAt: Timestamp?
    /// How it was revoked.
    package var revocationType: Reported<RevocationType>?
    /// In thousandths of a percent of the price.
    package var revocationPercentage: Int?
    /// Whether the customer upgraded out of this period.
    package var isUpgraded: Bool = false
    /// Whether the customer bought it or has it by Family Sharing.
    package var ownership: Reported<Ownership>?
    /// The kind of offer that it was bought with; nil without an offer.
    package var offerType: Reported<OfferType>?
    /// The store's ID of that offer, at most 255 bytes; nil for an introductory offer.
    package var offerID: String?
    /// How that offer lowers the price; it decides whether several periods are one use.
    package var offerDiscountType: Reported<OfferDiscountType>?
    /// Whether the customer bought it or the store renewed it; nil if Apple doesn't say.
    package var reason: Reported<TransactionReason>?
    /// The storefront of the purchase.
    package var storefront: Storefront?
    /// How the customer pays.
    package var billingPlan: Reported<BillingPlan>?
    /// When the commitment of a monthly plan ends.
    package var commitmentEndsAt: Timestamp?
    /// Which period of the commitment this is, counted from 1.
    package var commitmentPeriod: Int?
    /// The buyer that the purchase names; `nil` if it names none.
    package var account: AccountKey?
    /// Whether it is a test purchase.
    package var environment: StoreEnvironment
    /// When Apple signed this copy.
    package var signedAt: Timestamp
    /// The source of this copy.
    package var source: FactSource

    /// What each transaction has; the caller sets the rest.
    package init(
        productID: String,
        purchasedAt: Timestamp,
        environment: StoreEnvironment,
        signedAt: Timestamp,
        source: FactSource
    ) {
        self.productID = productID
        self.purchasedAt = purchasedAt
        self.environment = environment
        self.signedAt = signedAt
        self.source = source
    }

    /// Takes what the ledger may keep of a verified transaction.
    ///
    /// `account` is the pseudonym of its `appAccountToken`.
    package init(_ transaction: AppStoreTransaction, source: FactSource, account: AccountKey?) {
        self.init(
            productID: transaction.productID,
            purchasedAt: transaction.purchasedAt,
            environment: transaction.environment,
            signedAt: transaction.signedAt,
            source: source
        )
        productType = transaction.productType
        subscriptionGroup = transaction.subscriptionGroup
        expiresAt = transaction.expiresAt
        revokedAt = transaction.revokedAt
        revocationType = transaction.revocationType
        revocationPercentage = transaction.revocationPercentage
        isUpgraded = transaction.isUpgraded
        ownership = transaction.ownership
        offerType = transaction.offerType
        offerID = transaction.offerID
        offerDiscountType = transaction.offerDiscountType
        reason = transaction.reason
        storefront = transaction.storefront
        billingPlan = transaction.billingPlan
        commitmentEndsAt = transaction.commitmentEndsAt
        commitmentPeriod = transaction.commitmentPeriod
        self.account = account
    }

    /// If two copies have the same instant, the revoked one holds.
    var contents: [Content] {
        [
            Content(revokedAt), Content(revocationType?.storeText), Content(isUpgraded), Content(productID),
            Content(productType?.storeText), Content(subscriptionGroup?.text), Content(purchasedAt),
            Content(expiresAt), Content(ownership?.storeText), Content(offerType?.storeText), Content(offerID),
            Content(offerDiscountType?.storeText), Content(reason?.storeText), Content(storefront?.text),
            Content(environment.storeText), Content(source.rank), Content(account?.bytes),
            Content(billingPlan?.storeText), Content(commitmentEndsAt), Content(commitmentPeriod.map { "\($0)" }),
            Content(revocationPercentage.map { "\($0)" }),
        ]
    }
}

// MARK: - What it shows

extension TransactionRecord {
    /// Whether it bought an auto-renewable subscription, the kind that offers are for.
    package var isSubscription: Bool { productType?.known == .autoRenewableSubscription }

    /// Whether the customer paid for it, not a family member.
    package var isOwn: Bool { ownership?.known == .purchased }

    /// The money that the customer got back, if any; the end of Family Sharing is not a refund.
    ///
    /// It is all of the price unless the store says that it is a part.
    package var refund: Refund? {
        guard let revokedAt, ownership?.known != .familyShared, revocationType?.known != .familyRevoked else {
            return nil
        }
        guard revocationType?.known == .proratedRefund else { return Refund(at: revokedAt) }
        return Refund(at: revokedAt, millipercent: revocationPercentage)
    }
}
