// SPDX-License-Identifier: Apache-2.0
import OfferDomain

/// One customer as far as a request for many offers lets the stores' knowledge be used.
struct PreviewedCustomer: Sendable {
    /// What the request brought, merged once.
    let knowledge: StoreKnowledge
    private let names: [(identity: CustomerIdentity, pseudonym: Pseudonym)]
    /// The store's accounts that the customer was shown to have; introductory offers are signed for these.
    private let accounts: [(identity: CustomerIdentity, pseudonym: Pseudonym)]
    private let request: EligibilityRequest
    private let caller: Caller
    private let appStore: KnownByStore?
    private let place: GooglePlayPlace?

    init(
        _ request: EligibilityRequest,
        _ caller: Caller,
        _ app: PreviewedApp,
        _ configuration: Snapshot,
        _ store: AppStore,
        at now: Timestamp
    ) throws(Refusal) {
        self.request = request
        self.caller = caller
        let pseudonyms = configuration.pseudonyms
        names = request.identities.map { ($0, pseudonyms.pseudonym(of: $0, in: app.name)) }
        place = app.googlePlay.map { GooglePlayPlace($0, pseudonyms, configuration.catalog) }
        if let bundleID = app.bundleID {
            appStore = try KnownByStore(preview: request, caller, bundleID, configuration, store, at: now)
        } else {
            appStore = nil
        }
        accounts = (appStore?.accounts ?? []).map { ($0, pseudonyms.pseudonym(of: $0, in: app.name)) }
        var knowledge = appStore?.knowledge ?? StoreKnowledge()
        knowledge.isVouchedFor = caller.role.mayAssertFacts
        if let place, caller.role.mayAssertFacts {
            knowledge.googlePlayPurchases = Set(request.purchaseTokens.map(place.keys.purchaseKey))
            knowledge.successions += place.keys.successions(of: request.purchaseTokens)
        }
        self.knowledge = knowledge
    }

    /// The names that count when one offer is decided: those that a request for this very offer could give.
    func identities(for offer: CatalogOffer) -> [(identity: CustomerIdentity, pseudonym: Pseudonym)] {
        switch offer.listing {
        case .appStore(let listing): listing.offerID == nil ? names + accounts : names
        case .googlePlay: names.filter(\.identity.isGivenAtGooglePlay)
        }
    }

    /// What is known when one offer is decided: no more than a request for this very offer could bring.
    func knowledge(for offer: CatalogOffer) -> StoreKnowledge {
        var knowledge = knowledge
        knowledge.report = nil
        switch offer.listing {
        case .appStore(let listing):
            if listing.offerID == nil { appStore?.bindToAccount(&knowledge) }
        case .googlePlay:
            var own = StoreKnowledge()
            own.isVouchedFor = knowledge.isVouchedFor
            own.googlePlayPurchases = knowledge.googlePlayPurchases
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

extension KnownByStore {
    /// The customer of a request for many offers, of which none is signed.
    convenience init(
        preview request: EligibilityRequest,
        _ caller: Caller,
        _ bundleID: BundleID,
        _ configuration: Snapshot,
        _ store: AppStore,
        at now: Timestamp
    ) throws(Refusal) {
        try self.init(
            SignatureRequest(preview: request, of: bundleID),
            caller,
            .app(bundleID),
            configuration,
            store,
            at: now
        )
    }
}
