// SPDX-License-Identifier: Apache-2.0

/// The part of a renewal info that the ledger may keep; facts and redemptions are computed from it.
package struct RenewalRecord: Hashable, Sendable, Superseding {
    /// The product that the customer has.
    package var productID: String
    /// Whether the subscription will renew; nil if Apple's value is neither 0 nor 1.
    package var autoRenews: Bool?
    /// Whether the store tries to collect for a renewal that it could not charge.
    package var isInBillingRetry: Bool?
    /// When the billing grace period ends.
    package var gracePeriodExpiresAt: Timestamp?
    /// Why the subscription ended, also while the store still tries to collect; nil before.
    package var expirationIntent: Reported<ExpirationIntent>?
    /// When the newest purchase of the chain ends, or ended, which is when it renews.
    package var renewsAt: Timestamp?
    /// The product that the next renewal is for.
    package var autoRenewProductID: String?
    /// The offer of the next renewal.
    package var offerType: Reported<OfferType>?
    /// The store's ID of that offer; nil for an introductory offer.
    package var offerID: String?
    /// The best first; empty also if Apple's info has no such list.
    package var eligibleWinBackOfferIDs: [String] = []
    /// The environment of the chain's transactions.
    package var environment: StoreEnvironment
    /// When Apple signed this copy.
    package var signedAt: Timestamp
    /// The source of this copy.
    package var source: FactSource

    /// What each renewal info has; the caller sets the rest.
    package init(productID: String, environment: StoreEnvironment, signedAt: Timestamp, source: FactSource) {
        self.productID = productID
        self.environment = environment
        self.signedAt = signedAt
        self.source = source
    }

    /// Takes what the ledger may keep of a verified renewal info.
    package init(_ info: AppStoreRenewalInfo, source: FactSource) {
        self.init(
            productID: info.productID,
            environment: info.environment,
            signedAt: info.signedAt,
            source: source
        )
        autoRenews = info.autoRenews
        isInBillingRetry = info.isInBillingRetry
        gracePeriodExpiresAt = info.gracePeriodExpiresAt
        expirationIntent = info.expirationIntent
        renewsAt = info.renewsAt
        autoRenewProductID = info.autoRenewProductID
        offerType = info.offerType
        offerID = info.offerID
        eligibleWinBackOfferIDs = info.eligibleWinBackOfferIDs ?? []
    }

    var contents: [Content] {
        [
            Content(productID), Content(autoRenews), Content(isInBillingRetry), Content(gracePeriodExpiresAt),
            Content(expirationIntent?.storeText), Content(renewsAt), Content(offerType?.storeText), Content(offerID),
            Content(environment.storeText), Content(source.rank), Content(String(eligibleWinBackOfferIDs.count)),
            Content(autoRenewProductID),
        ] + eligibleWinBackOfferIDs.map { Content($0) }
    }
}
