// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain
import ServiceRuntime
import Stores

/// One customer as far as a request for many offers lets the stores' knowledge be used.
struct PreviewCustomer: Sendable {
    /// What the request brought, merged once.
    let knowledge: StoreKnowledge
    /// What the request calls the customer, where an offer in the App Store is decided, and one at Google Play.
    private let customerInAppStore: DecisionCustomer
    private let customerAtGooglePlay: DecisionCustomer
    /// What the App Store's evidence says; `nil` of an app that isn't there.
    let evidence: VerifiedEvidence?
    /// `nil` of an app that isn't at Google Play.
    let place: PlayContext?
    let purchaseTokens: [PurchaseToken]
    /// The names of the user that a token proves.
    private let userNames: [PseudonymizedName]

    init(
        _ request: EligibilityRequest,
        of app: PreviewedApp,
        at store: AppStore,
        in context: RequestContext,
        log: Log
    ) async throws(Refusal) {
        let (stated, user, pseudonyms) = (request.customer, context.caller.user, context.snapshot.pseudonyms)
        customerInAppStore = DecisionCustomer(stated, at: .appStore, of: app.name, in: context)
        customerAtGooglePlay = DecisionCustomer(stated, at: .googlePlay, of: app.name, in: context)
        place = app.googlePlay.map { PlayContext($0, pseudonyms: pseudonyms, catalog: context.catalog) }
        purchaseTokens = request.purchaseTokens
        if let bundleID = app.bundleID {
            let shown = try await store.verified(
                stated.signedData,
                of: bundleID,
                in: context.catalog,
                for: context.caller.party,
                at: context.receivedAt
            )
            let binding = try AccountBinding(stated, shownBy: shown, signing: [], in: context)
            evidence = VerifiedEvidence(binding, signing: nil, of: bundleID, askedOf: store, log: log)
        } else {
            evidence = nil
        }
        var knowledge = evidence?.knowledge() ?? StoreKnowledge()
        knowledge.add(user, pseudonyms, in: app.name)
        knowledge.isVouchedFor = context.isBelieved
        if let place, context.isBelieved { knowledge.add(purchaseTokens, at: place) }
        userNames = user?.names(under: pseudonyms, in: app.name) ?? []
        self.knowledge = knowledge
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
        knowledge.reports = [:]
        switch offer.listing {
        case .appStore(let listing):
            knowledge.shownPurchases = []
            if listing.offerID == nil { evidence?.bindToAccount(&knowledge) }
        case .googlePlay:
            var own = StoreKnowledge()
            own.isVouchedFor = knowledge.isVouchedFor
            own.shownNames = userNames
            own.provesCustomer = knowledge.provesCustomer
            own.googlePlayPurchases = knowledge.googlePlayPurchases
            own.shownPurchases = knowledge.shownPurchases
            own.mayAsk = !purchaseTokens.isEmpty
            knowledge = own
        }
        return knowledge
    }
}
