// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain

/// What a store calls an offer.
struct StoreOfferName: Hashable {
    let store: Store
    /// The bundle ID or the package name; `nil` if it is not known.
    let app: String?
    let product: String
    /// The base plan; `nil` in the App Store.
    let plan: String?
    /// Empty for an introductory offer of the App Store.
    let offer: String
}

extension StoreOfferName {
    /// The name of an offer of the catalog.
    init(_ listing: StoreListing) {
        switch listing {
        case .appStore(let listing):
            (store, app, product, plan) = (.appStore, listing.bundleID.text, listing.productID.text, nil)
            offer = listing.offerID?.text ?? ""
        case .googlePlay(let key):
            (store, app, product) = (.googlePlay, key.packageName.text, key.productID.text)
            (plan, offer) = (key.basePlanID.text, key.offerID.text)
        }
    }

    /// An offer of the App Store, in any app.
    static func appStore(productID: String, offerID: String) -> StoreOfferName {
        StoreOfferName(store: .appStore, app: nil, product: productID, plan: nil, offer: offerID)
    }

    static func googlePlay(_ path: GooglePlayOfferPath, in packageName: PackageName) -> StoreOfferName {
        StoreOfferName(
            store: .googlePlay,
            app: packageName.text,
            product: path.productID,
            plan: path.basePlanID,
            offer: path.offerID
        )
    }
}
