// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import OfferDomain

/// An offer that the team may give: what it is called at the store, and who may have it.
package final class CatalogOffer: Sendable {
    /// The team's own name of it, unique within the app; caps count under this name.
    package let id: CatalogOfferID
    package let bundleID: BundleID
    package let productID: ProductID
    package let subscriptionGroupID: SubscriptionGroupID?
    /// The identifier in App Store Connect.
    package let storeOfferID: OfferID
    package let policy: EligibilityPolicy
    /// What the policy must be told by the ledger.
    package let needs: LedgerNeeds
    /// What the policy must be told of the customer's dealings with the store.
    package let factNeeds: FactNeeds
    /// How old that may be.
    package let freshness: FactFreshness
    /// The key of this offer in the ledger: 64 bits of a digest over bundle id and own id, so that the
    /// ledger needs no table of names and every instance comes to the same number.
    package let ledgerKey: Int64
    /// What its rules found, in the words that answers have for it.
    package let findingTexts = FindingTexts()

    package init(
        id: CatalogOfferID,
        bundleID: BundleID,
        productID: ProductID,
        subscriptionGroupID: SubscriptionGroupID?,
        storeOfferID: OfferID,
        rule: Rule?,
        freshness: FactFreshness = FactFreshness()
    ) {
        self.id = id
        self.bundleID = bundleID
        self.productID = productID
        self.subscriptionGroupID = subscriptionGroupID
        self.storeOfferID = storeOfferID
        policy = EligibilityPolicy(rule: rule)
        needs = rule?.needs ?? LedgerNeeds()
        factNeeds = policy.factNeeds
        self.freshness = freshness
        ledgerKey = Self.ledgerKey(bundleID, id)
    }

    private static func ledgerKey(_ bundleID: BundleID, _ id: CatalogOfferID) -> Int64 {
        let digest = SHA256.digest(of: Array(bundleID.text.utf8) + [0] + Array(id.text.utf8))
        return digest.bytes.prefix(8).reduce(0) { $0 << 8 | Int64($1) }
    }
}

/// Everything that may be signed; nothing outside it ever is.
package struct Catalog: Sendable {
    /// Why the catalogue has no answer.
    package enum Missing: Error, Hashable, Sendable {
        case app, product, offer
    }

    private let offersByProduct: [BundleID: [ProductID: [String: CatalogOffer]]]
    /// By bundle id.
    package let apps: [BundleID: AppStoreApp]
    /// Over the bytes of the file; responses and records name the policy by it.
    package let digest: SHA256Digest
    /// The same as text, `sha256:` and 64 hex digits.
    package let policyName: String
    /// In the order of the file.
    package let offers: [CatalogOffer]

    package init(apps: [AppStoreApp], offers: [CatalogOffer], digest: SHA256Digest) {
        var products: [BundleID: [ProductID: [String: CatalogOffer]]] = [:]
        for offer in offers {
            products[offer.bundleID, default: [:]][offer.productID, default: [:]][offer.id.text] = offer
            products[offer.bundleID, default: [:]][offer.productID, default: [:]][offer.storeOfferID.text] = offer
        }
        offersByProduct = products
        self.apps = Dictionary(apps.map { ($0.bundleID, $0) }) { first, _ in first }
        self.offers = offers
        self.digest = digest
        policyName = "sha256:\(digest.hex)"
    }

    /// The offer of that product, by the store's identifier or by the catalogue's own.
    package func offer(
        _ offerID: OfferID,
        of productID: ProductID,
        in bundleID: BundleID
    ) throws(Missing) -> CatalogOffer {
        guard let products = offersByProduct[bundleID] else { throw .app }
        guard let offers = products[productID] else { throw .product }
        guard let offer = offers[offerID.text] else { throw .offer }
        return offer
    }

    /// The offer that the store calls so, as a transaction names it; `nil` if the catalogue has none.
    package func storeOffer(
        _ offerID: OfferID,
        boughtWith productID: String,
        in bundleID: BundleID
    ) -> CatalogOffer? {
        guard let productID = try? ProductID(productID),
            let offer = offersByProduct[bundleID]?[productID]?[offerID.text], offer.storeOfferID == offerID
        else { return nil }
        return offer
    }

    package var bundleIDs: Set<BundleID> { Set(offersByProduct.keys) }
}
