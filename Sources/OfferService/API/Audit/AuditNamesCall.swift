// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain

/// `GET /v1/audit/names`: the names of keys, callers, apps and offers, for searches of the log.
///
/// They come from the files and callers in force; keys come from the log too. No customer data is included.
struct AuditNamesCall: Sendable {
    let searches: LogSearches
    let reads: ReadRecorder

    func respond(to request: Request, under snapshot: Snapshot, at now: Timestamp) throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now).requireReading()
        var parameters = QueryParameters(request.query)
        try parameters.finish()
        reads.noteFetch(caller: caller.id, call: .names)
        return .json(.object(names(snapshot).map { ($0.rawValue, .texts(Set($1).sorted())) }))
    }

    private func names(_ snapshot: Snapshot) -> [(AuditQuery.Field, [String])] {
        let (catalog, offers) = (snapshot.catalog, snapshot.catalog.offers)
        return [
            (.key, snapshot.keyRing.keys.map(\.id.text) + searches.index.lastUses.keys),
            (.caller, snapshot.callers.ids),
            (.bundle, catalog.apps.keys.map(\.text)),
            (.package, catalog.googlePlayApps.keys.map(\.text)),
            (.product, offers.map { $0.appStore?.productID.text ?? $0.googlePlay?.productID.text ?? "" }),
            (.offer, offers.compactMap { $0.appStore?.offerID?.text ?? $0.googlePlay?.offerID.text }),
            (.rule, offers.map(\.id.text)),
        ]
    }
}
