// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Ledger
import OfferDomain
import ServiceRuntime
import Stores

/// Tells which offers one customer could have, by the same decisions that grant them; reserves and signs nothing.
package final class PreviewEligibility: Sendable {
    private let decider: OfferDecider
    private let seal: Seal
    private let store: AppStore
    private let playCatalogs: PlayCatalogs
    private let purchases: any GooglePlayPurchaseSource
    private let log: Log

    init(decider: OfferDecider, seal: Seal, stores: StoreClients, purchases: any GooglePlayPurchaseSource, log: Log) {
        self.decider = decider
        self.seal = seal
        (store, playCatalogs) = (stores.appStore, stores.playCatalogs)
        self.purchases = purchases
        self.log = log
    }

    private var committer: Committer { decider.committer }

    /// Answers one request, in the order of the catalog.
    package func offerPreviews(
        _ request: EligibilityRequest,
        in context: RequestContext
    ) async throws(Refusal) -> [EligibilityPreview] {
        for (name, named) in PreviewedApp.names(request, context.catalog) {
            try context.caller.authorize(name, named: named, assertions: request.customer.assertions)
        }
        let app = try PreviewedApp(request, context.snapshot)
        try context.catalog.customerPolicy(of: app.name).admit(request.customer.customerID)
        let offers = try app.offers(request, context.catalog)
        let customer = try await PreviewCustomer(request, of: app, at: store, in: context, log: log)
        try decider.admission.admit(context.caller, about: customer.knowledge.shownSubjects)
        let terms = GrantTerms(id: context.id, at: context.receivedAt)
        let requests = offers.map { offer in
            DecisionRequest(
                from: context.origin(of: offer),
                offer: offer,
                customer: customer.customer(for: offer),
                knowledge: customer.knowledge(for: offer),
                terms: terms
            )
        }
        let preview = OfferPreview(requests: requests, knowledge: customer.knowledge)
        let previewed = try await decided(preview, about: customer)
        let faults = await googlePlayObstacles(of: offers, in: app, request, at: context.receivedAt)
        // Asked last, so that a new seal counts. Not asked of `keyUseGuard`: it does not know what can't be recorded.
        let isSealed = seal.isSealed || committer.keyUseGuard.isCutOff
        return zip(offers, previewed).map { offer, previewed in
            let obstacle =
                previewed.isStoreSilent
                ? .storeUnavailable
                : faults[offer.ledgerKey] ?? proofObstacle(offer, context)
                    ?? keyObstacle(offer, context.snapshot.keyRing)
            let shown = isSealed ? .sealed : obstacle
            return EligibilityPreview(offer: offer, decision: previewed.decision, obstacle: shown)
        }
    }

    /// Decided on what is known; each store is asked once, if what it knows may make a difference.
    private func decided(
        _ preview: OfferPreview,
        about customer: PreviewCustomer
    ) async throws(Refusal) -> [PreviewedOffer] {
        let first = try await previewed(preview)
        var fetched: [Store: StoreKnowledge] = [:]
        for store in Store.allCases {
            let asking = zip(preview.requests, first).filter { $0.0.offer.listing.store == store }
            let needs = asking.reduce(FactNeeds()) { $0.union($1.1.storeNeeds) }
            guard !needs.isEmpty, let request = asking.first(where: { !$0.1.storeNeeds.isEmpty })?.0 else { continue }
            fetched[store] = try await fetch(needs, from: store, for: request, about: customer)
        }
        guard !fetched.isEmpty else { return first }
        let requests = preview.requests.map { request in
            fetched[request.offer.listing.store].map { request.with(request.knowledge.adding(answersOf: $0)) }
                ?? request
        }
        var knowledge = StoreKnowledge()
        for store in Store.allCases { knowledge.reports[store] = fetched[store]?.reports[store] }
        return try await previewed(OfferPreview(requests: requests, knowledge: knowledge))
    }

    private func previewed(_ preview: OfferPreview) async throws(Refusal) -> [PreviewedOffer] {
        do { return try await committer.preview(preview) } catch { throw .service(ServiceFault(error)) }
    }

    /// What is known after that store was asked.
    private func fetch(
        _ needs: FactNeeds,
        from store: Store,
        for request: DecisionRequest,
        about customer: PreviewCustomer
    ) async throws(Refusal) -> StoreKnowledge {
        switch (store, customer.evidence, customer.place) {
        case (.appStore, let evidence?, _):
            return try await evidence.fetch(needs, for: request)
        case (.googlePlay, _, let place?):
            return try await GooglePlayPurchaseLookup(
                tokens: customer.purchaseTokens,
                place: place,
                purchases: purchases,
                committer: committer,
                refusesOthers: false,
                log: log
            ).fetch(needs, for: request)
        default: return request.knowledge
        }
    }

    /// Finds out whether the app that asks is genuine.
    var genuineApps: GenuineAppChecks { decider.genuineApps }

    /// Whether responses to this caller include the findings of the rules.
    package func showsFindings(to caller: Caller) -> Bool { decider.showsFindings(to: caller) }

    // MARK: - Obstacles

    private func proofObstacle(_ offer: CatalogOffer, _ context: RequestContext) -> EligibilityPreview.Obstacle? {
        guard context.caller.role == .app, offer.needsProof, context.proof(of: offer) == nil else { return nil }
        if context.unansweredProof(for: offer) != nil { return .storeUnavailable }
        return offer.genuineApp == .require ? .genuineAppRequired : nil
    }

    private func keyObstacle(_ offer: CatalogOffer, _ ring: KeyRing) -> EligibilityPreview.Obstacle? {
        guard let listing = offer.appStore else { return nil }
        return ring.activeKey(for: listing.bundleID, purpose: listing.purpose) == nil ? .keyUnavailable : nil
    }

    /// The obstacles that keep all customers from offers at Google Play, by the offers' keys in the ledger.
    private func googlePlayObstacles(
        of offers: [CatalogOffer],
        in app: PreviewedApp,
        _ request: EligibilityRequest,
        at now: Timestamp
    ) async -> [Int64: EligibilityPreview.Obstacle] {
        guard let googlePlay = app.googlePlay else { return [:] }
        let keys = offers.compactMap { offer in offer.googlePlay.map { (offer.ledgerKey, $0) } }
        guard !keys.isEmpty else { return [:] }
        var obstacles: [Int64: EligibilityPreview.Obstacle] = [:]
        do {
            let playCatalog = try await playCatalogs.current(googlePlay.packageName, at: now)
            let (region, tags) = (request.knownRegion, Set(googlePlay.hideTags))
            for (ledgerKey, key) in keys {
                let checked = GooglePlayOfferCheck.validate(key, region: region, hideTags: tags, in: playCatalog)
                if case .failure(let fault) = checked { obstacles[ledgerKey] = .fault(fault) }
            }
        } catch {
            log.onceAMinute(.warning, "Google Play's catalog could not be read", reason: error.label)
            for (ledgerKey, _) in keys { obstacles[ledgerKey] = .storeUnavailable }
        }
        return obstacles
    }
}
