// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// A use of an offer, as the evidence of a store shows it; a store is a mapping to this.
package struct StoreRedemption: Hashable, Sendable {
    /// Distinguishes the uses of one subscription.
    package struct Name: Hashable, Sendable {
        /// The key of the first transaction with the offer; empty at Google Play and for a pending use.
        package let firstTransaction: [UInt8]
        /// The product bought with the offer; for a pending use in the App Store, the product that the customer has.
        package let productID: String
        /// Empty in the App Store.
        package let basePlanID: String
        /// The store's ID of the offer; empty if the store sent none.
        package let offerID: String

        init(firstTransaction: [UInt8], productID: String, basePlanID: String, offerID: String) {
            (self.firstTransaction, self.productID) = (firstTransaction, productID)
            (self.basePlanID, self.offerID) = (basePlanID, offerID)
        }

        /// The name of a use at Google Play.
        init(_ offer: GooglePlayOfferPath) {
            self.init(
                firstTransaction: [],
                productID: offer.productID,
                basePlanID: offer.basePlanID,
                offerID: offer.offerID
            )
        }
    }

    /// Where it was used.
    package let store: Store
    /// The bundle ID or the package name; empty if it is not known.
    package let app: String
    /// The key of the chain, or of the purchase.
    package let subscription: [UInt8]
    /// Its name in the subscription.
    package let name: Name
    /// What came of it, as of the newest evidence.
    package let state: RedemptionState
    /// When the first discounted period began; for a pending use, when the store first reported it.
    package let redeemedAt: Timestamp
    /// The first refund that did not undo the use.
    package let refund: Refund?
    /// Whether it is a test purchase.
    package let environment: StoreEnvironment
    /// The source of the newest evidence of it.
    package let source: FactSource

    /// A use in the App Store.
    package init(_ redemption: Redemption, of bundleID: BundleID?) {
        store = .appStore
        app = bundleID?.text ?? ""
        subscription = redemption.key.chain.bytes
        name = Name(
            firstTransaction: redemption.key.firstTransaction?.bytes ?? [],
            productID: redemption.productID,
            basePlanID: "",
            offerID: redemption.offerID ?? ""
        )
        (state, redeemedAt, refund) = (redemption.state, redemption.redeemedAt, redemption.refund)
        (environment, source) = (redemption.environment, redemption.source)
    }

    /// A use at Google Play.
    package init(_ redemption: GooglePlayRedemption, of packageName: PackageName) {
        store = .googlePlay
        app = packageName.text
        subscription = redemption.purchase.bytes
        name = Name(redemption.offer)
        (state, redeemedAt, refund) = (redemption.state, redemption.redeemedAt, redemption.refund)
        (environment, source) = (redemption.environment, .storeAPI)
    }

    /// The oldest first; of one instant, by the keys.
    func isBefore(_ other: StoreRedemption) -> Bool {
        if redeemedAt != other.redeemedAt { return redeemedAt < other.redeemedAt }
        if subscription != other.subscription { return subscription.lexicographicallyPrecedes(other.subscription) }
        if name.firstTransaction != other.name.firstTransaction {
            return name.firstTransaction.lexicographicallyPrecedes(other.name.firstTransaction)
        }
        return name.texts.lexicographicallyPrecedes(other.name.texts)
    }
}

extension StoreRedemption.Name {
    fileprivate var texts: [String] { [productID, basePlanID, offerID] }
}

extension Catalog {
    /// The offer of the App Store that was used; `nil` if the catalog has none of that name.
    package func appStoreOffer(of use: StoreRedemption, in bundleID: BundleID) -> CatalogOffer? {
        guard let offerID = try? OfferID(use.name.offerID) else { return nil }
        return storeOffer(offerID, boughtWith: use.name.productID, in: bundleID)
    }
}
