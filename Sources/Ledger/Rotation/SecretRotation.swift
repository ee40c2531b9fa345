// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage

/// Moves what the ledger has of a customer from the key under an earlier secret to the key under the present one.
///
/// It takes a request or a report that names the customer, transaction or purchase: neither key gives the other. After
/// the move, everything is as if there had been one secret. Used by one thread, inside an open transaction.
struct SecretRotation {
    private let connection: any DatabaseConnection

    private let grants: GrantTable

    init(_ grants: GrantTable) {
        self.grants = grants
        connection = grants.connection
    }

    /// Moves the data under the earlier keys to the current ones.
    func apply(_ rotatedKeys: [RotatedKey]) throws(StorageError) {
        for rotatedKey in rotatedKeys {
            for earlier in rotatedKey.earlier where earlier != rotatedKey.current {
                try grants.settle(earlier)
                try grants.removeCopies(of: earlier)
                guard try KeyTables.ofLedger.have(earlier, connection) else { continue }
                for key in [earlier, rotatedKey.current] { grants.change(key) }
                try move(earlier, to: rotatedKey.current)
            }
        }
    }

    private func move(_ earlier: [UInt8], to current: [UInt8]) throws(StorageError) {
        try renamePredecessor(earlier, to: current)
        try KeyTables.ofLedger.rename(earlier, to: current, connection)
        try renameHolder(earlier, to: current)
        try renameAccount(earlier, to: current)
        try renameFirstTransaction(earlier, to: current)
    }

    /// Renames the key in records of purchases that replaced this one, if it is a purchase that others replaced.
    private func renamePredecessor(_ earlier: [UInt8], to current: [UInt8]) throws(StorageError) {
        try renameInRecords(
            """
            UPDATE subscription_records SET record = replace(record, ?, ?)
            WHERE subscription IN (
                SELECT link.subscription FROM subscription_customers AS own
                JOIN subscription_customers AS link ON link.subject = own.subject AND link.store = own.store
                WHERE own.subject = ? AND own.subscription = own.subject AND own.store = 'google-play'
            )
            """,
            earlier,
            to: current,
            of: earlier
        )
    }

    /// Renames a key in the records of `owner`, which are texts.
    private func renameInRecords(
        _ update: StaticString,
        _ earlier: [UInt8],
        to current: [UInt8],
        of owner: [UInt8]
    ) throws(StorageError) {
        let keys = [earlier, current].map { SQLValue.text(AccountKey($0).recordText) }
        try connection.enqueue(SQL(update, keys + [.blob(owner)]))
    }

    /// Renames the holder of each of the customer's subscriptions: a holder is always one of the customers.
    private func renameHolder(_ earlier: [UInt8], to current: [UInt8]) throws(StorageError) {
        try rename(
            """
            UPDATE subscription_holders SET subject = ? WHERE subject = ? AND subscription IN (
                SELECT subscription FROM subscription_customers WHERE subject = ?
            )
            """,
            earlier,
            to: current
        )
    }

    /// Renames the account that grants were given to and that transactions were bought by; both are among those whose
    /// rows have just moved.
    private func renameAccount(_ earlier: [UInt8], to current: [UInt8]) throws(StorageError) {
        try rename(
            """
            UPDATE issued_grants SET account = ? WHERE account = ? AND grant_id IN (
                SELECT grant_id FROM grants WHERE subject = ?
            )
            """,
            earlier,
            to: current
        )
        try renameInRecords(
            """
            UPDATE transaction_records SET record = replace(record, ?, ?)
            WHERE subscription IN (SELECT subscription FROM subscription_customers WHERE subject = ?)
            """,
            earlier,
            to: current,
            of: current
        )
    }

    private func renameFirstTransaction(_ earlier: [UInt8], to current: [UInt8]) throws(StorageError) {
        try rename(
            """
            UPDATE redemptions SET first_transaction = ? WHERE first_transaction = ? AND subscription IN (
                SELECT subscription FROM transaction_records WHERE transaction_key = ?
            )
            """,
            earlier,
            to: current
        )
    }

    /// Runs an update of a column without an index; its last condition finds the rows by those that have just moved.
    private func rename(_ update: StaticString, _ earlier: [UInt8], to current: [UInt8]) throws(StorageError) {
        try connection.enqueue(SQL(update, [current, earlier, current].map(SQLValue.blob)))
    }
}
