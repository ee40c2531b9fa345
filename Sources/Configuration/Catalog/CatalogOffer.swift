// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import OfferDomain

/// Who may have an offer, whichever store it is in.
package struct OfferTerms: Sendable {
    /// The team's rule; without one, the store's own condition decides alone.
    package let rule: Rule?
    /// How old facts may be.
    package let freshness: FactFreshness
    /// Whether an app may get the offer for a customer whose identity nothing proves.
    package let admitsUnprovenCustomers: Bool
    /// Whether it is only for apps that prove themselves; a promotional offer of the App Store has it in its listing.
    package private(set) var genuineApp: GenuineAppPolicy
    /// Whether an offer at Google Play is for new customers too; the App Store itself admits none.
    package private(set) var admitsNewCustomers = false

    package init(
        rule: Rule?,
        freshness: FactFreshness = FactFreshness(),
        admitsUnprovenCustomers: Bool = false,
        genuineApp: GenuineAppPolicy = .off
    ) {
        self.rule = rule
        self.freshness = freshness
        self.admitsUnprovenCustomers = admitsUnprovenCustomers
        self.genuineApp = genuineApp
    }

    /// The same with what the offer has of its own at Google Play.
    func atGooglePlay(genuineApp: GenuineAppPolicy, admitsNewCustomers: Bool) -> OfferTerms {
        var terms = self
        terms.genuineApp = genuineApp
        terms.admitsNewCustomers = admitsNewCustomers
        return terms
    }
}

/// The plan that an offer is in, as far as it concerns the offer.
package struct CatalogPlan: Sendable {
    /// The app, as the ledger names it.
    package let app: AppName
    /// The App Store's group that the plan is in, if it names one; of a plan at Google Play alone, too.
    package let subscriptionGroupID: SubscriptionGroupID?

    /// A plan of that app.
    package init(app: AppName, subscriptionGroupID: SubscriptionGroupID? = nil) {
        self.app = app
        self.subscriptionGroupID = subscriptionGroupID
    }
}

/// What the stores call one entry of the file.
private struct EntryListings {
    /// In the store that the offer is in.
    let own: StoreListing
    /// In the other store, if the entry is there too.
    var other: StoreListing?
}

/// An offer that the team may give in one store: what it is called there, and who may have it.
///
/// An entry of the file that is in both stores makes two, of one id and one rule.
package final class CatalogOffer: Sendable {
    /// The team's own name of it, unique within the app; caps count under this name.
    package let id: CatalogOfferID
    /// The app, as the ledger names it.
    package let app: AppName
    /// What the store that the offer is in calls it.
    package let listing: StoreListing
    /// How the App Store knows it; `nil` of an offer at Google Play.
    package let appStore: AppStoreListing?
    /// How Google Play knows it; `nil` of an offer in the App Store.
    package let googlePlay: GooglePlayOfferKey?
    /// How the App Store knows the entry, whichever store this offer is in.
    package let inAppStore: AppStoreListing?
    /// How Google Play knows the entry, whichever store this offer is in.
    package let inGooglePlay: GooglePlayOfferKey?
    /// The App Store's group that the plan is in, if it names one; of an offer at Google Play alone, too.
    package let subscriptionGroupID: SubscriptionGroupID?
    /// Who may have it: made of the rule and of the store's own condition.
    package let policy: EligibilityPolicy
    /// What the policy needs to know from the ledger.
    package let needs: LedgerNeeds
    /// What the policy needs to know of the customer's history with the store.
    package let factNeeds: FactNeeds
    /// The attributes that the rule reads, each once.
    package let attributeNames: [String]
    /// How old the facts may be.
    package let freshness: FactFreshness
    /// Whether it is only for apps that prove themselves.
    package let genuineApp: GenuineAppPolicy
    /// The key of this offer in the ledger: 64 bits of a digest over app, own id and store, so that the ledger needs
    /// no table of names and every instance comes to the same number.
    package let ledgerKey: Int64
    /// How the other store knows the same entry; `nil` if it is in one.
    package let otherListing: StoreListing?
    /// The key of the same entry in the other store; `nil` if it is in one.
    package let otherStoreKey: Int64?
    /// What its rules found, in the words that answers have for it.
    package let findingTexts = FindingTexts()

    /// A promotional offer in the App Store, and what the entry is at Google Play, if it is there too.
    package convenience init(
        id: CatalogOfferID,
        listing: AppStoreListing,
        atGooglePlay other: GooglePlayOfferKey? = nil,
        terms: OfferTerms
    ) {
        self.init(
            id,
            in: CatalogPlan(app: AppName(listing.bundleID), subscriptionGroupID: listing.subscriptionGroupID),
            listings: EntryListings(own: .appStore(listing), other: other.map(StoreListing.googlePlay)),
            policy: EligibilityPolicy(rule: terms.rule, admitsUnprovenCustomers: terms.admitsUnprovenCustomers),
            terms: terms
        )
    }

    /// The introductory offer of a product; without a rule it is for those who have used none in the product's group.
    package convenience init(
        introductory id: CatalogOfferID,
        bundleID: BundleID,
        productID: ProductID,
        subscriptionGroupID: SubscriptionGroupID,
        terms: OfferTerms
    ) {
        let policy = EligibilityPolicy.introductoryOffer(rule: terms.rule, in: subscriptionGroupID)
        let listing = AppStoreListing(
            bundleID: bundleID,
            productID: productID,
            subscriptionGroupID: subscriptionGroupID,
            offerID: nil,
            genuineApp: terms.genuineApp
        )
        self.init(
            id,
            in: CatalogPlan(app: AppName(bundleID), subscriptionGroupID: subscriptionGroupID),
            listings: EntryListings(own: .appStore(listing)),
            policy: policy,
            terms: terms
        )
    }

    /// A developer-determined offer at Google Play, which enforces nothing.
    ///
    /// Unless the terms admit new customers, it is for current and past subscribers, as the App Store's own are.
    package convenience init(
        id: CatalogOfferID,
        in plan: CatalogPlan,
        listing: GooglePlayOfferKey,
        inAppStore other: AppStoreListing? = nil,
        terms: OfferTerms
    ) {
        let policy = EligibilityPolicy(
            rule: terms.rule,
            hasFloor: !terms.admitsNewCustomers,
            admitsUnprovenCustomers: terms.admitsUnprovenCustomers
        )
        self.init(
            id,
            in: plan,
            listings: EntryListings(own: .googlePlay(listing), other: other.map(StoreListing.appStore)),
            policy: policy,
            terms: terms
        )
    }

    private init(
        _ id: CatalogOfferID,
        in plan: CatalogPlan,
        listings: EntryListings,
        policy: EligibilityPolicy,
        terms: OfferTerms
    ) {
        let (app, listing, otherListing) = (plan.app, listings.own, listings.other)
        self.id = id
        self.app = app
        self.listing = listing
        self.otherListing = otherListing
        appStore = listing.appStore
        googlePlay = listing.googlePlay
        inAppStore = listing.appStore ?? otherListing?.appStore
        inGooglePlay = listing.googlePlay ?? otherListing?.googlePlay
        subscriptionGroupID = plan.subscriptionGroupID
        self.policy = policy
        needs = policy.needs
        factNeeds = policy.factNeeds
        attributeNames = AttributeNeeds(policy.rule.map { [$0] } ?? []).names
        freshness = terms.freshness
        genuineApp = listing.appStore?.genuineApp ?? terms.genuineApp
        let keys = (
            appStore: Self.ledgerKey(of: id, for: app, in: .appStore),
            googlePlay: Self.ledgerKey(of: id, for: app, in: .googlePlay)
        )
        switch listing {
        case .appStore:
            ledgerKey = keys.appStore
            otherStoreKey = otherListing.map { _ in keys.googlePlay }
        case .googlePlay:
            ledgerKey = keys.googlePlay
            otherStoreKey = otherListing.map { _ in keys.appStore }
        }
    }

    /// The names by which requests may ask for it: its own, and the store's.
    package var names: Set<String> {
        switch listing {
        case .appStore(let listing): [id.text, listing.offerID?.text ?? id.text]
        case .googlePlay(let listing): [id.text, listing.offerID.text]
        }
    }

    private static func ledgerKey(of id: CatalogOfferID, for app: AppName, in store: Store) -> Int64 {
        var bytes = Array(app.text.utf8) + [0] + Array(id.text.utf8)
        if store == .googlePlay { bytes += [0] + Array(store.rawValue.utf8) }
        return SHA256.digest(of: bytes).bytes.prefix(8).reduce(0) { $0 << 8 | Int64($1) }
    }
}

extension CatalogOffer {
    /// What its store can be asked for.
    ///
    /// Of refunds at Google Play, which no answer tells, only whether they are this customer's, and all of them.
    package var tellableFacts: FactNeeds {
        switch listing {
        case .appStore: FactNeeds.fromStatuses.union(.fromHistory)
        case .googlePlay:
            FactNeeds.fromStatuses.union(.fromHistory).union([.region, .cancellation, .priceStepUpConsent])
                .subtracting(.ofAppStore)
        }
    }
}
