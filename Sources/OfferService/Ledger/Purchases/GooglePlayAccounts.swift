// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage

/// The account ids that were given out, by which purchases at Google Play name a customer of ours.
///
/// Many apps name accounts by a hash of their own, which looks alike: what was never given out is nobody whom the ledger
/// knows. A purchase names its account for good, as it was called then; here stands under which key the ledger has that
/// customer now. Used by one thread, inside an open transaction.
struct GooglePlayAccounts {
    private let connection: any DatabaseConnection

    init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// Notes that a customer of that key is told their account id; the entry of that index says so.
    func add(_ customer: [UInt8], entry: Int64) throws(StorageError) {
        try connection.enqueue(
            SQL(
                """
                INSERT INTO google_play_accounts (account, customer, entry_index) VALUES (?, ?, ?)
                ON CONFLICT DO NOTHING
                """,
                .blob(customer),
                .blob(customer),
                .integer(entry)
            )
        )
    }

    /// The customers' keys of those of the accounts that were given out.
    func customers(of accounts: Set<[UInt8]>) throws(StorageError) -> [[UInt8]: [UInt8]] {
        var found: [[UInt8]: [UInt8]] = [:]
        for account in accounts {
            let row = SQL("SELECT customer FROM google_play_accounts WHERE account = ?", .blob(account))
            found[account] = try connection.first(row) { $0.blob(0) }
        }
        return found
    }
}

extension LedgerWriter {
    /// A report with the customers' keys in place of the accounts that it names, if they are ours; every other is left out.
    func withCustomers(_ report: GooglePlayPurchaseReport) throws(LedgerError) -> GooglePlayPurchaseReport {
        if report.accounts.isEmpty { return report }
        let customers = try database { () throws(StorageError) in
            try googlePlayAccounts.customers(of: Set(report.accounts.map(\.subject)))
        }
        return report.naming(customers)
    }

    /// Those of the accounts that were given out to somebody else than these, and than who is linked to one of them.
    func accountsOfOthers(_ accounts: Set<[UInt8]>, than own: [[UInt8]]) throws(LedgerError) -> Set<[UInt8]> {
        let customers = try database { () throws(StorageError) in try googlePlayAccounts.customers(of: accounts) }
        let known = try own + linked(to: own)
        return Set(customers.filter { !known.contains($0.value) }.keys)
    }
}

extension Committer {
    /// Those of the accounts whose ids were given out to somebody else than these customers; all by their keys.
    package func accountsOfOthers(
        _ accounts: Set<[UInt8]>,
        than own: [[UInt8]]
    ) async throws(LedgerError) -> Set<[UInt8]> {
        if accounts.isEmpty { return [] }
        let found = Guarded<Set<[UInt8]>>([])
        try await look { writer throws(LedgerError) in
            let others = try writer.accountsOfOthers(accounts, than: own)
            found.withLock { $0 = others }
        }
        return found.withLock { $0 }
    }
}
