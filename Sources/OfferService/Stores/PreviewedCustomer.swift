// SPDX-License-Identifier: Apache-2.0
import OfferDomain

/// One customer as far as a request for many offers lets the stores' knowledge be used.
struct PreviewedCustomer: Sendable {
    let identities: [(identity: CustomerIdentity, pseudonym: Pseudonym)]
    /// What the request brought, merged once.
    let knowledge: StoreKnowledge
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
        identities = request.identities.map { ($0, configuration.pseudonyms.pseudonym(of: $0, in: app.name)) }
        place = app.googlePlay.map { GooglePlayPlace($0, configuration.pseudonyms, configuration.catalog) }
        if let bundleID = app.bundleID {
            appStore = try KnownByStore(preview: request, caller, bundleID, configuration, store, at: now)
        } else {
            appStore = nil
        }
        var knowledge = appStore?.knowledge ?? StoreKnowledge()
        knowledge.isVouchedFor = caller.role.mayAssertFacts
        if let place, caller.role.mayAssertFacts {
            knowledge.googlePlayPurchases = Set(request.purchaseTokens.map(place.keys.purchaseKey))
            knowledge.successions += place.keys.successions(of: request.purchaseTokens)
        }
        self.knowledge = knowledge
    }

    /// What is known when one offer is decided: for an introductory offer, an app's names prove nothing.
    func knowledge(for offer: CatalogOffer) -> StoreKnowledge {
        var knowledge = knowledge
        knowledge.report = nil
        switch offer.listing {
        case .appStore(let listing):
            if listing.offerID == nil { knowledge.believesNames = caller.role.mayAssertFacts }
        case .googlePlay: knowledge.mayAsk = !request.purchaseTokens.isEmpty
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
                log: log
            ).learn(needs, for: request)
        default: return request.knowledge
        }
    }
}

extension KnownByStore {
    /// The customer of a request for many offers, of which none is signed.
    init(
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
            bundleID,
            configuration,
            store,
            at: now
        )
    }
}
