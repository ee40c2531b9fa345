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
    /// The identifier in App Store Connect; `nil` of an introductory offer, which has none.
    package let storeOfferID: OfferID?
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

    /// A promotional offer.
    package convenience init(
        id: CatalogOfferID,
        bundleID: BundleID,
        productID: ProductID,
        subscriptionGroupID: SubscriptionGroupID?,
        storeOfferID: OfferID,
        rule: Rule?,
        freshness: FactFreshness = FactFreshness()
    ) {
        self.init(
            id,
            bundleID,
            productID,
            subscriptionGroupID,
            storeOfferID: storeOfferID,
            EligibilityPolicy(rule: rule),
            freshness
        )
    }

    /// The introductory offer of a product; without a rule it is for those who have used none in the product's group.
    package convenience init(
        introductory id: CatalogOfferID,
        bundleID: BundleID,
        productID: ProductID,
        subscriptionGroupID: SubscriptionGroupID,
        rule: Rule?,
        freshness: FactFreshness = FactFreshness()
    ) {
        let policy = EligibilityPolicy.introductoryOffer(rule: rule, in: subscriptionGroupID)
        self.init(id, bundleID, productID, subscriptionGroupID, storeOfferID: nil, policy, freshness)
    }

    private init(
        _ id: CatalogOfferID,
        _ bundleID: BundleID,
        _ productID: ProductID,
        _ subscriptionGroupID: SubscriptionGroupID?,
        storeOfferID: OfferID?,
        _ policy: EligibilityPolicy,
        _ freshness: FactFreshness
    ) {
        self.id = id
        self.bundleID = bundleID
        self.productID = productID
        self.subscriptionGroupID = subscriptionGroupID
        self.storeOfferID = storeOfferID
        self.policy = policy
        needs = policy.needs
        factNeeds = policy.factNeeds
        self.freshness = freshness
        ledgerKey = Self.ledgerKey(bundleID, id)
    }

    /// What a key is used for when this offer is signed.
    package var purpose: KeyPurpose { storeOfferID == nil ? .introductoryOfferEligibility : .promotionalOffer }

    private static func ledgerKey(_ bundleID: BundleID, _ id: CatalogOfferID) -> Int64 {
        let digest = SHA256.digest(of: Array(bundleID.text.utf8) + [0] + Array(id.text.utf8))
        return digest.bytes.prefix(8).reduce(0) { $0 << 8 | Int64($1) }
    }
}

/// Everything that may be signed; nothing outside it ever is.
package struct Catalog: Sendable {
    /// Why the catalogue has no answer.
    package enum Missing: Error, Hashable, Sendable {
        case app, product, offer, introductoryOffer
    }

    /// What the catalogue has for one product.
    private struct Plan {
        /// Promotional offers by each of their names.
        var offers: [String: CatalogOffer] = [:]
        var introductoryOffer: CatalogOffer?

        mutating func add(_ offer: CatalogOffer) {
            guard let storeOfferID = offer.storeOfferID else {
                introductoryOffer = offer
                return
            }
            offers[offer.id.text] = offer
            offers[storeOfferID.text] = offer
        }
    }

    private let plans: [BundleID: [ProductID: Plan]]
    /// By bundle id.
    package let apps: [BundleID: AppStoreApp]
    /// Over the bytes of the file; responses and records name the policy by it.
    package let digest: SHA256Digest
    /// The same as text, `sha256:` and 64 hex digits.
    package let policyName: String
    /// In the order of the file.
    package let offers: [CatalogOffer]

    package init(apps: [AppStoreApp], offers: [CatalogOffer], digest: SHA256Digest) {
        var plans: [BundleID: [ProductID: Plan]] = [:]
        for offer in offers { plans[offer.bundleID, default: [:]][offer.productID, default: Plan()].add(offer) }
        self.plans = plans
        self.apps = Dictionary(apps.map { ($0.bundleID, $0) }) { first, _ in first }
        self.offers = offers
        self.digest = digest
        policyName = "sha256:\(digest.hex)"
    }

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
            let offer = plans[bundleID]?[productID]?.offers[offerID.text], offer.storeOfferID == offerID
        else { return nil }
        return offer
    }

    package var bundleIDs: Set<BundleID> { Set(plans.keys) }

    /// What an active key is needed for, each once, in the order of app and purpose.
    package var keyNeeds: [KeyNeed] {
        Set(offers.map { KeyNeed(bundleID: $0.bundleID, purpose: $0.purpose) }).sorted {
            ($0.bundleID.text, $0.purpose.rawValue) < ($1.bundleID.text, $1.purpose.rawValue)
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
