// SPDX-License-Identifier: Apache-2.0
import Configuration
package import Ledger
package import OfferDomain
import ServiceRuntime

/// Asks a store about the customer of one request, if the ledger needs more to decide.
package protocol StoreLookup: Sendable {
    /// What is known once the store was asked, which it is only once; that it can't be asked is knowledge too.
    func fetch(_ needs: FactNeeds, for request: DecisionRequest) async throws(Refusal) -> StoreKnowledge
}

extension StoreKnowledge {
    /// The same when the store was asked about an app, as it calls it, and gave no answer.
    func without(_ error: StoreError, of store: Store, app: String, at now: Timestamp, log: Log) -> StoreKnowledge {
        log.onceAMinute(
            .warning,
            "the store could not be asked",
            reason: error.label,
            app: app,
            with: ["store": .text(store.recordName), "detail": .text(error.description)]
        )
        var knowledge = self
        knowledge.isStoreDown = true
        if error.isOfSetUp { knowledge.refusingStore = store }
        knowledge.retryAfterSeconds = error.retryAfterSeconds(at: now)
        return knowledge
    }
}

extension StoreError {
    /// The whole seconds until asking makes sense again, at least 1; `nil` if the store did not say.
    func retryAfterSeconds(at now: Timestamp) -> Int? {
        retryAfter.map { instant in max(1, Int((instant.milliseconds - now.milliseconds + 999) / 1000)) }
    }
}
