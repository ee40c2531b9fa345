// SPDX-License-Identifier: Apache-2.0
import HTTP
import OfferDomain

/// `POST /v1/google-play/offers/authorizations`: authenticate, read, decide, validate, record, authorize.
package struct AuthorizationCall: Sendable {
    let authorizer: OfferAuthorizer

    func respond(
        to request: Request,
        under snapshot: Snapshot,
        requestID: UniqueID,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticateAsker(request.headers, at: now)
        try request.requireJSON()
        let key = try request.idempotencyKey()
        let asked = try AuthorizationRequest(request.body, receivedAt: now)
        let authorized = try await authorizer.authorize(
            asked,
            for: caller,
            idempotency: key.map { IdempotencyClaim(callerID: caller.id, key: $0, body: request.body) },
            under: snapshot,
            requestID: requestID,
            at: now
        )
        return .json(AuthorizationAnswer(authorized, showsFindings: authorizer.showsFindings(to: caller)).bytes)
    }
}
