// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// Tells how records write known customers, and records that it was asked: the pseudonyms, never the names.
package struct CustomerLookup {
    private let ledger: LedgerAccess
    private let pseudonyms: Pseudonyms

    package init(ledger: LedgerAccess, pseudonyms: Pseudonyms) {
        self.ledger = ledger
        self.pseudonyms = pseudonyms
    }

    /// The pseudonyms of each name, one for each epoch with the newest first, once it is on record who was looked up.
    ///
    /// At most 16 names, so that what is recorded fits into its entry.
    package func users(
        _ identities: [CustomerIdentity],
        in app: AppName
    ) throws(LedgerError) -> [Pseudonym] {
        guard ledger.exists else { throw .databaseGone }
        let destroyed: Set<String>
        do {
            destroyed = try EpochTable(connection: try ledger.open()).destroyed()
        } catch {
            throw .database(error)
        }
        let pseudonyms = pseudonyms.without(destroyed)
        let newest = identities.map { pseudonyms.pseudonym(of: $0, in: app) }
        let users = newest.flatMap { [$0] + $0.earlier }
        do throws(LedgerChangeError<Never>) {
            try ledger.change { _ in
                // Of each name the newest alone: an entry with two would say who is who after one's secret is destroyed.
                // An entry has room for so many.
                stride(from: 0, to: newest.count, by: 32).map { start in
                    .customerLookedUp(app, users: Array(newest[start..<min(start + 32, newest.count)]))
                }
            }
        } catch {
            if case .ledger(let error) = error { throw error }
        }
        return users
    }
}
