// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// Reads the `offers` file: apps, their plans, and the offers of each plan.
package enum CatalogFile {
    /// The catalogue.
    ///
    /// - Throws: Everything that is wrong, all at once.
    package static func read(_ path: String) throws(ConfigurationError) -> Catalog {
        let file = try ConfigurationFile(path: path)
        let (offers, issues) = file.read { root, mismatches in
            var apps: Set<BundleID> = []
            let offers = root.elements("apps") { readApp($0, mismatches, &apps) }.flatMap(\.self)
            if offers.isEmpty && mismatches.all.isEmpty {
                root.note("apps", "names no offer; nothing could be signed")
            }
            return offers
        }
        guard issues.isEmpty else { throw ConfigurationError(issues) }
        return Catalog(offers: offers, digest: file.digest)
    }

    private static func readApp(
        _ value: JSONValue,
        _ mismatches: Mismatches,
        _ apps: inout Set<BundleID>
    ) -> [CatalogOffer]? {
        var app = ObjectReader(value, into: mismatches)
        let bundleID = app.required("bundleId", text: BundleID.init)
        if let bundleID, !apps.insert(bundleID).inserted {
            app.note("bundleId", "\(bundleID) is listed already; put its plans into that one")
        }
        _ = app.optional("appAppleId", "a whole number above 0") { $0.integer.flatMap { $0 > 0 ? $0 : nil } }
        var names: Set<String> = []
        var products: Set<ProductID> = []
        let offers = app.elements("plans") { readPlan($0, bundleID, mismatches, &names, &products) }
        app.finish()
        return offers.flatMap(\.self)
    }

    private static func readPlan(
        _ value: JSONValue,
        _ bundleID: BundleID?,
        _ mismatches: Mismatches,
        _ names: inout Set<String>,
        _ products: inout Set<ProductID>
    ) -> [CatalogOffer]? {
        var plan = ObjectReader(value, into: mismatches)
        _ = plan.optional("id", text: CatalogOfferID.init)
        var product: ProductID?
        var group: SubscriptionGroupID?
        if let store = plan.required("appStore", "an object", { $0.object == nil ? nil : $0 }) {
            var reader = ObjectReader(store, into: mismatches)
            product = reader.required("productId", text: ProductID.init)
            group = reader.optional("subscriptionGroupId", text: SubscriptionGroupID.init)
            reader.finish()
            if let product, !products.insert(product).inserted {
                reader.note("productId", "\(product) already has a plan; put its offers into that one")
            }
        }
        let offers = plan.elements("offers") {
            readOffer($0, OfferPlace(bundleID, product, group), mismatches, &names)
        }
        plan.finish()
        reportAmbiguousNames(offers, plan)
        return offers
    }

    /// Where an offer belongs, as far as it could be read.
    private struct OfferPlace {
        let bundleID: BundleID?
        let productID: ProductID?
        let groupID: SubscriptionGroupID?

        init(_ bundleID: BundleID?, _ productID: ProductID?, _ groupID: SubscriptionGroupID?) {
            self.bundleID = bundleID
            self.productID = productID
            self.groupID = groupID
        }
    }

    private static func readOffer(
        _ value: JSONValue,
        _ place: OfferPlace,
        _ mismatches: Mismatches,
        _ names: inout Set<String>
    ) -> CatalogOffer? {
        var offer = ObjectReader(value, into: mismatches)
        let id = offer.required("id", text: CatalogOfferID.init)
        var storeID: OfferID?
        if let store = offer.required("appStore", "an object", { $0.object == nil ? nil : $0 }) {
            var reader = ObjectReader(store, into: mismatches)
            storeID = reader.required("offerId", text: OfferID.init)
            reader.finish()
        }
        let eligibility = offer.member("eligibility")
        let rule = eligibility.flatMap { RuleFile.read($0, mismatches) }
        offer.finish()
        if let id, !names.insert(id.text).inserted {
            offer.note("id", "\(printable(id.text)) is the id of another offer of this app; caps count by this id")
        }
        guard let id, let storeID, let bundleID = place.bundleID, let productID = place.productID,
            eligibility == nil || rule != nil
        else { return nil }
        return CatalogOffer(
            id: id,
            bundleID: bundleID,
            productID: productID,
            subscriptionGroupID: place.groupID,
            storeOfferID: storeID,
            rule: rule
        )
    }

    /// A request may use either name of an offer, so no name may mean two offers of one product.
    private static func reportAmbiguousNames(_ offers: [CatalogOffer], _ plan: ObjectReader) {
        var owner: [String: CatalogOfferID] = [:]
        for offer in offers {
            for name in Set([offer.id.text, offer.storeOfferID.text]) {
                if let other = owner.updateValue(offer.id, forKey: name), other != offer.id {
                    plan.note("offers", "\(printable(name)) names both \(other) and \(offer.id)")
                }
            }
        }
    }
}
