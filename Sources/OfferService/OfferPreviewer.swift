// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// An offer, and whether one customer could have it now.
package struct OfferOutlook: Sendable {
    package let offer: CatalogOffer
    package let decision: Decision
    /// What keeps the offer from the customer beside the rules.
    package let obstacle: Obstacle?

    /// Whether it would be granted.
    package var canBeHad: Bool { decision.outcome == .eligible && obstacle == nil }

    /// Why somebody whom the rules admit can't have an offer just now.
    package enum Obstacle: Hashable, Sendable {
        /// At Google Play, it is not set up as it must be.
        case fault(OfferFault)
        /// A store did not answer, so it isn't known; for the moment.
        case storeUnavailable
        /// No key is active that could sign it.
        case keyUnavailable
        /// Nothing is signed or authorized just now.
        case sealed

        /// What programs know it by.
        package var code: String {
            switch self {
            case .fault(let fault): fault.code
            case .storeUnavailable: "store-unavailable"
            case .keyUnavailable: "key-unavailable"
            case .sealed: "sealed"
            }
        }

        /// Whether it may be over at any moment, so that an answer with it is out of date at once.
        package var isMomentary: Bool {
            switch self {
            case .storeUnavailable, .sealed: true
            case .fault, .keyUnavailable: false
            }
        }
    }
}

/// Tells which offers one customer could have, by the same decisions that grant them; reserves and signs nothing.
package final class OfferPreviewer: Sendable {
    private let committer: Committer
    private let seal: Seal
    private let appStore: AppStore
    private let catalogues: GooglePlayCatalogues
    private let purchases: any GooglePlayPurchaseSource
    private let admission: Admission
    private let log: Log

    package init(
        decider: OfferDecider,
        seal: Seal,
        appStore: AppStore,
        catalogues: GooglePlayCatalogues,
        purchases: any GooglePlayPurchaseSource,
        log: Log
    ) {
        (committer, admission) = (decider.committer, decider.admission)
        self.seal = seal
        self.appStore = appStore
        self.catalogues = catalogues
        self.purchases = purchases
        self.log = log
    }

    /// Answers one request, by the snapshot in force when it came in; in the order of the catalogue.
    package func outlooks(
        _ request: EligibilityRequest,
        for caller: Caller,
        under configuration: Snapshot,
        requestID: UniqueID,
        at now: Timestamp
    ) async throws(Refusal) -> [OfferOutlook] {
        for (name, named) in PreviewedApp.names(request, configuration.catalog) {
            try caller.authorize(name, named: named, assertions: request.assertions)
        }
        let app = try PreviewedApp(request, configuration)
        try configuration.catalog.customerPolicy(of: app.name).admit(request.customerID)
        let offers = try app.offers(request, configuration.catalog)
        let customer = try await PreviewedCustomer(request, caller, app, configuration, appStore, at: now)
        try admission.admit(caller, about: customer.knowledge.shownSubjects)
        let requests = offers.map { offer in
            decisionRequest(offer, request, caller, customer, configuration, requestID, now)
        }
        let preview = OfferPreview(requests: requests, knowledge: customer.knowledge)
        let previewed = try await decided(preview, customer)
        let faults = await googlePlayObstacles(offers, app, request, at: now)
        // Asked last, so that what was sealed meanwhile is known. Not the gate: what can't be recorded does not shut it.
        let isSealed = seal.isSealed || committer.gate.isCutOff
        return zip(offers, previewed).map { offer, previewed in
            let obstacle =
                previewed.isStoreSilent
                ? .storeUnavailable : faults[offer.ledgerKey] ?? keyObstacle(offer, configuration.keyRing)
            return OfferOutlook(offer: offer, decision: previewed.decision, obstacle: isSealed ? .sealed : obstacle)
        }
    }

    private func keyObstacle(_ offer: CatalogOffer, _ ring: KeyRing) -> OfferOutlook.Obstacle? {
        guard let listing = offer.appStore else { return nil }
        return ring.activeKey(for: listing.bundleID, purpose: listing.purpose) == nil ? .keyUnavailable : nil
    }

    private func decisionRequest(
        _ offer: CatalogOffer,
        _ request: EligibilityRequest,
        _ caller: Caller,
        _ customer: PreviewedCustomer,
        _ configuration: Snapshot,
        _ requestID: UniqueID,
        _ now: Timestamp
    ) -> DecisionRequest {
        DecisionRequest(
            terms: GrantTerms(id: requestID, at: now),
            callerID: caller.id,
            offer: offer,
            customer: customer.customer(for: offer),
            facts: request.facts,
            knowledge: customer.knowledge(for: offer),
            googlePlayScope: configuration.catalog.googlePlayScope(of: offer),
            attributes: request.attributes,
            idempotency: nil,
            deliverable: .preview,
            policyName: configuration.catalog.policyName
        )
    }

    /// Decided on what is known; each store is asked once, if what it knows may make a difference.
    private func decided(
        _ preview: OfferPreview,
        _ customer: PreviewedCustomer
    ) async throws(Refusal) -> [PreviewedOffer] {
        let first = try await previewed(preview)
        var learnt: [Store: StoreKnowledge] = [:]
        for store in Store.allCases {
            let asking = zip(preview.requests, first).filter { $0.0.offer.listing.store == store }
            let needs = asking.reduce(FactNeeds()) { $0.union($1.1.storeNeeds) }
            guard !needs.isEmpty, let request = asking.first(where: { !$0.1.storeNeeds.isEmpty })?.0 else { continue }
            learnt[store] = try await customer.learn(
                needs,
                from: store,
                for: request,
                appStore,
                purchases,
                committer,
                log
            )
        }
        guard !learnt.isEmpty else { return first }
        let requests = preview.requests.map { request in
            learnt[request.offer.listing.store].map { request.with(request.knowledge.told(by: $0)) } ?? request
        }
        var knowledge = StoreKnowledge()
        knowledge.report = learnt[.appStore]?.report
        knowledge.googlePlayReport = learnt[.googlePlay]?.googlePlayReport
        return try await previewed(OfferPreview(requests: requests, knowledge: knowledge))
    }

    private func previewed(_ preview: OfferPreview) async throws(Refusal) -> [PreviewedOffer] {
        do { return try await committer.preview(preview) } catch { throw .service(ServiceFault(error)) }
    }

    /// What keeps offers at Google Play from everybody, by their keys in the ledger.
    private func googlePlayObstacles(
        _ offers: [CatalogOffer],
        _ app: PreviewedApp,
        _ request: EligibilityRequest,
        at now: Timestamp
    ) async -> [Int64: OfferOutlook.Obstacle] {
        guard let googlePlay = app.googlePlay else { return [:] }
        let keys = offers.compactMap { offer in offer.googlePlay.map { (offer.ledgerKey, $0) } }
        guard !keys.isEmpty else { return [:] }
        var obstacles: [Int64: OfferOutlook.Obstacle] = [:]
        do {
            let catalogue = try await catalogues.current(googlePlay.packageName, at: now)
            let (region, tags) = (request.region ?? request.facts.value.region?.value, Set(googlePlay.hideTags))
            for (ledgerKey, key) in keys {
                let checked = GooglePlayOfferCheck.validate(key, region: region, hideTags: tags, in: catalogue)
                if case .failure(let fault) = checked { obstacles[ledgerKey] = .fault(fault) }
            }
        } catch {
            log.onceAMinute(.warning, "Google Play's catalog could not be read", reason: error.label)
            for (ledgerKey, _) in keys { obstacles[ledgerKey] = .storeUnavailable }
        }
        return obstacles
    }
}
