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
        let (apps, issues) = file.read { root, mismatches in
            var names: Set<BundleID> = []
            let apps = root.elements("apps") { readApp($0, mismatches, &names) }
            if apps.allSatisfy(\.offers.isEmpty) && mismatches.all.isEmpty {
                root.note("apps", "names no offer; nothing could be signed")
            }
            return apps
        }
        guard issues.isEmpty else { throw ConfigurationError(issues) }
        return Catalog(apps: apps.compactMap(\.app), offers: apps.flatMap(\.offers), digest: file.digest)
    }

    /// What was read of one app; `app` is nil if its bundle id is not as it must be.
    private struct ReadApp {
        let app: AppStoreApp?
        let offers: [CatalogOffer]
    }

    private static func readApp(
        _ value: JSONValue,
        _ mismatches: Mismatches,
        _ apps: inout Set<BundleID>
    ) -> ReadApp {
        var app = ObjectReader(value, into: mismatches)
        let bundleID = app.required("bundleId", text: BundleID.init)
        if let bundleID, !apps.insert(bundleID).inserted {
            app.note("bundleId", "\(bundleID) is listed already; put its plans into that one")
        }
        let appleID = app.optional("appAppleId", "a whole number above 0") {
            $0.integer.flatMap { $0 > 0 ? $0 : nil }
        }
        let environments = readEnvironments(&app, mismatches)
        var names: Set<String> = []
        var products: Set<ProductID> = []
        let offers = app.elements("plans") { readPlan($0, bundleID, mismatches, &names, &products) }
        app.finish()
        return ReadApp(
            app: bundleID.map { AppStoreApp(bundleID: $0, appAppleID: appleID, environments: environments) },
            offers: offers.flatMap(\.self)
        )
    }

    private static func readEnvironments(
        _ app: inout ObjectReader,
        _ mismatches: Mismatches
    ) -> Set<StoreEnvironment> {
        guard let value = app.member("environments") else { return Set(StoreEnvironment.allCases) }
        let listed: [StoreEnvironment] = app.elements("environments") { element in
            element.string.flatMap(StoreEnvironment.init)
                ?? mismatches.none(element, "expected “production” or “sandbox”, found \(element.summary)")
        }
        if value.array?.isEmpty == true { mismatches.add(value, "is empty; then no purchase would count") }
        return Set(listed)
    }

    private static func readFreshness(_ offer: inout ObjectReader, _ mismatches: Mismatches) -> FactFreshness {
        guard let value = offer.member("facts") else { return FactFreshness() }
        var reader = ObjectReader(value, into: mismatches)
        let hours = "a whole number of hours from 1 to 8760"
        func read(_ name: String) -> Int? {
            reader.optional(name, hours) { $0.integer.flatMap { (1...8760).contains($0) ? Int($0) : nil } }
        }
        let freshness = FactFreshness(
            maximumAgeHours: read("maximumAgeHours"),
            knownAgeHours: read("whenStoreIsDownUseUpToHours")
        )
        reader.finish()
        return freshness
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
        let place = OfferPlace(bundleID, product, group)
        let offers = plan.elements("offers") { readOffer($0, place, mismatches, &names) }
        reportAmbiguousNames(offers, plan)
        let introductory = plan.member("introductoryOffer").flatMap { value in
            readIntroductoryOffer(value, place, mismatches, &names)
        }
        if plan.member("introductoryOffer") != nil, product != nil, group == nil {
            plan.note(
                "introductoryOffer",
                "needs the plan's appStore.subscriptionGroupId: a customer has one introductory offer in each group"
            )
        }
        plan.finish()
        return offers + (introductory.map { [$0] } ?? [])
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
        guard let terms = readTerms(&offer, id, .promotional, mismatches, &names), let id, let storeID,
            let bundleID = place.bundleID, let productID = place.productID
        else { return nil }
        return CatalogOffer(
            id: id,
            bundleID: bundleID,
            productID: productID,
            subscriptionGroupID: place.groupID,
            storeOfferID: storeID,
            rule: terms.rule,
            freshness: terms.freshness
        )
    }

    private static func readIntroductoryOffer(
        _ value: JSONValue,
        _ place: OfferPlace,
        _ mismatches: Mismatches,
        _ names: inout Set<String>
    ) -> CatalogOffer? {
        var offer = ObjectReader(value, into: mismatches)
        let id = offer.required("id", text: CatalogOfferID.init)
        guard let terms = readTerms(&offer, id, .introductory, mismatches, &names), let id,
            let bundleID = place.bundleID, let productID = place.productID, let groupID = place.groupID
        else { return nil }
        return CatalogOffer(
            introductory: id,
            bundleID: bundleID,
            productID: productID,
            subscriptionGroupID: groupID,
            rule: terms.rule,
            freshness: terms.freshness
        )
    }

    /// Reads what every offer has beside its names, and finishes the offer; `nil` if its rule is not as it must be.
    private static func readTerms(
        _ offer: inout ObjectReader,
        _ id: CatalogOfferID?,
        _ type: OfferType,
        _ mismatches: Mismatches,
        _ names: inout Set<String>
    ) -> (rule: Rule?, freshness: FactFreshness)? {
        let eligibility = offer.member("eligibility")
        let rule = eligibility.flatMap { RuleFile.read($0, of: type, mismatches) }
        let freshness = readFreshness(&offer, mismatches)
        offer.finish()
        if let id, !names.insert(id.text).inserted {
            offer.note("id", "\(printable(id.text)) is the id of another offer of this app; caps count by this id")
        }
        return eligibility == nil || rule != nil ? (rule, freshness) : nil
    }

    /// A request may use either name of an offer, so no name may mean two offers of one product.
    private static func reportAmbiguousNames(_ offers: [CatalogOffer], _ plan: ObjectReader) {
        var owner: [String: CatalogOfferID] = [:]
        for offer in offers {
            for name in Set([offer.id.text, offer.storeOfferID?.text ?? offer.id.text]) {
                if let other = owner.updateValue(offer.id, forKey: name), other != offer.id {
                    plan.note("offers", "\(printable(name)) names both \(other) and \(offer.id)")
                }
            }
        }
    }
}
