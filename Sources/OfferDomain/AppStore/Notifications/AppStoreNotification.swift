// SPDX-License-Identifier: Apache-2.0

/// A server notification of the App Store, version 2, verified and of one of our apps.
///
/// The JWS inside it are not verified yet.
///
/// Source: Apple, [responseBodyV2DecodedPayload](https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload).
package struct AppStoreNotification: Hashable, Sendable {
    package let notificationType: Reported<NotificationType>
    package let subtype: Reported<NotificationSubtype>?
    /// The same each time that the same notification is sent.
    package let notificationUUID: UniqueID
    package let signedAt: Timestamp
    package let bundleID: BundleID
    /// Absent in the sandbox.
    package let appAppleID: Int64?
    package let environment: StoreEnvironment
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

    package struct SummaryContent: Hashable, Sendable {
        package let requestIdentifier: String
        package let productID: String?
        package let succeededCount: Int64?
        package let failedCount: Int64?

        package init(requestIdentifier: String, productID: String?, succeededCount: Int64?, failedCount: Int64?) {
            self.requestIdentifier = requestIdentifier
            self.productID = productID
            self.succeededCount = succeededCount
            self.failedCount = failedCount
        }
    }

    package struct ExternalPurchaseToken: Hashable, Sendable {
        /// Begins with `SANDBOX` in the sandbox.
        package let externalPurchaseID: String
        package let createdAt: Timestamp?

        package init(externalPurchaseID: String, createdAt: Timestamp?) {
            self.externalPurchaseID = externalPurchaseID
            self.createdAt = createdAt
        }
    }

    package init(
        notificationType: Reported<NotificationType>,
        subtype: Reported<NotificationSubtype>?,
        notificationUUID: UniqueID,
        signedAt: Timestamp,
        bundleID: BundleID,
        appAppleID: Int64?,
        environment: StoreEnvironment,
        content: Content
    ) {
        self.notificationType = notificationType
        self.subtype = subtype
        self.notificationUUID = notificationUUID
        self.signedAt = signedAt
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.environment = environment
        self.content = content
    }

    /// The status that the notification tells: its own word, or what its type says by itself.
    package var status: Reported<SubscriptionStatus>? {
        guard case .subscription(let content) = content else { return nil }
        if let status = content.status { return status }
        return notificationType.known == .expired ? .known(.expired) : nil
    }
}
