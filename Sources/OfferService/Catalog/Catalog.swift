// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import OfferDomain

/// Everything that may be given; nothing outside it ever is.
///
/// A class, because each request is handed it several times over and it never changes.
package final class Catalog: Sendable {
    /// Why the catalogue has no answer.
    package enum Missing: Error, Hashable, Sendable {
        case app, package, product, basePlan, offer, introductoryOffer
    }

    /// What the catalogue has for one product of the App Store.
    private struct Plan {
        /// Promotional offers by each of their names.
        var offers: [String: CatalogOffer] = [:]
        var introductoryOffer: CatalogOffer?

        mutating func add(_ offer: CatalogOffer, _ listing: AppStoreListing) {
            guard listing.offerID != nil else {
                introductoryOffer = offer
                return
            }
            for name in offer.names { offers[name] = offer }
        }
    }

    /// What names a plan at Google Play within an app.
    private struct BasePlan: Hashable {
        let productID: GooglePlayProductID
        let basePlanID: BasePlanID
    }

    private let plans: [BundleID: [ProductID: Plan]]
    private let basePlans: [PackageName: [BasePlan: [String: CatalogOffer]]]
    /// Those in the App Store, by bundle id.
    package let apps: [BundleID: AppStoreApp]
    /// Those at Google Play, by package name.
    package let googlePlayApps: [PackageName: GooglePlayApp]
    /// Over the bytes of the file; responses and records name the policy by it.
    package let digest: SHA256Digest
    /// The same as text, `sha256:` and 64 hex digits.
    package let policyName: String
    /// In the order of the file; what is in both stores is there twice.
    package let offers: [CatalogOffer]

    package init(
        apps: [AppStoreApp],
        googlePlayApps: [GooglePlayApp] = [],
        offers: [CatalogOffer],
        digest: SHA256Digest
    ) {
        var plans: [BundleID: [ProductID: Plan]] = [:]
        var basePlans: [PackageName: [BasePlan: [String: CatalogOffer]]] = [:]
        for offer in offers {
            switch offer.listing {
            case .appStore(let listing):
                plans[listing.bundleID, default: [:]][listing.productID, default: Plan()].add(offer, listing)
            case .googlePlay(let listing):
                let plan = BasePlan(productID: listing.productID, basePlanID: listing.basePlanID)
                for name in offer.names {
                    basePlans[listing.packageName, default: [:]][plan, default: [:]][name] = offer
                }
            }
        }
        self.plans = plans
        self.basePlans = basePlans
        self.apps = Dictionary(apps.map { ($0.bundleID, $0) }) { first, _ in first }
        self.googlePlayApps = Dictionary(googlePlayApps.map { ($0.packageName, $0) }) { first, _ in first }
        self.offers = offers
        self.digest = digest
        policyName = "sha256:\(digest.hex)"
    }
    /// What the ledger calls an app of Google Play; of one that isn't in the catalogue, its own name.
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
    /// The promotional offer of that product, by the store's identifier or by the catalogue's own.
    package func offer(
        _ offerID: OfferID,
        of productID: ProductID,
        in bundleID: BundleID
    ) throws(Missing) -> CatalogOffer {
        guard let offer = try plan(of: productID, in: bundleID).offers[offerID.text] else { throw .offer }
        return offer
    }

    /// The introductory offer of that product.
    package func introductoryOffer(of productID: ProductID, in bundleID: BundleID) throws(Missing) -> CatalogOffer {
        guard let offer = try plan(of: productID, in: bundleID).introductoryOffer else { throw .introductoryOffer }
        return offer
    }

    private func plan(of productID: ProductID, in bundleID: BundleID) throws(Missing) -> Plan {
        guard let products = plans[bundleID] else { throw .app }
        guard let plan = products[productID] else { throw .product }
        return plan
    }

    /// The offer that the store calls so, as a transaction names it; `nil` if the catalogue has none.
    package func storeOffer(
        _ offerID: OfferID,
        boughtWith productID: String,
        in bundleID: BundleID
    ) -> CatalogOffer? {
        guard let productID = try? ProductID(productID),
            let offer = plans[bundleID]?[productID]?.offers[offerID.text], offer.appStore?.offerID == offerID
        else { return nil }
        return offer
    }
}

// MARK: - Google Play

extension Catalog {
    /// The offer of that base plan, by the store's identifier or by the catalogue's own.
    package func googlePlayOffer(
        _ offerID: OfferID,
        of productID: GooglePlayProductID,
        basePlan basePlanID: BasePlanID,
        in packageName: PackageName
    ) throws(Missing) -> CatalogOffer {
        guard let plans = basePlans[packageName] else { throw .package }
        guard let offers = plans[BasePlan(productID: productID, basePlanID: basePlanID)] else {
            throw plans.keys.contains { $0.productID == productID } ? .basePlan : .product
        }
        guard let offer = offers[offerID.text] else { throw .offer }
        return offer
    }

    /// The offer that the store calls so, as a purchase names it; `nil` if the catalogue has none.
    package func googlePlayStoreOffer(
        _ offerID: GooglePlayOfferID,
        of productID: GooglePlayProductID,
        basePlan basePlanID: BasePlanID,
        in packageName: PackageName
    ) -> CatalogOffer? {
        let plan = BasePlan(productID: productID, basePlanID: basePlanID)
        guard let offer = basePlans[packageName]?[plan]?[offerID.text], offer.googlePlay?.offerID == offerID
        else { return nil }
        return offer
    }
}

extension Catalog {
    /// For which subscription Google Play's purchases are looked at, and of which type their offers are: what is in the
    /// catalogue is the developer's own, and what is not is for new customers, unless the ledger knows it from before.
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
            return offers[path.offerID]?.googlePlay?.offerID.text == path.offerID ? .promotional : .introductory
        }
    }
}

/// Something that can't be signed without an active key of this app and purpose.
package struct KeyNeed: Hashable, Sendable {
    package let bundleID: BundleID
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
