// SPDX-License-Identifier: Apache-2.0
import OfferDomain

/// Google Play, where it may be asked about the purchases that one request names.
struct GooglePlayAsked: KnowledgeSource {
    /// Of the purchases that the request names.
    let tokens: [PurchaseToken]
    let caller: Caller
    let place: GooglePlayPlace
    let purchases: any GooglePlayPurchaseSource
    let log: Log

    func learn(_ needs: FactNeeds, for decision: DecisionRequest) async throws(Refusal) -> StoreKnowledge {
        var knowledge = decision.knowledge
        knowledge.mayAsk = false
        let evidence: GooglePlayEvidence
        do {
            evidence = try await purchases.evidence(
                of: tokens,
                of: place.app.packageName,
                walksBack: true,
                for: caller.id,
                at: decision.receivedAt
            )
        } catch {
            return knowledge.without(error, at: decision.receivedAt, log)
        }
        try refuseOtherAccount(evidence, decision)
        knowledge.googlePlayPurchases = Set(tokens.map(place.keys.purchaseKey))
        knowledge.successions += place.keys.successions(of: tokens)
        knowledge.googlePlayReport = GooglePlayPurchaseReport(
            evidence,
            place: place,
            customers: caller.role.mayAssertFacts ? decision.purchaseHolders : [],
            customer: caller.role.mayAssertFacts ? decision.purchaseHolders.first : nil
        )
        return knowledge
    }

    /// A purchase that names nobody is whoever's has its token; one that names somebody else is not this customer's.
    ///
    /// A backend is believed in whose purchases they are.
    private func refuseOtherAccount(
        _ evidence: GooglePlayEvidence,
        _ decision: DecisionRequest
    ) throws(Refusal) {
        guard !caller.role.mayAssertFacts else { return }
        let own = Set(
            decision.identities.flatMap { [$0.pseudonym] + $0.pseudonym.earlier }.map(\.accountID)
        )
        for (index, token) in tokens.enumerated() {
            for case (token, .purchase(let purchase)) in evidence.purchases {
                guard let account = purchase.accountID, !own.contains(account) else { continue }
                throw .request(.purchaseOfOtherAccount(pointer: "/purchaseTokens/\(index)"))
            }
        }
    }
}
