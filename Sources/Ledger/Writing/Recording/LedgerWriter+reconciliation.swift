// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage

/// What the writer has written already of what it need not write each time; forgotten when a transaction is undone.
struct ReconciliationMemory {
    /// By their keys in the ledger, the offers whose names are kept.
    var described: [Int64: CatalogOffer] = [:]
    /// When each app was last told of, as it is kept.
    var told: [NotifiedApp: Timestamp] = [:]
}

extension LedgerWriter {
    /// Puts a grant among those whose use a store will tell.
    ///
    /// An introductory offer is not among them: the App Store gives it without a signature too.
    func issue(_ grantID: UniqueID, _ request: DecisionRequest, entry: Int64) throws(LedgerError) {
        let offer = request.offer
        if offer.appStore != nil, offer.appStore?.offerID == nil { return }
        let isDescribed = reconciliation.described[offer.ledgerKey] === offer
        if !isDescribed { try database(issued.describe(offer)) }
        try database(issued.add(grantID, of: offer, to: request.account, at: request.receivedAt, entry: entry))
        reconciliation.described[offer.ledgerKey] = offer
    }

    /// Notes that a store tells of an app; to the minute, so that not every notification writes one more row.
    func noteTold(_ app: NotifiedApp) throws(LedgerError) {
        if let last = reconciliation.told[app], recordedAt < last.adding(minutes: 1) { return }
        try database(issued.noteTold(app, at: recordedAt))
        reconciliation.told[app] = recordedAt
    }
}
