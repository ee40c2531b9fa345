// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// A store's report about subscriptions of one app, ready for the ledger: filed under keys, with nothing personal in
/// the clear.
package struct SubscriptionReport: Sendable {
    /// What the store reports, and where.
    package enum Content: Sendable {
        /// Chains of purchases in the App Store.
        case appStore(SubscriptionHistory, BundleID)
        /// Purchases at Google Play; `accounts` are those that they name, each in the form of a
        /// ``GooglePlayAccountID``.
        case googlePlay(GooglePlayHistory, accounts: Set<SubscriptionLink>, PlayContext)
    }

    /// What the store reports.
    package let content: Content
    /// The version of the secret that made the keys.
    package let secretVersion: String
    /// Has the offers that redemptions use.
    package let catalog: Catalog
    /// Which customer has which subscription, as the store says or a caller that the service trusts for this.
    package var links: Set<SubscriptionLink> = []
    /// The present holders of subscriptions, as this report shows them; the customer that a caller names comes first.
    package var holders: [SubscriptionHolder] = []
    /// The notification that it came in; `nil` if the service asked for it, or a request sent it.
    package var notification: NotificationReceipt?
    /// What the ledger may have of this report under earlier secrets.
    package var rotatedKeys: [RotatedKey] = []

    /// All keys must be made with this version of the secret.
    package init(_ content: Content, secretVersion: String, catalog: Catalog) {
        self.content = content
        self.secretVersion = secretVersion
        self.catalog = catalog
    }

    /// The app that it is about.
    var app: StoreApp {
        switch content {
        case .appStore(_, let bundleID): .appStore(bundleID)
        case .googlePlay(_, _, let place): .googlePlay(place.app.packageName)
        }
    }

    /// What the ledger calls the app.
    var appName: AppName {
        switch content {
        case .appStore(_, let bundleID): AppName(bundleID)
        case .googlePlay(_, _, let place): place.app.name
        }
    }

    /// The chains that it is about; none at Google Play.
    package var chains: Set<ChainKey> {
        if case .appStore(let history, _) = content { Set(history.chains.keys) } else { [] }
    }
}

/// The result of a report.
package enum Absorption: Hashable, Sendable {
    /// It is on record now.
    case recorded
    /// A notification that was on record already.
    case repeated
}
