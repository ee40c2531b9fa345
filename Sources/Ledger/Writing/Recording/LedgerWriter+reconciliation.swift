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
    /// Adds a grant to those whose use a store will report.
    ///
    /// An introductory offer is not added: the App Store gives it without a signature too.
    func issue(_ grantID: UniqueID, _ request: DecisionRequest, entry: Int64) throws(LedgerError) {
        let offer = request.offer
        if offer.appStore != nil, offer.appStore?.offerID == nil { return }
        let isDescribed = reconciliation.described[offer.ledgerKey] === offer
        if !isDescribed { try database(issued.describe(offer)) }
        try database(issued.add(grantID, of: offer, to: request.account, at: request.receivedAt, entry: entry))
        reconciliation.described[offer.ledgerKey] = offer
    }

    /// Notes that a store reported on an app, at most once a minute, so that not every notification writes a row.
    func noteReport(_ app: StoreApp) throws(LedgerError) {
        if let last = reconciliation.lastReports[app], recordedAt < last.adding(minutes: 1) { return }
        try database(issued.noteReport(app, at: recordedAt))
        reconciliation.lastReports[app] = recordedAt
    }
}
