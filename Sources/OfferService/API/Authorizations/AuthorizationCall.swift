// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import Ledger
import OfferDomain

/// `POST /v1/google-play/offers/authorizations`: authenticate, read, decide, validate, record, authorize.
package struct AuthorizationCall: Sendable {
    let authorizer: AuthorizeOffer
    let admission: Admission
    let decisions: DecisionLog

    func respond(
        to request: Request,
        under snapshot: Snapshot,
        requestID: UniqueID,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try await admission.asker(request, snapshot, at: now)
        let places = try admission.enter(caller)
        defer { places.leave() }
        try request.requireJSON()
        let key = try request.idempotencyKey()
        let asked = try AuthorizationRequest(request.body, by: caller.user, receivedAt: now)
        var context = RequestContext(
            id: requestID,
            receivedAt: now,
            snapshot: snapshot,
            caller: caller,
            idempotency: key.map { IdempotencyClaim(of: caller, key: $0, body: request.body) }
        )
        let app = ProvableApps(packageName: asked.packageName)
        context = try await authorizer.genuineApps.examined(context, request, about: app)
        let authorized: AuthorizedOffer
        do throws(Refusal) {
            authorized = try await authorizer.authorize(asked, in: context)
        } catch {
            decisions.refused(error, asked.offerID.text, in: context)
            throw error
        }
        decisions.granted(asked.offerID.text, .eligible, in: context)
        return .json(AuthorizationAnswer(authorized, showsFindings: authorizer.showsFindings(to: caller)).bytes)
    }
}
