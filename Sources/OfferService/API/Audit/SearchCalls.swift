// SPDX-License-Identifier: Apache-2.0
package import Ledger
import OfferDomain

/// The calls that search the audit log.
package struct SearchCalls: Sendable {
    let entries: AuditEntriesCall
    let lookups: AuditLookupsCall
    let summary: AuditSummaryCall
    let customers: AuditCustomersCall
    let names: AuditNamesCall

    /// Each reading is recorded by `reads` before its answer leaves.
    package init(index: AuditIndex, readers: LogReaders, reads: ReadRecorder, unrecorded: UnrecordedSignatures) {
        let searches = LogSearches(index: index, readers: readers) { await reads.note($0) }
        entries = AuditEntriesCall(searches: searches)
        lookups = AuditLookupsCall(searches: searches, unrecorded: unrecorded)
        summary = AuditSummaryCall(searches: searches)
        customers = AuditCustomersCall(searches: searches, reads: reads)
        names = AuditNamesCall(searches: searches, reads: reads)
    }
}
