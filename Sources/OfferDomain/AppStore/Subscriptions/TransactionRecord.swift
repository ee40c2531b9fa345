// SPDX-License-Identifier: Apache-2.0

/// The part of a transaction that facts and redemptions are drawn from, and that the ledger may keep.
///
/// It names no person, no purchase and no account in the clear: a row has a ``TransactionKey`` and a ``ChainKey`` beside
/// it, and a key stands for the account.
package struct TransactionRecord: Hashable, Sendable, Superseding {
    package var productID: String
    package var productType: Reported<AppStoreProductType>?
    package var subscriptionGroup: SubscriptionGroupID?
    package var purchasedAt: Timestamp
    package var expiresAt: Timestamp?
    package var revokedAt: Timestamp?
    package var revocationType: Reported<RevocationType>?
    package var isUpgraded: Bool
    package var ownership: Reported<Ownership>?
    package var offerType: Reported<OfferType>?
    package var offerID: String?
    package var offerDiscountType: Reported<OfferDiscountType>?
    package var reason: Reported<TransactionReason>?
    package var storefront: Storefront?
    package var billingPlan: Reported<BillingPlan>?
    package var commitmentEndsAt: Timestamp?
    package var commitmentPeriod: Int?
    /// The buyer that the purchase names; `nil` if it names none.
    package var account: AccountKey?
    package var environment: StoreEnvironment
    /// When Apple signed this copy.
    package var signedAt: Timestamp
    /// By which way this copy came.
    package var source: FactSource

    /// All members in the clear, for the ledger's rows.
    package init(
        productID: String,
        productType: Reported<AppStoreProductType>?,
        subscriptionGroup: SubscriptionGroupID?,
        purchasedAt: Timestamp,
        expiresAt: Timestamp?,
        revokedAt: Timestamp?,
        revocationType: Reported<RevocationType>?,
        isUpgraded: Bool,
        ownership: Reported<Ownership>?,
        offerType: Reported<OfferType>?,
        offerID: String?,
        offerDiscountType: Reported<OfferDiscountType>?,
        reason: Reported<TransactionReason>?,
        storefront: Storefront?,
        account: AccountKey?,
        environment: StoreEnvironment,
        signedAt: Timestamp,
        source: FactSource
    ) {
        self.productID = productID
        self.productType = productType
        self.subscriptionGroup = subscriptionGroup
        self.purchasedAt = purchasedAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
        self.revocationType = revocationType
        self.isUpgraded = isUpgraded
        self.ownership = ownership
        self.offerType = offerType
        self.offerID = offerID
        self.offerDiscountType = offerDiscountType
        self.reason = reason
        self.storefront = storefront
        self.account = account
        self.environment = environment
        self.signedAt = signedAt
        self.source = source
    }

    package init(_ transaction: AppStoreTransaction, source: FactSource, account: AccountKey?) {
        self.init(
            productID: transaction.productID,
            productType: transaction.productType,
            subscriptionGroup: transaction.subscriptionGroup,
            purchasedAt: transaction.purchasedAt,
            expiresAt: transaction.expiresAt,
            revokedAt: transaction.revokedAt,
            revocationType: transaction.revocationType,
            isUpgraded: transaction.isUpgraded,
            ownership: transaction.ownership,
            offerType: transaction.offerType,
            offerID: transaction.offerID,
            offerDiscountType: transaction.offerDiscountType,
            reason: transaction.reason,
            storefront: transaction.storefront,
            account: account,
            environment: transaction.environment,
            signedAt: transaction.signedAt,
            source: source
        )
        billingPlan = transaction.billingPlan
        commitmentEndsAt = transaction.commitmentEndsAt
        commitmentPeriod = transaction.commitmentPeriod
    }

    /// Of two copies of one instant, the one that was taken back holds.
    var contents: [Content] {
        [
            Content(revokedAt), Content(revocationType?.storeText), Content(isUpgraded), Content(productID),
            Content(productType?.storeText), Content(subscriptionGroup?.text), Content(purchasedAt),
            Content(expiresAt), Content(ownership?.storeText), Content(offerType?.storeText), Content(offerID),
            Content(offerDiscountType?.storeText), Content(reason?.storeText), Content(storefront?.text),
            Content(environment.storeText), Content(source.rank), Content(account?.bytes),
            Content(billingPlan?.storeText), Content(commitmentEndsAt), Content(commitmentPeriod.map { "\($0)" }),
        ]
    }
}

// MARK: - What it shows

extension TransactionRecord {
    /// Whether it bought a subscription of the kind that offers are made for.
    package var isSubscription: Bool { productType?.known == .autoRenewableSubscription }

    /// Whether the customer paid for it, and not someone of their family.
    package var isOwn: Bool { ownership?.known == .purchased }

    /// When the customer got their money back, if they did: the end of family sharing is no refund.
    package var refundedAt: Timestamp? {
        ownership?.known == .familyShared || revocationType?.known == .familyRevoked ? nil : revokedAt
    }
}
