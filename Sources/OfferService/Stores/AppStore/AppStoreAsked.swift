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
            if evidence.isPartial { knowledge.findings.append(.entryUnreadable) }
        } catch .notFound {
            // The store knows no such transaction, so nothing more is known of the customer.
            knowledge.findings.append(.transactionUnknown(customer.questionedMember))
        } catch {
            if let code = error.finalCode {
                throw .request(.refusedByStore(.appStore, pointer: customer.questionedMember.pointer, code: code))
            }
            return knowledge.without(error, of: .appStore, question.app.bundleID.text, at: request.receivedAt, log)
        }
        return knowledge
    }
}
