// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime
import TransparencyLog

/// `GET /v1/grants/{grantId}`: what became of one grant.
///
/// If the grant belongs to an app outside the caller's scope, the answer is the same as for an unknown grant.
struct GrantCall: Sendable {
    let admission: Admission
    /// Has its own thread, so that polls do not delay auditors.
    let searches: LogSearches
    let reads: ReadRecorder

    func respond(
        to request: Request,
        _ match: RouteMatch,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now).requireFollowing()
        try admission.admit(caller, 1)
        let places = try admission.enter(caller)
        defer { places.leave() }
        var parameters = QueryParameters(request.query)
        try parameters.finish()
        reads.noteFetch(caller: caller.id, call: .grant)
        guard let id = match.parameters.first.flatMap({ UniqueID(utf8: $0) }) else { throw .request(.noSuchGrant) }
        let found = try await searches.read { connection, index throws(AuditReadError) in
            let search = try AuditSearch(connection: connection, format: index.format, tail: index.tail)
            return try GrantReader(connection: connection, search: search).grant(id)
        }
        switch found {
        case .found(let grant) where caller.maySee(grant.event, snapshot.catalog):
            return .json(Self.body(grant, snapshot.catalog))
        case .unfinished: throw .service(.overloaded)
        case .found, .unknown: throw .request(.noSuchGrant)
        }
    }

    private static func body(_ grant: GrantReader.Grant, _ catalog: Catalog) -> [UInt8] {
        let details = grant.event.details
        var writer = JSONWriter(reserving: 512)
        writer.beginObject()
        if let id = details.grantID { writer.member("grantId", id: id) }
        writer.member("state", plain: grant.use?.state ?? "granted")
        details.writeOffer(in: catalog, to: &writer)
        writer.optional("grantedAt", details.grantedAt)
        writer.member("index", integer: grant.event.position.index)
        if let use = grant.use { write(use, &writer) }
        writer.endObject()
        return writer.bytes
    }

    private static func write(_ use: GrantReader.Use, _ writer: inout JSONWriter) {
        writer.name("use")
        writer.beginObject()
        writer.optional("productId", use.productID)
        writer.optional("environment", use.environment)
        writer.optional("match", use.match)
        writer.optional(use.state == "pending" ? "pendingSince" : "redeemedAt", use.redeemedAt)
        writer.optional("settledAt", use.settledAt)
        writer.refund(use.refundedAt, millipercent: use.refundedMillipercent)
        writer.member("index", integer: use.entryIndex)
        writer.endObject()
    }
}
