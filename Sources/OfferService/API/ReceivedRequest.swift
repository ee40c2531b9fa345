// SPDX-License-Identifier: Apache-2.0
import HTTP
import OfferDomain

/// One HTTP request on its way to its call, before its caller is authenticated.
struct ReceivedRequest: Sendable {
    let request: Request
    let match: RouteMatch
    /// UUIDv7; the log and the audit log's entries name it.
    let id: UniqueID
    let receivedAt: Timestamp
    /// The configuration in force when it was received, with the session that the request brings.
    let snapshot: Snapshot
}
