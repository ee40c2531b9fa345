// SPDX-License-Identifier: Apache-2.0
import OfferDomain

/// The App Store, where it may be asked about the customer of one request.
struct AppStoreAsked: KnowledgeSource {
    let customer: KnownByStore
    let store: AppStore
    let log: Log

    func learn(_ needs: FactNeeds, for request: DecisionRequest) async throws(Refusal) -> StoreKnowledge {
        var knowledge = request.knowledge
        knowledge.mayAsk = false
        guard let question = customer.question(needs) else { return knowledge }
        do {
            let evidence = try await store.evidence(question, at: request.receivedAt)
            customer.add(evidence, to: &knowledge)
        } catch .notFound {
            // The store knows no such transaction, so nothing more is known of the customer.
            return knowledge
        } catch {
            return knowledge.without(error, at: request.receivedAt, log)
        }
        return knowledge
    }
}
