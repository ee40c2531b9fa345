// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// What purchases of one app at Google Play are filed under and compared with.
package struct PlayContext: Sendable {
    /// The app's package, and the ledger's name of it.
    package let app: GooglePlayApp
    /// Makes keys from tokens, and recognizes a genuine mark of a grant.
    package let keys: GooglePlayPseudonyms
    /// Has the offers that redemptions use.
    package let catalog: Catalog

    package init(_ app: GooglePlayApp, pseudonyms: Pseudonyms, catalog: Catalog) {
        self.app = app
        self.catalog = catalog
        keys = GooglePlayPseudonyms(pseudonyms, in: app.name)
    }

    /// The offer that the store calls so; `nil` if the catalog has none.
    package func offer(_ path: GooglePlayOfferPath) -> CatalogOffer? {
        guard let offerID = try? GooglePlayOfferID(path.offerID), let basePlanID = try? BasePlanID(path.basePlanID),
            let productID = try? GooglePlayProductID(path.productID)
        else { return nil }
        return catalog.googlePlayStoreOffer(offerID, of: productID, basePlan: basePlanID, in: app.packageName)
    }
}
