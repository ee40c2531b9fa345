// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage

extension LedgerWriter {
    /// Merges data of Google Play into the ledger; each message only once.
    package func absorb(_ report: GooglePlayPurchaseReport) throws(LedgerError) -> Absorption {
        if let message = report.message {
            let isNew = try database(notifications.remember(message, of: report.place.app.packageName))
            guard isNew else { return .repeated }
            let index = try append(.googlePlayMessageReceived(message, report.place.app))
            try relay(message.relayedBody, of: .googlePlay, entry: index)
            try noteTold(NotifiedApp(store: .googlePlay, name: report.place.app.packageName.text))
        }
        try merge(report)
        return .recorded
    }

    /// Merges data of Google Play as a part of another change.
    package func merge(_ report: GooglePlayPurchaseReport) throws(LedgerError) {
        try apply(report.rotatedKeys)
        try noteInForce(report.keysInForce)
        let report = try withCustomers(try withoutForgottenMarks(report))
        try note(report.holders, at: .googlePlay(report.place.app.packageName))
        let changed = try database(googlePlay.merge(report))
        try matchRedemptions(of: changed, report.place)
    }

    /// Updates the redemptions that may have come from the same grants to what is known now.
    func matchRedemptions(of purchases: Set<PurchaseKey>, _ place: PlayContext) throws(LedgerError) {
        guard !purchases.isEmpty else { return }
        let source = GooglePlayRedemptions(grants, links: links, at: place)
        try matchRedemptions(of: purchases.map(\.bytes), source, in: place.app.name)
    }
}
