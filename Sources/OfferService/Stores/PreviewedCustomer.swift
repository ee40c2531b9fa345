// SPDX-License-Identifier: Apache-2.0
import OfferDomain

/// One customer as far as a request for many offers lets the stores' knowledge be used.
struct PreviewedCustomer: Sendable {
    /// What the request brought, merged once.
    let knowledge: StoreKnowledge
    /// What the request calls the customer, where an offer in the App Store is decided, and one at Google Play.
    private let customerInAppStore: DecisionCustomer
    private let customerAtGooglePlay: DecisionCustomer
    private let request: EligibilityRequest
    private let caller: Caller
    private let appStore: KnownByStore?
    private let place: GooglePlayPlace?
    /// The names of the user whom a token proves.
    private let userNames: [PseudonymizedName]

    init(
        _ request: EligibilityRequest,
        _ caller: Caller,
        _ app: PreviewedApp,
        _ configuration: Snapshot,
        _ store: AppStore,
        at now: Timestamp
    ) async throws(Refusal) {
        self.request = request
        self.caller = caller
        let pseudonyms = configuration.pseudonyms
        customerInAppStore = DecisionCustomer(
            request.identities,
            isBelieved: caller.role.mayAssertFacts,
            binding: request.binding,
            pseudonyms,
            in: app.name
        )
        customerAtGooglePlay = DecisionCustomer(
            buying: request.identities.filter(\.isGivenAtGooglePlay),
            pseudonyms,
            in: app.name
        )
        place = app.googlePlay.map { GooglePlayPlace($0, pseudonyms, configuration.catalog) }
        if let bundleID = app.bundleID {
            let request = SignatureRequest(preview: request, of: bundleID)
            let members = try await store.verified(request, for: caller, of: bundleID, under: configuration, at: now)
            appStore = try KnownByStore(request, members, caller, .app(bundleID), configuration)
        } else {
            appStore = nil
        }
        var knowledge = appStore?.knowledge ?? StoreKnowledge()
        knowledge.add(caller.user, pseudonyms, in: app.name)
        knowledge.isVouchedFor = caller.role.mayAssertFacts
        if let place, caller.role.mayAssertFacts { Self.addPurchases(of: request, at: place, to: &knowledge) }
        userNames = caller.user?.names(under: pseudonyms, in: app.name) ?? []
        self.knowledge = knowledge
    }

    private static func addPurchases(
        of request: EligibilityRequest,
        at place: GooglePlayPlace,
        to knowledge: inout StoreKnowledge
    ) {
        knowledge.googlePlayPurchases = Set(request.purchaseTokens.map(place.keys.purchaseKey))
        knowledge.shownPurchases = request.purchaseTokens.map { place.keys.purchaseKey(of: $0).bytes }
        knowledge.successions += place.keys.successions(of: request.purchaseTokens)
    }

    /// The customer when one offer is decided: by those names that a request for this very offer could give.
    func customer(for offer: CatalogOffer) -> DecisionCustomer {
        switch offer.listing {
        case .appStore: customerInAppStore
        case .googlePlay: customerAtGooglePlay
        }
    }

    /// What is known when one offer is decided: no more than a request for this very offer could bring.
    func knowledge(for offer: CatalogOffer) -> StoreKnowledge {
        var knowledge = knowledge
        knowledge.report = nil
        switch offer.listing {
        case .appStore(let listing):
            knowledge.shownPurchases = []
            if listing.offerID == nil { appStore?.bindToAccount(&knowledge) }
        case .googlePlay:
            var own = StoreKnowledge()
            own.isVouchedFor = knowledge.isVouchedFor
            own.shownNames = userNames
            own.provesCustomer = knowledge.provesCustomer
            own.googlePlayPurchases = knowledge.googlePlayPurchases
            own.shownPurchases = knowledge.shownPurchases
            own.mayAsk = !request.purchaseTokens.isEmpty
            knowledge = own
        }
        return knowledge
    }

    /// What is known once that store was asked.
    func learn(
        _ needs: FactNeeds,
        from store: Store,
        for request: DecisionRequest,
        _ appStore: AppStore,
        _ purchases: any GooglePlayPurchaseSource,
        _ committer: Committer,
        _ log: Log
    ) async throws(Refusal) -> StoreKnowledge {
        switch (store, self.appStore, place) {
        case (.appStore, let customer?, _):
            return try await AppStoreAsked(customer: customer, store: appStore, log: log).learn(needs, for: request)
        case (.googlePlay, _, let place?):
            return try await GooglePlayAsked(
                tokens: self.request.purchaseTokens,
                caller: caller,
                place: place,
                purchases: purchases,
                committer: committer,
                refusesOthers: false,
                log: log
            ).learn(needs, for: request)
        default: return request.knowledge
        }
    }
}
