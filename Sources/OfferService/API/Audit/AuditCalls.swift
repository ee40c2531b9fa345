// SPDX-License-Identifier: Apache-2.0
import HTTP
package import Ledger
import OfferDomain

/// The calls that ask what is on record.
package struct AuditCalls: Sendable {
    private let entries: AuditEntriesCall
    private let lookups: AuditLookupsCall
    private let summary: AuditSummaryCall
    private let customers: AuditCustomersCall
    private let names: AuditNamesCall

    /// Each reading is recorded by `reads` before its answer leaves.
    package init(index: AuditIndex, readers: LogReaders, reads: ReadRecorder, unrecorded: UnrecordedSignatures) {
        let searches = LogSearches(index: index, readers: readers) { await reads.note($0) }
        entries = AuditEntriesCall(searches: searches)
        lookups = AuditLookupsCall(searches: searches, unrecorded: unrecorded)
        summary = AuditSummaryCall(searches: searches)
        customers = AuditCustomersCall(searches: searches, reads: reads)
        names = AuditNamesCall(searches: searches, reads: reads)
    }

    func respond(
        to request: Request,
        at route: SearchRoute,
        under snapshot: Snapshot,
        _ now: Timestamp
    ) async throws(Refusal) -> Response {
        switch route {
        case .entries: try await entries.respond(to: request, under: snapshot, at: now)
        case .lookups: try await lookups.respond(to: request, under: snapshot, at: now)
        case .summary: try await summary.respond(to: request, under: snapshot, at: now)
        case .customers: try await customers.respond(to: request, under: snapshot, at: now)
        case .names: try names.respond(to: request, under: snapshot, at: now)
        }
    }
}
