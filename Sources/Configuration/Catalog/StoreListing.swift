// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// A store that offers are given in.
package enum Store: String, CaseIterable, Hashable, Sendable {
    case appStore
    case googlePlay

    /// As records and metrics name it.
    package var recordName: String {
        switch self {
        case .appStore: "app-store"
        case .googlePlay: "google-play"
        }
    }

    /// How long it should take a customer at most to buy an offer at Google Play, as with what the App Store wants signed.
    package static let authorizationHours = 24

    /// How long after a grant a purchase with it may come; a later one is matched to no grant.
    ///
    /// In the App Store a signature is good for 24 hours, and a family organizer has as long to let a child buy. At Google
    /// Play an authorization is good for 24 hours, and a payment may be pending for three days.
    ///
    /// Source: Apple, [Generating a signature for promotional offers](https://developer.apple.com/documentation/storekit/generating-a-signature-for-promotional-offers),
    /// and [Ask to Buy](https://support.apple.com/en-us/105055).
    package var longestDelayHours: Int {
        switch self {
        case .appStore: 24 + 24
        case .googlePlay: Self.authorizationHours + 72
        }
    }
}

/// How one store knows an offer.
package enum StoreListing: Sendable {
    case appStore(AppStoreListing)
    /// A developer-determined offer in the Play Console.
    case googlePlay(GooglePlayOfferKey)

    /// The store that the offer is in.
    package var store: Store {
        switch self {
        case .appStore: .appStore
        case .googlePlay: .googlePlay
        }
    }

    /// What the App Store calls it; `nil` at Google Play.
    package var appStore: AppStoreListing? {
        if case .appStore(let listing) = self { listing } else { nil }
    }

    /// What Google Play calls it; `nil` in the App Store.
    package var googlePlay: GooglePlayOfferKey? {
        if case .googlePlay(let key) = self { key } else { nil }
    }
}

/// An offer of a product in App Store Connect.
///
/// A class, because each request is handed it several times over.
package final class AppStoreListing: Sendable {
    /// The app.
    package let bundleID: BundleID
    /// The product that the offer is for.
    package let productID: ProductID
    /// The product's subscription group; `nil` if the offers file does not name it.
    package let subscriptionGroupID: SubscriptionGroupID?
    /// `nil` of an introductory offer, which has none.
    package let offerID: OfferID?
    /// Whether it is only for apps that prove themselves.
    package let genuineApp: GenuineAppPolicy

    package init(
        bundleID: BundleID,
        productID: ProductID,
        subscriptionGroupID: SubscriptionGroupID?,
        offerID: OfferID?,
        genuineApp: GenuineAppPolicy = .off
    ) {
        self.bundleID = bundleID
        self.productID = productID
        self.subscriptionGroupID = subscriptionGroupID
        self.offerID = offerID
        self.genuineApp = genuineApp
    }

    /// What a key is used for when this offer is signed.
    package var purpose: KeyPurpose { offerID == nil ? .introductoryOfferEligibility : .promotionalOffer }
}

/// An app as Google Play knows it.
package struct GooglePlayApp: Hashable, Sendable {
    /// The app's package name.
    package let packageName: PackageName
    /// What the ledger calls the app, in both stores.
    package let name: AppName
    /// An offer must have one of these tags, so that no paywall shows it to every customer; in the order of the file.
    package let hideTags: [OfferTag]

    package init(packageName: PackageName, name: AppName, hideTags: [OfferTag]) {
        self.packageName = packageName
        self.name = name
        self.hideTags = hideTags
    }
}
