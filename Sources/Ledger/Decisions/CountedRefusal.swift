// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain

/// Why an app did not get an offer; all of it out of closed lists.
package struct CountedRefusal: Hashable, Sendable {
    let callerID: CallerID
    let app: AppName
    let offer: CatalogOfferID
    let outcome: Outcome
    /// The first rule that was not met, and why; `nil` if all were met, and the offer is set up wrong at the store.
    let rule: String?
    let code: FindingCode?

    init(_ request: DecisionRequest, _ decision: Decision) {
        let reason = decision.reasons.first
        callerID = request.callerID
        app = request.offer.app
        offer = request.offer.id
        outcome = decision.outcome
        rule = reason?.rule
        code = reason?.code
    }
}
