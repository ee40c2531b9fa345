// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain

/// What is known of one customer in each store that an offer's entry is in, and what follows for the offer.
struct StoreHistories {
    private let request: DecisionRequest
    /// `nil` of a store that the entry isn't in.
    var appStore: SubscriptionHistory?
    var googlePlay: GooglePlayHistory?
    /// Offers at Google Play that the catalog no longer has, and that were developer-determined while it had them.
    var formerOffers: Set<GooglePlayOfferPath> = []

    init(_ request: DecisionRequest) {
        self.request = request
    }

    /// The facts that the rules read: those of the offer's own store, joined with those of the other store.
    var facts: CustomerFacts {
        switch (request.offer.listing, request.offer.otherListing) {
        case (.appStore, nil): appStoreFacts
        case (.googlePlay, nil): googlePlayFacts
        case (.appStore, .some): ownAppStoreFacts.joined(with: googlePlayFacts)
        case (.googlePlay, .some): googlePlayFacts.joinedWithPast(of: appStoreFacts)
        }
    }

    /// The group of the customer's newest subscription in the App Store, if the offer's group is another one.
    var otherGroup: SubscriptionGroupID? {
        guard case .appStore(let listing) = request.offer.listing, let group = listing.subscriptionGroupID else {
            return nil
        }
        return appStore?.otherGroup(than: group)
    }

    /// What the offer's own store can be asked for.
    var tellableFacts: FactNeeds {
        let tellable = request.offer.tellableFacts
        guard let googlePlay, case .googlePlay = request.offer.listing else { return tellable }
        return canTellRefunds(googlePlay) ? tellable : tellable.subtracting(.refunds)
    }

    /// The keys of the subscription that the offer is for, in its own store.
    ///
    /// In the App Store, they include the chains that the customer moved from or to. At Google Play, they include purchases
    /// that the request names and that the service has not read yet.
    var subscriptions: [[UInt8]] {
        switch request.offer.listing {
        case .appStore(let listing):
            let chain = appStore?.relevantChain(
                group: listing.subscriptionGroupID,
                productID: listing.productID,
                environment: environment,
                at: request.receivedAt
            )
            guard let appStore, let chain else { return [] }
            return appStore.linked(to: chain).map(\.bytes)
        case .googlePlay:
            guard let googlePlay, let scope = request.googlePlayScope else { return [] }
            let known = googlePlay.relevantPurchases(scope.within(environment), at: request.receivedAt)
            let unread = request.knowledge.googlePlayPurchases.subtracting(googlePlay.purchases.keys)
            return Set(known).union(unread).sorted().map(\.bytes)
        }
    }

    /// The keys of all purchases that are known to be the customer's, in whatever group or product.
    var purchases: [[UInt8]] {
        (appStore?.chains.keys.map(\.bytes) ?? []) + (googlePlay?.purchases.keys.map(\.bytes) ?? [])
    }

    /// The environment in both stores, so that test purchases in one never count beside real ones in the other; `nil`
    /// if the entry is in one store only.
    private var environment: StoreEnvironment? {
        guard let appStore, let googlePlay else { return nil }
        return appStore.isOfProduction || googlePlay.isOfProduction ? .production : .sandbox
    }

    private var appStoreFacts: CustomerFacts {
        guard let appStore, let listing = request.offer.inAppStore else { return CustomerFacts() }
        return fresh(
            appStore.facts(
                group: listing.subscriptionGroupID,
                productID: listing.productID,
                environment: environment,
                at: request.receivedAt
            )
        )
    }

    /// The App Store's facts; while the App Store may know more, missing facts count as unknown, not as absent.
    private var ownAppStoreFacts: CustomerFacts {
        let facts = appStoreFacts
        guard canTellMore, !facts.hasSubscription, facts.statusesReadAt == nil else { return facts }
        return facts.open(at: request.receivedAt)
    }

    private var googlePlayFacts: CustomerFacts {
        guard let googlePlay, let asked = request.googlePlayScope else { return CustomerFacts() }
        let scope = asked.within(environment).taking(formerOffers)
        let facts = fresh(googlePlay.facts(scope, at: request.receivedAt))
        return canTellMore && !hasReadAll(googlePlay) ? facts.open(at: request.receivedAt) : facts
    }

    /// Whether the offer's own store could be asked, or was and did not answer.
    private var canTellMore: Bool { request.knowledge.mayAsk || request.knowledge.isStoreDown }

    /// Whether each purchase that the request names is known, and newly enough; of those that an app names, none is
    /// before it was asked for.
    private func hasReadAll(_ history: GooglePlayHistory) -> Bool {
        guard case .googlePlay = request.offer.listing else { return true }
        let named = request.knowledge.googlePlayPurchases
        return !named.isEmpty
            && named.allSatisfy { key in
                guard let purchase = history.purchases[key], let observedAt = purchase.observedAt else { return false }
                return !isTooOld(purchase.source, observedAt)
            }
    }

    /// Whether an answer of Google Play may help to know all refunds, although it has none: it can show that purchases
    /// that messages reported are this customer's, or are unchanged.
    ///
    /// A purchase that no message reported leaves the refunds open, and so does a purchase that is not known yet.
    private func canTellRefunds(_ history: GooglePlayHistory) -> Bool {
        guard !hasReadAll(history), let scope = request.googlePlayScope,
            request.knowledge.googlePlayPurchases.isSubset(of: history.purchases.keys)
        else { return false }
        let facts = history.facts(scope.within(environment), at: request.receivedAt)
        return facts.refundsSeen == nil || facts.refundsReportedSince != nil
    }

    /// Leaves out what is too old for the offer.
    private func fresh(_ facts: CustomerFacts) -> CustomerFacts { facts.forgetting(isTooOld) }

    private func isTooOld(_ source: FactSource, _ observedAt: Timestamp) -> Bool {
        let limit = request.offer.freshness.limit(for: source, isStoreDown: request.knowledge.isStoreDown)
        guard let hours = limit else { return false }
        return observedAt < request.receivedAt.adding(hours: -hours)
    }
}
