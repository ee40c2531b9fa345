// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Ledger
package import OfferDomain
package import ServiceRuntime
package import Stores

/// An offer at Google Play that a customer may buy.
package struct AuthorizedOffer: Sendable {
    /// What was granted, or granted before under the same idempotency key.
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

/// Answers requests for offers at Google Play: decides, sees that the offer can't leak, records, then authorizes.
///
/// Google Play sells a developer-determined offer without asking the developer first. So purchases are compared with the
/// authorizations afterwards.
package final class AuthorizeOffer: Sendable {
    private let decider: OfferDecider
    private let playCatalogs: PlayCatalogs
    private let purchases: any GooglePlayPurchaseSource
    private let log: Log

    /// What may be had is read from `playCatalogs`, and what was bought is asked of `purchases`.
    package init(
        decider: OfferDecider,
        playCatalogs: PlayCatalogs,
        purchases: any GooglePlayPurchaseSource,
        log: Log
    ) {
        self.decider = decider
        self.playCatalogs = playCatalogs
        self.purchases = purchases
        self.log = log
    }

    /// Answers one request.
    ///
    /// The rules come first: if they refuse the customer, the answer is that refusal, even while the offer has a fault.
    package func authorize(
        _ request: AuthorizationRequest,
        in context: RequestContext
    ) async throws(Refusal) -> AuthorizedOffer {
        let (customer, catalog, packageName) = (request.customer, context.catalog, request.packageName)
        let app = catalog.ledgerName(of: packageName)
        try context.caller.authorize(app, named: .package(packageName), assertions: customer.assertions)
        guard let place = PlayContext(packageName, in: context.snapshot.evidence) else {
            throw .decision(.unknownOffer(.package))
        }
        try catalog.customerPolicy(of: app).admit(customer.customerID)
        let found = try catalog.find(request)
        try decider.genuineApps.demand(found.offer, in: context)
        let plan = AuthorizationPlan(
            listing: found.listing,
            offer: await validated(found.listing, at: place, in: request.knownRegion, at: context.receivedAt),
            accountID: place.keys.accountID(of: request.buyer)
        )
        let decision = DecisionRequest(
            from: context.origin(of: found.offer),
            offer: found.offer,
            customer: DecisionCustomer(customer, at: .googlePlay, of: app, in: context),
            knowledge: knowledge(request, at: place, in: context),
            terms: try decider.terms(of: .authorization(plan), in: context)
        )
        try decider.admit(decision)
        let lookup = lookup(of: request.purchaseTokens, at: place)
        let grant = try await decider.granted(decision, asking: lookup)
        return AuthorizedOffer(
            grant: grant,
            request: decision,
            offer: try decider.usable(plan.offer, of: found.offer),
            accountID: plan.accountID,
            mark: place.keys.mark(of: grant.id, for: found.offer.ledgerKey)
        )
    }

    /// The offer as the store has it; from the service's copy, so next to always without waiting.
    private func validated(
        _ listing: GooglePlayOfferKey,
        at place: PlayContext,
        in region: Region?,
        at now: Timestamp
    ) async -> Result<ValidatedOffer, AuthorizationObstacle> {
        do {
            let playCatalog = try await playCatalogs.current(place.app.packageName, at: now)
            let hideTags = Set(place.app.hideTags)
            return GooglePlayOfferCheck.validate(listing, region: region, hideTags: hideTags, in: playCatalog)
                .mapError(AuthorizationObstacle.fault)
        } catch {
            if error.isOfSetUp { return .failure(.refusedByStore) }
            return .failure(.storeUnavailable(retryAfterSeconds: error.retryAfterSeconds(at: now)))
        }
    }

    private func lookup(of tokens: [PurchaseToken], at place: PlayContext) -> GooglePlayPurchaseLookup {
        GooglePlayPurchaseLookup(
            tokens: tokens,
            place: place,
            purchases: purchases,
            committer: decider.committer,
            log: log
        )
    }

    private func knowledge(
        _ request: AuthorizationRequest,
        at place: PlayContext,
        in context: RequestContext
    ) -> StoreKnowledge {
        var knowledge = StoreKnowledge()
        knowledge.isVouchedFor = context.isBelieved
        knowledge.mayAsk = !request.purchaseTokens.isEmpty
        if context.isBelieved { knowledge.add(request.purchaseTokens, at: place) }
        knowledge.add(context.caller.user, context.snapshot.pseudonyms, in: place.app.name)
        return knowledge
    }

    /// Finds out whether the app that asks is genuine.
    var genuineApps: GenuineAppChecks { decider.genuineApps }

    /// Whether responses to this caller include the findings of the rules.
    package func showsFindings(to caller: Caller) -> Bool { decider.showsFindings(to: caller) }
}

extension Catalog {
    /// The offer that a request names.
    fileprivate func find(_ request: AuthorizationRequest) throws(Refusal) -> ListedOffer<GooglePlayOfferKey> {
        do {
            return try googlePlayOffer(
                request.offerID,
                of: request.productID,
                basePlan: request.basePlanID,
                in: request.packageName
            )
        } catch {
            throw .decision(.unknownOffer(error))
        }
    }
}
