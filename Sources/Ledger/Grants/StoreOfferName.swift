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

    private init(_ store: Store, _ app: String?, _ product: String, _ plan: String?, _ offer: String) {
        (self.store, self.app, self.product, self.plan, self.offer) = (store, app, product, plan, offer)
    }

    /// An offer of the App Store, in any app.
    static func appStore(productID: String, offerID: String) -> StoreOfferName {
        StoreOfferName(.appStore, nil, productID, nil, offerID)
    }

    static func googlePlay(_ path: GooglePlayOfferPath, in packageName: PackageName) -> StoreOfferName {
        StoreOfferName(.googlePlay, packageName.text, path.productID, path.basePlanID, path.offerID)
    }
}
