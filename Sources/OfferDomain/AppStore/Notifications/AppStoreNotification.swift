// SPDX-License-Identifier: Apache-2.0

/// A server notification of the App Store, version 2, verified and of one of our apps.
///
/// The JWS inside it are not verified yet.
///
/// Source: Apple, [responseBodyV2DecodedPayload](https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload).
package struct AppStoreNotification: Hashable, Sendable {
    /// What happened, in the store's word if we don't know it.
    package let notificationType: Reported<NotificationType>
    /// More of what happened; nil for types that have no subtypes.
    package let subtype: Reported<NotificationSubtype>?
    /// The same each time that the same notification is sent.
    package let notificationUUID: UniqueID
    /// When Apple signed this notification (`signedDate`); a repeated notification has the same value.
    package let signedAt: Timestamp
    /// The bundle ID that Apple signed; it belongs to a configured app.
    package let bundleID: BundleID
    /// Absent in the sandbox.
    package var appAppleID: Int64?
    /// The environment that Apple signed; for an external purchase token, the environment that its ID shows.
    package let environment: StoreEnvironment
    /// What it is about; Apple sends exactly one of four objects.
    package let content: Content

    /// What the notification is about; which one it is depends on its type.
    package enum Content: Hashable, Sendable {
        case subscription(SubscriptionContent)
        /// How an extension of many renewal dates went.
        case summary(SummaryContent)
        case externalPurchaseToken(ExternalPurchaseToken)
        /// Of the app as a whole, with a signed app transaction.
        case app(signedAppTransaction: [UInt8]?)
    }

    /// One customer's transaction; a test notification has none of these.
    package struct SubscriptionContent: Hashable, Sendable {
        /// Of an auto-renewable subscription, at the instant of signing.
        package let status: Reported<SubscriptionStatus>?
        /// A compact JWS.
        package let signedTransaction: [UInt8]?
        /// A compact JWS.
        package let signedRenewalInfo: [UInt8]?
        /// Why the customer asked for a refund, as the store writes it; only of `CONSUMPTION_REQUEST`.
        package let consumptionRequestReason: String?

        package init(
            status: Reported<SubscriptionStatus>?,
            signedTransaction: [UInt8]?,
            signedRenewalInfo: [UInt8]?,
            consumptionRequestReason: String?
        ) {
            self.status = status
            self.signedTransaction = signedTransaction
            self.signedRenewalInfo = signedRenewalInfo
            self.consumptionRequestReason = consumptionRequestReason
        }
    }

    /// The result of extending the renewal date of all eligible subscribers (`summary`).
    package struct SummaryContent: Hashable, Sendable {
        /// The identifier that the request for the extension chose.
        package let requestIdentifier: String
        /// The product whose renewal dates were extended.
        package let productID: String?
        /// How many subscriptions were extended.
        package let succeededCount: Int64?
        /// How many were not.
        package let failedCount: Int64?

        package init(requestIdentifier: String, productID: String?, succeededCount: Int64?, failedCount: Int64?) {
            self.requestIdentifier = requestIdentifier
            self.productID = productID
            self.succeededCount = succeededCount
            self.failedCount = failedCount
        }
    }

    /// A token for a purchase outside of the App Store that has not been reported to Apple yet.
    package struct ExternalPurchaseToken: Hashable, Sendable {
        /// Begins with `SANDBOX` in the sandbox.
        package let externalPurchaseID: String
        /// When Apple made the token (`tokenCreationDate`).
        package let createdAt: Timestamp?

        package init(externalPurchaseID: String, createdAt: Timestamp?) {
            self.externalPurchaseID = externalPurchaseID
            self.createdAt = createdAt
        }
    }

    /// What each notification has; the caller sets the app's number.
    package init(
        notificationType: Reported<NotificationType>,
        subtype: Reported<NotificationSubtype>?,
        notificationUUID: UniqueID,
        claims: SignedDataClaims,
        content: Content
    ) {
        self.notificationType = notificationType
        self.subtype = subtype
        self.notificationUUID = notificationUUID
        signedAt = claims.signedAt
        bundleID = claims.bundleID
        environment = claims.environment
        self.content = content
    }

    /// The status that the notification states, or else the status that follows from its type.
    package var status: Reported<SubscriptionStatus>? {
        guard case .subscription(let content) = content else { return nil }
        if let status = content.status { return status }
        return notificationType.known == .expired ? .known(.expired) : nil
    }
}
