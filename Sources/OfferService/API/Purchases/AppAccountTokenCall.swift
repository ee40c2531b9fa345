// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime

/// `POST /v1/app-store/app-account-tokens`: a customer has logged in, and their purchases are to name their account.
package struct AppAccountTokenCall: Sendable {
    let setter: SetAppAccountToken
    let admission: Admission

    /// Answers when the App Store has confirmed it, and that is durable.
    func respond(
        to request: Request,
        under snapshot: Snapshot,
        requestID: UniqueID,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try admission.asker(request, snapshot.callers, at: now)
        guard caller.role.mayAssertFacts else { throw .caller(.roleNotAllowed(caller.role)) }
        let places = try admission.enter(caller)
        defer { places.leave() }
        try request.requireJSON()
        let key = try request.idempotencyKey()
        let asked = try AccountTokenChange.Asked(request.body)
        let app = AppName(asked.bundleID)
        guard caller.mayAsk(for: app) else { throw .caller(.bundleNotAllowed(.bundle(asked.bundleID))) }
        try snapshot.catalog.customerPolicy(of: app).admit(asked.customerID)
        let context = RequestContext(
            id: requestID,
            receivedAt: now,
            snapshot: snapshot,
            caller: caller,
            idempotency: key.map { IdempotencyClaim(of: caller, key: $0, body: request.body) }
        )
        return Self.response(try await setter.set(asked, in: context))
    }

    private static func response(_ change: SetAppAccountToken.Answer) -> Response {
        .json([
            "setAt": .instant(change.made.at), "environment": .text(change.made.environment.rawValue),
            "isRepeated": .boolean(change.isRepeated),
        ])
    }
}
