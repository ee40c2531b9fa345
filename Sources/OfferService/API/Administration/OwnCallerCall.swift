// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import OfferDomain

/// `GET /v1/callers/self`: the caller's ID and role.
///
/// Every caller may ask. The console uses it to show who is signed in, and offers only what the role may do.
struct OwnCallerCall: Sendable {
    func respond(to request: Request, under snapshot: Snapshot, at now: Timestamp) throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now)
        return .json(["id": .text(caller.id.text), "role": .text(caller.role.rawValue)])
    }
}
