// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// Finds the pseudonyms of known customers in records, and records each lookup: the pseudonyms, never the names.
package struct CustomerLookup {
    private let ledger: LedgerAccess
    private let pseudonyms: Pseudonyms

    package init(ledger: LedgerAccess, pseudonyms: Pseudonyms) {
        self.ledger = ledger
        self.pseudonyms = pseudonyms
    }

    /// The pseudonyms of each name, one for each secret, the newest first; it returns once the lookup is recorded.
    ///
    /// At most 16 names, so that what is recorded fits into its entry.
    package func users(
        _ identities: [CustomerIdentity],
        in app: AppName
    ) throws(LedgerError) -> [Pseudonym] {
        guard ledger.exists else { throw .databaseGone }
        let destroyed: Set<String>
        do {
            destroyed = try SecretVersionTable(connection: try ledger.open()).destroyed()
        } catch {
            throw .database(error)
        }
        let pseudonyms = pseudonyms.without(destroyed)
        let newest = identities.map { pseudonyms.pseudonym(of: $0, in: app) }
        let users = newest.flatMap { [$0] + $0.earlier }
        do throws(LedgerChangeError<Never>) {
            try ledger.change { _ in
                // Only the newest of each name: an entry with two would still link them after one's secret is
                // destroyed. An entry has room for 32.
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
