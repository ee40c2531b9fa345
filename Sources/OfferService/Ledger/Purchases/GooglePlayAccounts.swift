// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage

/// The account ids that were given out, by which purchases at Google Play name a customer of ours.
///
/// Many apps name accounts by a hash of their own, which looks alike: what was never given out is nobody whom the ledger
/// knows. Used by one thread, inside an open transaction.
struct GooglePlayAccounts {
    private let connection: any DatabaseConnection

    init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// Notes that a customer of that key is told their account id; the entry of that index says so.
    func add(_ account: [UInt8], entry: Int64) throws(StorageError) {
        try connection.enqueue(
            SQL(
                "INSERT INTO google_play_accounts (account, entry_index) VALUES (?, ?) ON CONFLICT DO NOTHING",
                .blob(account),
                .integer(entry)
            )
        )
    }

    /// Those of the accounts that were given out.
    func givenOut(among accounts: Set<[UInt8]>) throws(StorageError) -> Set<[UInt8]> {
        var found: Set<[UInt8]> = []
        for account in accounts {
            let row = SQL("SELECT 1 FROM google_play_accounts WHERE account = ?", .blob(account))
            if try connection.first(row, { _ in true }) == true { found.insert(account) }
        }
        return found
    }
}

extension LedgerWriter {
    /// The accounts that a report names, if they are ours; every other is left out of it.
    func onlyGivenOut(_ report: GooglePlayPurchaseReport) throws(LedgerError) -> GooglePlayPurchaseReport {
        if report.accounts.isEmpty { return report }
        return report.naming(only: try givenOut(among: Set(report.accounts.map(\.subject))))
    }

    func givenOut(among accounts: Set<[UInt8]>) throws(LedgerError) -> Set<[UInt8]> {
        try database { () throws(StorageError) in try googlePlayAccounts.givenOut(among: accounts) }
    }
}

extension Committer {
    /// Those of the keys that are of accounts whose ids were given out.
    package func accountsGivenOut(among accounts: Set<[UInt8]>) async throws(LedgerError) -> Set<[UInt8]> {
        if accounts.isEmpty { return [] }
        let found = Guarded<Set<[UInt8]>>([])
        try await look { writer throws(LedgerError) in
            let givenOut = try writer.givenOut(among: accounts)
            found.withLock { $0 = givenOut }
        }
        return found.withLock { $0 }
    }
}
