// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage

extension LedgerWriter {
    /// Whether a grant may be named beside keys in force: it is of the epoch in force, or that is the only one.
    ///
    /// For a grant whose use no store will report, `signedAt` decides; without it the answer is false.
    func isOfNewestEpoch(_ grantID: UniqueID?, signedAt: Timestamp? = nil) throws(LedgerError) -> Bool {
        guard let newestEpoch, let grantID else { return true }
        let entries = try database(issued.entries(of: [grantID]))
        if let entry = entries[grantID] { return entry >= newestEpoch.firstEntry }
        return signedAt.map { $0 >= newestEpoch.begunAt } ?? false
    }

    /// After an epoch was destroyed, the report without marks of deleted grants, which Google Play keeps reporting.
    func withoutForgottenMarks(_ report: GooglePlayPurchaseReport) throws(LedgerError) -> GooglePlayPurchaseReport {
        guard hasForgotten else { return report }
        let claimed = report.history.purchases.values.compactMap(\.markedGrant)
        let known = try database(issued.entries(of: claimed))
        var history = report.history
        for (purchase, record) in history.purchases where record.markedGrant.flatMap({ known[$0] }) == nil {
            history.purchases[purchase]?.mark = nil
        }
        return report.with(history: history, accounts: report.accounts, holders: report.holders)
    }
}
