// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// Reads the plans of one app, each with its product in one store or in both, and its offers.
///
/// A class, because names must be unique over all plans of the app.
final class PlanReader {
    private let mismatches: Mismatches
    private let bundleID: BundleID?
    private let packageName: PackageName?
    /// The store that the app is in, if it is said to be in one alone.
    private let onlyStore: Store?
    /// What proofs of the app must show.
    let proofs: AppProofSettings
    /// What is shown to subscribers who are about to cancel.
    let retention: RetentionReader
    private var offerNames: Set<String> = []
    private var products: Set<ProductID> = []
    private var basePlans: Set<String> = []

    init(
        _ mismatches: Mismatches,
        bundleID: BundleID?,
        packageName: PackageName?,
        isOnlyIn onlyStore: Store?,
        proofs: AppProofSettings = AppProofSettings()
    ) {
        self.onlyStore = onlyStore
        self.proofs = proofs
        self.mismatches = mismatches
        retention = RetentionReader(mismatches)
        self.bundleID = bundleID
        self.packageName = packageName
    }

    /// The App Store's product that a plan is of, as far as it could be read.
    private struct ProductPlace {
        let bundleID: BundleID?
        let productID: ProductID?
        let groupID: SubscriptionGroupID?
        /// Whether a group is given, valid or not.
        let namesGroup: Bool
    }

    /// Google Play's product that a plan is of, as far as it could be read.
    private struct BasePlanPlace {
        let packageName: PackageName?
        let productID: GooglePlayProductID?
        let basePlanID: BasePlanID?
    }

    /// Where the offers of a plan can be; `nil` is not in that store.
    private struct Place {
        let appStore: ProductPlace?
        let googlePlay: BasePlanPlace?
    }

    /// All offers of one plan, once for each store.
    func read(_ value: JSONValue) -> [CatalogOffer]? {
        var plan = ObjectReader(value, into: mismatches)
        _ = plan.optional("id", text: CatalogOfferID.init)
        let place = Place(appStore: readAppStore(&plan), googlePlay: readGooglePlay(&plan))
        if value.object != nil, plan.member("appStore") == nil, plan.member("googlePlay") == nil {
            plan.note("appStore", "is missing, and so is googlePlay; a plan is of a product of one store at least")
        }
        retention.readPlan(&plan, of: place.appStore?.productID, in: place.appStore?.groupID)
        let offers = plan.elements("offers") { retention.readOffer($0, readOffer($0, place)) }.flatMap(\.self)
        reportAmbiguousNames(offers, plan)
        let introductory = readIntroductoryOffer(&plan, place.appStore)
        plan.finish()
        return offers + (introductory.map { [$0] } ?? [])
    }

    // MARK: - Products

    private func readAppStore(_ plan: inout ObjectReader) -> ProductPlace? {
        guard let store = plan.member("appStore") else { return nil }
        var reader = ObjectReader(store, into: mismatches)
        let product = reader.required("productId", text: ProductID.init)
        let group = reader.optional("subscriptionGroupId", text: SubscriptionGroupID.init)
        let namesGroup = reader.member("subscriptionGroupId") != nil
        reader.finish()
        if let product, !products.insert(product).inserted {
            reader.note("productId", "\(product) already has a plan; put its offers into that one")
        }
        if onlyStore == .googlePlay { plan.note("appStore", "needs the app's bundleId") }
        return ProductPlace(bundleID: bundleID, productID: product, groupID: group, namesGroup: namesGroup)
    }

    private func readGooglePlay(_ plan: inout ObjectReader) -> BasePlanPlace? {
        guard let store = plan.member("googlePlay") else { return nil }
        var reader = ObjectReader(store, into: mismatches)
        let product = reader.required("productId", text: GooglePlayProductID.init)
        let basePlan = reader.required("basePlanId", text: BasePlanID.init)
        reader.finish()
        if let product, let basePlan, !basePlans.insert("\(product) \(basePlan)").inserted {
            reader.note("basePlanId", "\(basePlan) of \(product) already has a plan; put its offers into that one")
        }
        if onlyStore == .appStore { plan.note("googlePlay", "needs the app's packageName") }
        return BasePlanPlace(packageName: packageName, productID: product, basePlanID: basePlan)
    }

    // MARK: - Offers

    /// What every offer has beside its names in the stores.
    private typealias NamedTerms = (id: CatalogOfferID, terms: OfferTerms)
    /// What an offer at Google Play has of its own.
    private typealias GooglePlayListed = (
        listing: GooglePlayOfferKey, admitsNewCustomers: Bool, genuineApp: GenuineAppPolicy
    )

    private func readOffer(_ value: JSONValue, _ place: Place) -> [CatalogOffer]? {
        var offer = ObjectReader(value, into: mismatches)
        let id = offer.required("id", text: CatalogOfferID.init)
        let appStore = readAppStoreOffer(&offer, place.appStore)
        let googlePlay = readGooglePlayOffer(&offer, place.googlePlay)
        if value.object != nil, offer.member("appStore") == nil, offer.member("googlePlay") == nil {
            offer.note("appStore", "is missing, and so is googlePlay; an offer is in one store at least")
        }
        let hasFloor = Self.hasFloor(&offer, googlePlay?.admitsNewCustomers)
        _ = offer.member("retention")
        guard let (id, terms) = readTerms(&offer, id, hasFloor: hasFloor) else { return nil }
        var offers: [CatalogOffer] = []
        if let appStore {
            offers.append(CatalogOffer(id: id, listing: appStore, atGooglePlay: googlePlay?.listing, terms: terms))
        }
        if let googlePlay, let packageName {
            offers.append(
                CatalogOffer(
                    id: id,
                    in: CatalogPlan(
                        app: bundleID.map(AppName.init) ?? AppName(packageName),
                        subscriptionGroupID: place.appStore?.groupID
                    ),
                    listing: googlePlay.listing,
                    inAppStore: appStore,
                    terms: terms.atGooglePlay(
                        genuineApp: googlePlay.genuineApp,
                        admitsNewCustomers: googlePlay.admitsNewCustomers
                    )
                )
            )
        }
        return offers
    }

    /// Whether an offer is only for customers who have or had a subscription; always true of an offer in the App Store.
    ///
    /// If the Google Play part can't be read, it is false: that fault is reported elsewhere.
    private static func hasFloor(_ offer: inout ObjectReader, _ admitsNewCustomers: Bool?) -> Bool {
        if offer.member("appStore") != nil { return true }
        return offer.member("googlePlay") == nil || admitsNewCustomers == false
    }

    private func readAppStoreOffer(_ offer: inout ObjectReader, _ place: ProductPlace?) -> AppStoreListing? {
        guard let store = offer.optional("appStore", "an object", as: { $0.object == nil ? nil : $0 })
        else { return nil }
        var reader = ObjectReader(store, into: mismatches)
        let offerID = reader.required("offerId", text: OfferID.init)
        let genuineApp = GenuineAppPolicy.read(&reader, of: proofs, at: .appStore)
        reader.finish()
        guard let place else {
            offer.note("appStore", "needs the plan's appStore, with the product")
            return nil
        }
        guard let offerID, let bundleID = place.bundleID, let productID = place.productID else { return nil }
        return AppStoreListing(
            bundleID: bundleID,
            productID: productID,
            subscriptionGroupID: place.groupID,
            offerID: offerID,
            genuineApp: genuineApp
        )
    }

    private func readGooglePlayOffer(
        _ offer: inout ObjectReader,
        _ place: BasePlanPlace?
    ) -> GooglePlayListed? {
        guard let store = offer.optional("googlePlay", "an object", as: { $0.object == nil ? nil : $0 })
        else { return nil }
        var reader = ObjectReader(store, into: mismatches)
        let offerID = reader.required("offerId", text: GooglePlayOfferID.init)
        let admitsNewCustomers = reader.optional("admitsNewCustomers", "true or false", as: \.bool) ?? false
        let genuineApp = GenuineAppPolicy.read(&reader, of: proofs, at: .googlePlay)
        reader.finish()
        guard let place else {
            offer.note("googlePlay", "needs the plan's googlePlay, with product and base plan")
            return nil
        }
        guard let offerID, let packageName = place.packageName, let productID = place.productID,
            let basePlanID = place.basePlanID
        else { return nil }
        let listing = GooglePlayOfferKey(
            packageName: packageName,
            productID: productID,
            basePlanID: basePlanID,
            offerID: offerID
        )
        return (listing, admitsNewCustomers, genuineApp)
    }

    private func readIntroductoryOffer(_ plan: inout ObjectReader, _ place: ProductPlace?) -> CatalogOffer? {
        guard let value = plan.member("introductoryOffer") else { return nil }
        if place == nil { plan.note("introductoryOffer", "is the App Store's own, and needs the plan's appStore") }
        if let place, place.productID != nil, !place.namesGroup {
            plan.note(
                "introductoryOffer",
                "needs the plan's appStore.subscriptionGroupId: a customer has one introductory offer in each group"
            )
        }
        var offer = ObjectReader(value, into: mismatches)
        let id = offer.required("id", text: CatalogOfferID.init)
        guard let (id, terms) = readTerms(&offer, id, hasFloor: false, isIntroductory: true),
            let bundleID = place?.bundleID,
            let productID = place?.productID, let groupID = place?.groupID
        else { return nil }
        return CatalogOffer(
            introductory: id,
            bundleID: bundleID,
            productID: productID,
            subscriptionGroupID: groupID,
            terms: terms
        )
    }

    /// Reads what every offer has beside its names, and finishes the offer; `nil` if its rule is invalid.
    private func readTerms(
        _ offer: inout ObjectReader,
        _ id: CatalogOfferID?,
        hasFloor: Bool,
        isIntroductory: Bool = false
    ) -> NamedTerms? {
        let eligibility = offer.member("eligibility")
        let type = isIntroductory ? OfferType.introductory : .promotional
        let rule = eligibility.flatMap { RuleFile.read($0, of: type, hasFloor: hasFloor, mismatches) }
        let freshness = readFreshness(&offer)
        let genuineApp = isIntroductory ? GenuineAppPolicy.read(&offer, of: proofs, at: .appStore) : .off
        // What is signed of an introductory offer is about an account that has to be shown.
        let admitsUnproven =
            isIntroductory ? nil : offer.optional("admitsUnprovenCustomers", "true or false", as: \.bool)
        offer.finish()
        if let id, !offerNames.insert(id.text).inserted {
            offer.note("id", "\(printable(id.text)) is the id of another offer of this app; caps count by this id")
        }
        guard let id, eligibility == nil || rule != nil else { return nil }
        let terms = OfferTerms(
            rule: rule,
            freshness: freshness,
            admitsUnprovenCustomers: admitsUnproven ?? false,
            genuineApp: genuineApp
        )
        return (id, terms)
    }

    private func readFreshness(_ offer: inout ObjectReader) -> FactFreshness {
        guard let value = offer.member("facts") else { return FactFreshness() }
        var reader = ObjectReader(value, into: mismatches)
        let hours = "a whole number of hours from 1 to 8760"
        func read(_ name: StaticString) -> Int? {
            reader.optional(name, hours) { $0.integer.flatMap { (1...8760).contains($0) ? Int($0) : nil } }
        }
        let freshness = FactFreshness(
            maximumAgeHours: read("maximumAgeHours"),
            knownAgeHours: read("whenStoreIsDownUseUpToHours")
        )
        reader.finish()
        return freshness
    }

    /// A request may use either name of an offer, so no name may mean two offers of one product.
    private func reportAmbiguousNames(_ offers: [CatalogOffer], _ plan: ObjectReader) {
        for store in Store.allCases {
            var owner: [String: CatalogOfferID] = [:]
            for offer in offers where offer.listing.store == store {
                for name in offer.names.sorted() {
                    if let other = owner.updateValue(offer.id, forKey: name), other != offer.id {
                        plan.note("offers", "\(printable(name)) names both \(other) and \(offer.id)")
                    }
                }
            }
        }
    }
}
