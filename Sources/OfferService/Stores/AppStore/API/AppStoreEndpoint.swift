// SPDX-License-Identifier: Apache-2.0
package import HTTP
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

/// Where the API is asked, by environment.
package struct AppStoreOrigins: Hashable, Sendable {
    /// For customers of the App Store.
    package let production: Origin
    /// For testers, TestFlight included.
    package let sandbox: Origin

    /// Other servers than Apple's: for tests, by an explicit setting.
    package init(production: Origin, sandbox: Origin) {
        self.production = production
        self.sandbox = sandbox
    }

    /// Apple's own.
    package static let apple = AppStoreOrigins(
        production: Origin(https: "api.storekit.apple.com"),
        sandbox: Origin(https: "api.storekit-sandbox.apple.com")
    )

    /// The origin that is asked about transactions of an environment.
    package subscript(environment: StoreEnvironment) -> Origin {
        switch environment {
        case .production: production
        case .sandbox: sandbox
        }
    }
}
