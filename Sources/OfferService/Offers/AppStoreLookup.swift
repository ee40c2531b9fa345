// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain
import ServiceRuntime
import Stores

/// Asks the App Store about the customer of one request.
struct AppStoreLookup: StoreLookup {
    let evidence: VerifiedEvidence
    let store: AppStore
    let log: Log

    func fetch(_ needs: FactNeeds, for request: DecisionRequest) async throws(Refusal) -> StoreKnowledge {
        var knowledge = request.knowledge
        knowledge.mayAsk = false
        guard let question = evidence.question(needs) else { return knowledge }
        let (app, now) = (question.app.bundleID.text, request.receivedAt)
        do {
            let answer = try await store.evidence(question, at: now)
            evidence.add(answer, to: &knowledge)
            if answer.isPartial { knowledge.findings.append(.entryUnreadable) }
        } catch .notFound {
            // The store knows no such transaction, so nothing more is known of the customer.
            knowledge.findings.append(.transactionUnknown(evidence.questionedMember))
        } catch {
            if let code = error.finalCode {
                throw .request(.refusedByStore(.appStore, pointer: evidence.questionedMember.pointer, code: code))
            }
            return knowledge.without(error, of: .appStore, app: app, at: now, log: log)
        }
        return knowledge
    }
}
