// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import OfferDomain

/// An offer at Google Play that a customer may buy.
package struct AuthorizedOffer: Sendable {
    /// How long it should take a customer at most to buy it, as with what the App Store wants signed.
    package static let lifetimeHours = 24

    package let grant: Grant
    /// What was decided.
    package let request: DecisionRequest
    /// The offer as Google Play lists it.
    package let offer: ValidatedOffer
    /// What the app sets as `obfuscatedAccountId`: 64 hexadecimal digits that stand for the customer.
    package let accountID: GooglePlayAccountID
    /// What the app sets as `obfuscatedProfileId`, so that the purchase names the grant.
    package let mark: GrantMark
}

/// Decides, sees that the offer can't leak, records, then authorizes.
///
/// Google Play asks nobody before it sells an offer that the developer determines, so what is authorized here is
/// compared with what was bought afterwards.
package final class OfferAuthorizer: Sendable {
    private let decider: OfferDecider
    private let catalogues: GooglePlayCatalogues
    private let purchases: any GooglePlayPurchaseSource
    private let random: any RandomSource
    private let log: Log

    /// What may be had is read from `catalogues`, and what was bought is asked of `purchases`.
    package init(
        decider: OfferDecider,
        catalogues: GooglePlayCatalogues,
        purchases: any GooglePlayPurchaseSource,
        runtime: Runtime
    ) {
        self.decider = decider
        self.catalogues = catalogues
        self.purchases = purchases
        random = runtime.random
        log = runtime.log
    }

    /// Whether this caller is told what the rules found.
    package func showsFindings(to caller: Caller) -> Bool { decider.showsFindings(to: caller) }

    /// Answers one request, by the snapshot in force when it came in.
    ///
    /// The rules come first: who may not have the offer is told so even if the offer could not be given to anybody.
    package func authorize(
        _ request: AuthorizationRequest,
        for caller: Caller,
        idempotency: IdempotencyClaim?,
        under configuration: Snapshot,
        requestID: UniqueID,
        at now: Timestamp
    ) async throws(Refusal) -> AuthorizedOffer {
        try caller.authorize(
            configuration.catalog.ledgerName(of: request.packageName),
            named: .package(request.packageName),
            assertions: request.assertions
        )
        guard let place = GooglePlayPlace(request.packageName, under: configuration) else {
            throw .decision(.unknownOffer(.package))
        }
        try configuration.catalog.customerPolicy(of: place.app.name).admit(request.customerID)
        let offer = try findOffer(request, configuration.catalog)
        let plan = AuthorizationPlan(offer: await standing(of: offer, place, request.knownRegion, at: now))
        let terms = try decider.terms(
            of: .authorization(plan),
            id: requestID,
            nonce: .version4(random.next(), random.next()),
            at: now
        )
        let decision = decisionRequest(request, caller, offer, plan, terms, idempotency, configuration, place)
        try decider.admission.admit(caller, about: decision.shownSubjects, decision.idempotency)
        let source = GooglePlayAsked(
            tokens: request.purchaseTokens,
            caller: caller,
            place: place,
            purchases: purchases,
            committer: decider.committer,
            log: log
        )
        let grant = try await decider.granted(OfferCandidate(request: decision, source: source), caller)
        return try authorized(grant, decision, plan, place)
    }

    private func findOffer(_ request: AuthorizationRequest, _ catalog: Catalog) throws(Refusal) -> CatalogOffer {
        do {
            return try catalog.googlePlayOffer(
                request.offerID,
                of: request.productID,
                basePlan: request.basePlanID,
                in: request.packageName
            )
        } catch {
            throw .decision(.unknownOffer(error))
        }
    }

    /// The offer as the store has it; from the copy at hand, so next to always without waiting.
    private func standing(
        of offer: CatalogOffer,
        _ place: GooglePlayPlace,
        _ region: Region?,
        at now: Timestamp
    ) async -> Result<ValidatedOffer, AuthorizationObstacle> {
        guard let key = offer.googlePlay else { return .failure(.storeUnavailable(retryAfterSeconds: nil)) }
        do {
            let catalogue = try await catalogues.current(place.app.packageName, at: now)
            return GooglePlayOfferCheck.validate(key, region: region, hideTags: Set(place.app.hideTags), in: catalogue)
                .mapError(AuthorizationObstacle.fault)
        } catch {
            if error.isOfSetUp { return .failure(.refusedByStore) }
            return .failure(.storeUnavailable(retryAfterSeconds: error.retryAfterSeconds(at: now)))
        }
    }

    private func decisionRequest(
        _ request: AuthorizationRequest,
        _ caller: Caller,
        _ offer: CatalogOffer,
        _ plan: AuthorizationPlan,
        _ terms: GrantTerms,
        _ idempotency: IdempotencyClaim?,
        _ configuration: Snapshot,
        _ place: GooglePlayPlace
    ) -> DecisionRequest {
        var knowledge = StoreKnowledge()
        knowledge.isVouchedFor = caller.role.mayAssertFacts
        knowledge.mayAsk = !request.purchaseTokens.isEmpty
        if caller.role.mayAssertFacts {
            knowledge.googlePlayPurchases = Set(request.purchaseTokens.map(place.keys.purchaseKey))
            knowledge.shownPurchases = request.purchaseTokens.map { place.keys.purchaseKey(of: $0).bytes }
            knowledge.successions = place.keys.successions(of: request.purchaseTokens)
        }
        knowledge.add(caller.user, configuration.pseudonyms, in: offer.app)
        return DecisionRequest(
            terms: terms,
            callerID: caller.id,
            offer: offer,
            customer: DecisionCustomer(buying: request.identities, configuration.pseudonyms, in: offer.app),
            facts: request.facts,
            knowledge: knowledge,
            googlePlayScope: configuration.catalog.googlePlayScope(of: offer),
            attributes: request.attributes,
            idempotency: idempotency?.bound(to: offer),
            deliverable: .authorization(plan),
            policyName: configuration.catalog.policyName
        )
    }

    private func authorized(
        _ grant: Grant,
        _ request: DecisionRequest,
        _ plan: AuthorizationPlan,
        _ place: GooglePlayPlace
    ) throws(Refusal) -> AuthorizedOffer {
        // A request without a name was refused when it was read; without an offer the ledger grants and repeats nothing.
        guard let accountID = request.customer.accountID, case .success(let offer) = plan.offer else {
            throw .service(.storeUnavailable(retryAfterSeconds: nil))
        }
        return AuthorizedOffer(
            grant: grant,
            request: request,
            offer: offer,
            accountID: accountID,
            mark: place.keys.mark(of: grant.id, for: request.offer.ledgerKey)
        )
    }
}

extension AuthorizationRequest {
    /// Where the offer has to be had: where the device buys, and if that isn't said, what a backend knows.
    fileprivate var knownRegion: Region? { region ?? facts.value.region?.value }
}
