// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import Ledger
import OfferDomain

/// The calls that answer with a signature: authenticate, read, decide, record, sign.
package struct SignatureCall: Sendable {
    let signer: SignOffer
    let admission: Admission
    let decisions: DecisionLog

    func respond(
        to request: Request,
        for kind: SignatureRequest.Kind,
        under snapshot: Snapshot,
        requestID: UniqueID,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try await admission.asker(request, snapshot, at: now)
        let places = try admission.enter(caller)
        defer { places.leave() }
        try request.requireJSON()
        let key = try request.idempotencyKey()
        let asked = try SignatureRequest(request.body, for: kind, by: caller.user, receivedAt: now)
        var context = RequestContext(
            id: requestID,
            receivedAt: now,
            snapshot: snapshot,
            caller: caller,
            idempotency: key.map { IdempotencyClaim(of: caller, key: $0, body: request.body) }
        )
        let app = ProvableApps(bundleIDs: [asked.bundleID])
        context = try await signer.genuineApps.examined(context, request, about: app)
        let signed: SignedOffer
        do throws(Refusal) {
            signed = try await signer.sign(asked, in: context)
        } catch {
            decisions.refused(error, asked.offerName, in: context)
            throw error
        }
        let outcome: Outcome = signed.grant.terms.allows ? .eligible : .notEligible
        decisions.granted(asked.offerName, outcome, in: context)
        return .json(signed.answer(showsFindings: signer.showsFindings(to: caller)))
    }
}
