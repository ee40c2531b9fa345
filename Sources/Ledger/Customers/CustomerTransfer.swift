// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// An app of the catalog as its stores have it; it is in one of them at least.
package struct AppInStores: Sendable {
    /// What the ledger calls the app, in both stores.
    package let name: AppName
    /// The app in the App Store; `nil` if the catalog has it at Google Play only.
    package let bundleID: BundleID?
    /// The app at Google Play; `nil` if the catalog has it in the App Store only.
    package let googlePlay: GooglePlayApp?

    /// `nil` if the catalog has no such app.
    package init?(_ name: AppName, in catalog: Catalog) {
        self.name = name
        bundleID = catalog.apps.keys.first { AppName($0) == name }
        googlePlay = catalog.googlePlayApps.values.first { $0.name == name }
        if bundleID == nil, googlePlay == nil { return nil }
    }
}

/// An anonymous customer has become a known one; from now on, grants to either count for both.
package struct CustomerTransfer: Sendable {
    /// The anonymous customer.
    package let from: Pseudonym
    /// The known customer.
    package let to: Pseudonym
    /// The version of the secret that both pseudonyms are made with.
    package let secretVersion: String
    /// The app that both are customers of.
    package let app: AppInStores
    /// Who reported it; the entry names the caller.
    package let callerID: CallerID
    /// Whether a backend vouches for it; then the link applies to purchases too, and not only to caps.
    package var isVouched = true
    /// The catalog with the offers of redemptions.
    package let catalog: Catalog
    /// For the redemptions at Google Play; `nil` if the app isn't there.
    package let playContext: PlayContext?
    /// How many customers the anonymous one may be linked to.
    package let mostCustomers: Int

    /// Takes both under the newest secret, and the limit of links from the app's policy.
    package init(
        from anonymousID: AnonymousID,
        to customerID: CustomerID,
        app: AppInStores,
        callerID: CallerID,
        under context: EvidenceContext
    ) {
        let (pseudonyms, catalog) = (context.pseudonyms, context.catalog)
        from = pseudonyms.pseudonym(of: .anonymous(anonymousID), in: app.name)
        to = pseudonyms.pseudonym(of: .customer(customerID), in: app.name)
        secretVersion = pseudonyms.secretVersion
        self.app = app
        self.callerID = callerID
        self.catalog = catalog
        mostCustomers = catalog.customerPolicy(of: app.name).mostCustomersPerAnonymousID
        playContext = app.googlePlay.map { PlayContext($0, pseudonyms: pseudonyms, catalog: catalog) }
    }
}

/// A subscription appeared under another account than before.
package struct SubscriptionTransfer: Sendable {
    /// The key of what was bought under the first account: of a chain, or of a purchase.
    package let subscription: [UInt8]
    /// The key of the pseudonym of the account that had it before.
    package let from: [UInt8]
    /// The key of the pseudonym of the account that has it now.
    package let to: [UInt8]
    /// The app that the subscription is of.
    package let store: StoreApp

    package init(subscription: [UInt8], from: [UInt8], to: [UInt8], store: StoreApp) {
        self.subscription = subscription
        self.from = from
        self.to = to
        self.store = store
    }
}

/// The result of a ``CustomerTransfer``, durable if anything was changed.
package enum TransferOutcome: Hashable, Sendable {
    /// The two are linked since that instant; `isRepeated` says that they were linked before.
    case transferred(at: Timestamp, isRepeated: Bool)
    /// One of the two has reached its limit of links; nothing was changed.
    case tooManyLinks(CustomerTransfer.Side)
}

extension CustomerTransfer {
    /// One of the two customers.
    package enum Side: Hashable, Sendable {
        case from, to
    }
}
