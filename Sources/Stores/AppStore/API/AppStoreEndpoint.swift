// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// What the App Store Server API is asked, and asked to change.
///
/// Source: Apple, [App Store Server API](https://developer.apple.com/documentation/appstoreserverapi).
package enum AppStoreEndpoint: String, CaseIterable, Hashable, Sendable {
    case subscriptionStatuses = "subscription-statuses"
    case transactionHistory = "transaction-history"
    case transactionInfo = "transaction-info"
    case appTransactionInfo = "app-transaction-info"
    case setAppAccountToken = "set-app-account-token"
    case notificationHistory = "notification-history"
    case requestTestNotification = "request-test-notification"
    case testNotificationStatus = "test-notification-status"

    /// How often Apple lets one app ask within an hour: a tenth in the sandbox.
    ///
    /// Apple states it per second and enforces it hourly; for app transactions it states nothing, and the usual is taken.
    /// Source: Apple, [Identifying rate limits](https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits).
    package func perHour(in environment: StoreEnvironment) -> Int {
        let perSecond =
            switch self {
            case .requestTestNotification, .testNotificationStatus: 1
            case .setAppAccountToken: 20
            default: 50
            }
        return environment == .sandbox ? perSecond * 360 : perSecond * 3600
    }
}
