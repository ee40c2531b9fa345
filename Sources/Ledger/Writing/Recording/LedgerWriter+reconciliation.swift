// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage

/// Rows that the writer has already written and need not repeat; forgotten when a transaction is undone.
struct ReconciliationMemory {
    /// The offers whose names are stored, by their keys in the ledger.
    var described: [Int64: CatalogOffer] = [:]
    /// When a store last reported on each app, as it is stored.
    var lastReports: [StoreApp: Timestamp] = [:]
}

extension LedgerWriter {
    /// Notes that a store reported on an app, at most once a minute, so that not every notification writes a row.
    func noteReport(_ app: StoreApp) throws(LedgerError) {
        if let last = reconciliation.lastReports[app], recordedAt < last.adding(minutes: 1) { return }
        try database(issued.noteReport(app, at: recordedAt))
        reconciliation.lastReports[app] = recordedAt
    }
}
