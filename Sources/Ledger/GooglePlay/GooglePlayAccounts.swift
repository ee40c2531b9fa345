// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import ServiceRuntime
import Storage

/// The account ids that were given out; by them, purchases at Google Play name customers.
///
/// Many apps name accounts by their own hash, which looks the same. So an ID that was never given out names no
/// customer. A purchase keeps its first ID; the table has the customer's present key. Used by one thread, inside an
/// open transaction.
struct GooglePlayAccounts {
    private let connection: any DatabaseConnection

    init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// Notes that the account id of the customer with that key is given out; the entry of that index records it.
    func add(_ account: GooglePlayAccountID, of customer: [UInt8], entry: Int64) throws(StorageError) {
        try connection.insert([.blob(account.key), .blob(customer), .integer(entry)], into: Self.insertion)
    }

    private static let insertion = Insertion(
        into: "google_play_accounts",
        columns: "account, customer, entry_index",
        onConflict: .updates(keyColumns: 1, "entry_index = excluded.entry_index")
    )

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
