// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import JSON
package import OfferDomain

/// Everything that may be given; nothing outside it ever is.
///
/// A class, because each request is handed it several times over and it never changes.
package final class Catalog: Sendable {
    /// Why the catalog has no answer.
    package enum Missing: Error, Hashable, Sendable {
        case app, package, product, basePlan, offer, introductoryOffer
    }

    /// What names an offer of the App Store; of plain texts, which are hashed and compared with less ado.
    private struct Name: Hashable {
        private let bundleID: String
        private let productID: String
        /// `nil` for the introductory offer of the product, which has none.
        private let offer: String?

        init(offer: String?, of productID: ProductID, in bundleID: BundleID) {
            self.bundleID = bundleID.text
            self.productID = productID.text
            self.offer = offer
        }
    }

    /// What names a plan at Google Play within an app.
    private struct BasePlan: Hashable {
        let productID: GooglePlayProductID
        let basePlanID: BasePlanID
    }

    /// Those in the App Store; promotional offers by each of their names.
    private let offersByName: [Name: ListedOffer<AppStoreListing>]
    /// The products of each app that have such an offer, to tell what is missing.
    private let products: [BundleID: Set<ProductID>]
    private let basePlans: [PackageName: [BasePlan: [String: ListedOffer<GooglePlayOfferKey>]]]
    /// Those in the App Store, by bundle id.
    package let apps: [BundleID: AppStoreApp]
    /// Those at Google Play, by package name.
    package let googlePlayApps: [PackageName: GooglePlayApp]
    private let policies: AppPolicies
    /// Over the bytes of the file; responses and records name the policy by it.
    package let digest: SHA256Digest
    /// The same as text, `sha256:` and 64 hex digits.
    package let policyName: String
    /// In the order of the file; what is in both stores is there twice.
    package let offers: [CatalogOffer]

    /// Puts together what was read of the offers file; `digest` is over the bytes of the file.
    package init(
        apps: [AppStoreApp],
        googlePlayApps: [GooglePlayApp] = [],
        offers: [CatalogOffer],
        policies: AppPolicies = AppPolicies(),
        digest: SHA256Digest
    ) {
        var offersByName: [Name: ListedOffer<AppStoreListing>] = [:]
        var products: [BundleID: Set<ProductID>] = [:]
        var basePlans: [PackageName: [BasePlan: [String: ListedOffer<GooglePlayOfferKey>]]] = [:]
        for offer in offers {
            switch offer.listing {
            case .appStore(let listing):
                products[listing.bundleID, default: []].insert(listing.productID)
                let names: [String?] = listing.offerID == nil ? [nil] : Array(offer.names)
                for name in names {
                    let listed = ListedOffer(offer: offer, listing: listing)
                    offersByName[Name(offer: name, of: listing.productID, in: listing.bundleID)] = listed
                }
            case .googlePlay(let listing):
                let plan = BasePlan(productID: listing.productID, basePlanID: listing.basePlanID)
                for name in offer.names {
                    let listed = ListedOffer(offer: offer, listing: listing)
                    basePlans[listing.packageName, default: [:]][plan, default: [:]][name] = listed
                }
            }
        }
        self.offersByName = offersByName
        self.products = products
        self.basePlans = basePlans
        self.apps = Dictionary(apps.map { ($0.bundleID, $0) }) { first, _ in first }
        self.googlePlayApps = Dictionary(googlePlayApps.map { ($0.packageName, $0) }) { first, _ in first }
        self.offers = offers
        self.policies = policies.lookingAtProofs(of: offers)
        self.digest = digest
        policyName = "sha256:\(digest.hex)"
    }

    /// How an app's customers may be called.
    package func customerPolicy(of app: AppName) -> CustomerPolicy { policies.customers[app] ?? CustomerPolicy() }

    /// The attributes that rules of an app's offers read.
    package func attributeNeeds(of app: AppName) -> AttributeNeeds {
        AttributeNeeds(offers.filter { $0.app == app }.compactMap(\.policy.rule))
    }

    /// The facts that rules of an app's offers read, and the App Store's own conditions.
    package func factNeeds(of app: AppName) -> FactNeeds {
        offers.filter { $0.app == app }.reduce([]) { $0.union($1.factNeeds) }
    }

    /// The App Attest settings of the app; `nil` if the catalog has none.
    package func appAttest(of bundleID: BundleID) -> AppAttestSettings? { policies.appAttest[bundleID] }

    /// Whether a proof of that app's counts anywhere: its own policy or an offer's says so.
    package func looksAtProofs(of bundleID: BundleID) -> Bool { policies.lookedAt.contains(bundleID) }

    /// The Play Integrity settings of the app; `nil` if the catalog has none.
    package func playIntegrity(of packageName: PackageName) -> PlayIntegritySettings? {
        policies.playIntegrity[packageName]
    }

    /// The same of an app at Google Play.
    package func looksAtProofs(of packageName: PackageName) -> Bool { policies.lookedAtInPlay.contains(packageName) }

    /// The app of that bundle id, with what the App Store may show to its subscribers; `nil` if there is nothing.
    package func retention(of bundleID: ArraySlice<UInt8>) -> (app: AppStoreApp, shown: AppRetention)? {
        guard let (id, shown) = policies.retention.first(where: { $0.key.text.utf8.elementsEqual(bundleID) }),
            let app = apps[id]
        else { return nil }
        return (app, shown)
    }

    /// What the App Store may show to the app's subscribers; `nil` if there is nothing.
    package func retention(of bundleID: BundleID) -> AppRetention? { policies.retention[bundleID] }

    /// The ledger's name of an app of Google Play; for an app that isn't in the catalog, its package name.
    package func ledgerName(of packageName: PackageName) -> AppName {
        googlePlayApps[packageName]?.name ?? AppName(packageName)
    }

    /// What an active key is needed for, each once, in the order of app and purpose.
    package var keyNeeds: [KeyNeed] {
        let needs = offers.compactMap(\.appStore).map { KeyNeed(bundleID: $0.bundleID, purpose: $0.purpose) }
        return Set(needs).sorted { ($0.bundleID.text, $0.purpose.rawValue) < ($1.bundleID.text, $1.purpose.rawValue) }
    }
}

// MARK: - The App Store

extension Catalog {
    /// The promotional offer of that product, by the store's identifier or by the catalog's own.
    package func offer(
        _ offerID: OfferID,
        of productID: ProductID,
        in bundleID: BundleID
    ) throws(Missing) -> ListedOffer<AppStoreListing> {
        guard let offer = offersByName[Name(offer: offerID.text, of: productID, in: bundleID)] else {
            throw missing(productID, bundleID) ?? .offer
        }
        return offer
    }

    /// The introductory offer of that product.
    package func introductoryOffer(
        of productID: ProductID,
        in bundleID: BundleID
    ) throws(Missing) -> ListedOffer<AppStoreListing> {
        guard let offer = offersByName[Name(offer: nil, of: productID, in: bundleID)] else {
            throw missing(productID, bundleID) ?? .introductoryOffer
        }
        return offer
    }

    /// Which of app and product has no offer at all; `nil` if both have one.
    private func missing(_ productID: ProductID, _ bundleID: BundleID) -> Missing? {
        guard let products = products[bundleID] else { return .app }
        return products.contains(productID) ? nil : .product
    }

    /// The offer that the store calls so, as a transaction names it; `nil` if the catalog has none.
    package func storeOffer(
        _ offerID: OfferID,
        boughtWith productID: String,
        in bundleID: BundleID
    ) -> CatalogOffer? {
        guard let productID = try? ProductID(productID),
            let listed = offersByName[Name(offer: offerID.text, of: productID, in: bundleID)],
            listed.listing.offerID == offerID
        else { return nil }
        return listed.offer
    }
}

extension Catalog {
    /// The App Store product or offer that the caller most likely meant; it never suggests an app.
    package func near(
        _ missing: Missing,
        _ offerID: OfferID?,
        of productID: ProductID,
        in bundleID: BundleID
    ) -> String? {
        switch missing {
        case .product:
            return nearest(to: productID.text, among: (products[bundleID] ?? []).map(\.text).sorted())
        case .offer:
            let names = offers.filter { offer in
                guard let listing = offer.appStore, listing.offerID != nil else { return false }
                return listing.bundleID == bundleID && listing.productID == productID
            }.flatMap { Array($0.names) }
            return offerID.flatMap { nearest(to: $0.text, among: names.sorted()) }
        case .app, .package, .basePlan, .introductoryOffer: return nil
        }
    }
}

// MARK: - Google Play

extension Catalog {
    /// The offer of that base plan, by the store's identifier or by the catalog's own.
    package func googlePlayOffer(
        _ offerID: OfferID,
        of productID: GooglePlayProductID,
        basePlan basePlanID: BasePlanID,
        in packageName: PackageName
    ) throws(Missing) -> ListedOffer<GooglePlayOfferKey> {
        guard let plans = basePlans[packageName] else { throw .package }
        guard let offers = plans[BasePlan(productID: productID, basePlanID: basePlanID)] else {
            throw plans.keys.contains { $0.productID == productID } ? .basePlan : .product
        }
        guard let offer = offers[offerID.text] else { throw .offer }
        return offer
    }

    /// The offer that the store calls so, as a purchase names it; `nil` if the catalog has none.
    package func googlePlayStoreOffer(
        _ offerID: GooglePlayOfferID,
        of productID: GooglePlayProductID,
        basePlan basePlanID: BasePlanID,
        in packageName: PackageName
    ) -> CatalogOffer? {
        let plan = BasePlan(productID: productID, basePlanID: basePlanID)
        guard let listed = basePlans[packageName]?[plan]?[offerID.text], listed.listing.offerID == offerID
        else { return nil }
        return listed.offer
    }
}

extension Catalog {
    /// The subscription whose Google Play purchases count for the offer, and the type of their offers: an offer in the
    /// catalog is promotional, and any other is introductory, unless the ledger knows it from before.
    package func googlePlayScope(of offer: CatalogOffer) -> GooglePlayScope? {
        guard let key = offer.inGooglePlay else { return nil }
        return googlePlayScope(of: key)
    }

    private func googlePlayScope(of key: GooglePlayOfferKey) -> GooglePlayScope {
        GooglePlayScope(productID: key.productID) { [basePlans] path in
            guard let productID = try? GooglePlayProductID(path.productID),
                let basePlanID = try? BasePlanID(path.basePlanID),
                let offers = basePlans[key.packageName]?[BasePlan(productID: productID, basePlanID: basePlanID)]
            else { return .introductory }
            return offers[path.offerID]?.listing.offerID.text == path.offerID ? .promotional : .introductory
        }
    }
}

/// An offer of the catalog that was found by what one store calls it.
package struct ListedOffer<Listing: Sendable>: Sendable {
    /// The offer with its rules.
    package let offer: CatalogOffer
    /// What the store calls it.
    package let listing: Listing
}

/// What holds for all offers of an app.
package struct AppPolicies: Sendable {
    var customers: [AppName: CustomerPolicy] = [:]
    var appAttest: [BundleID: AppAttestSettings] = [:]
    var playIntegrity: [PackageName: PlayIntegritySettings] = [:]
    private(set) var lookedAt: Set<BundleID> = []
    private(set) var lookedAtInPlay: Set<PackageName> = []
    /// What the App Store may show to subscribers who are about to cancel.
    var retention: [BundleID: AppRetention] = [:]

    package init() {}

    init(
        customers: [(AppName, CustomerPolicy)],
        appAttest: [(BundleID, AppAttestSettings)],
        playIntegrity: [(PackageName, PlayIntegritySettings)],
        retention: [(BundleID, AppRetention)]
    ) {
        self.customers = Dictionary(customers) { first, _ in first }
        self.appAttest = Dictionary(appAttest) { first, _ in first }
        self.playIntegrity = Dictionary(playIntegrity) { first, _ in first }
        self.retention = Dictionary(retention) { first, _ in first }
    }
}

extension AppPolicies {
    fileprivate func lookingAtProofs(of offers: [CatalogOffer]) -> AppPolicies {
        var policies = self
        let listings = offers.compactMap(\.appStore).filter { $0.genuineApp != .off }
        policies.lookedAt = Set(appAttest.filter { $0.value.policy != .off }.keys)
            .union(listings.map(\.bundleID).filter { appAttest[$0] != nil })
        let inPlay = offers.filter { $0.genuineApp != .off }.compactMap(\.googlePlay?.packageName)
        policies.lookedAtInPlay = Set(playIntegrity.filter { $0.value.policy != .off }.keys)
            .union(inPlay.filter { playIntegrity[$0] != nil })
        return policies
    }
}

/// Something that can't be signed without an active key of this app and purpose.
package struct KeyNeed: Hashable, Sendable {
    /// The app.
    package let bundleID: BundleID
    /// What is to be signed for the app.
    package let purpose: KeyPurpose

    package init(bundleID: BundleID, purpose: KeyPurpose) {
        self.bundleID = bundleID
        self.purpose = purpose
    }
}

extension KeyRing {
    /// Those of the needs that no active key fills.
    package func unfilled(_ needs: [KeyNeed]) -> [KeyNeed] {
        needs.filter { activeKey(for: $0.bundleID, purpose: $0.purpose) == nil }
    }
}
