// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage

extension LedgerWriter {
    /// Whether a grant may be named beside keys in force: it is of the version in force, or that is the only one.
    ///
    /// For a grant whose use no store will report, `signedAt` decides; without it the answer is false.
    func isOfNewestVersion(_ grantID: UniqueID?, signedAt: Timestamp? = nil) throws(LedgerError) -> Bool {
        guard let newestVersion, let grantID else { return true }
        let entries = try database(issued.entries(of: [grantID]))
        if let entry = entries[grantID] { return entry >= newestVersion.firstEntry }
        return signedAt.map { $0 >= newestVersion.begunAt } ?? false
    }

    /// After a secret was destroyed, the history without marks of deleted grants, which Google Play keeps reporting.
    func withoutForgottenMarks(_ history: GooglePlayHistory) throws(LedgerError) -> GooglePlayHistory {
        guard hasForgotten else { return history }
        let known = try database(issued.entries(of: history.purchases.values.compactMap(\.markedGrant)))
        var kept = history
        for (purchase, record) in history.purchases where record.markedGrant.flatMap({ known[$0] }) == nil {
            kept.purchases[purchase]?.mark = nil
        }
        return kept
    }
}
