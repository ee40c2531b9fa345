// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Storage

/// Moves what the ledger has of somebody under the secret of an earlier epoch to the key that they have now.
///
/// Only who names a customer, a transaction or a purchase can do so: the two keys have nothing in common. From then on
/// everything is as if there had been one secret. Used by one thread, inside an open transaction.
struct KeySuccessions {
    private let connection: any DatabaseConnection

    private let grants: GrantTable

    init(_ grants: GrantTable) {
        self.grants = grants
        connection = grants.connection
    }

    /// Moves what there is.
    func apply(_ successions: [KeySuccession]) throws(StorageError) {
        for succession in successions {
            for earlier in succession.earlier where earlier != succession.current {
                try grants.settle(earlier)
                try grants.removeCopies(of: earlier)
                guard try isUsed(earlier) else { continue }
                for key in [earlier, succession.current] { grants.change(key) }
                try move(earlier, to: succession.current)
                try KeyEpochs(connection: connection).note([succession.current])
            }
        }
    }

    private func isUsed(_ key: [UInt8]) throws(StorageError) -> Bool {
        let found = try connection.first(
            SQL(
                """
                SELECT EXISTS (SELECT 1 FROM grants WHERE subject = ?)
                    OR EXISTS (SELECT 1 FROM app_store_customers WHERE subject = ?)
                    OR EXISTS (SELECT 1 FROM app_store_customers WHERE chain = ?)
                    OR EXISTS (SELECT 1 FROM app_store_chains WHERE chain = ?)
                    OR EXISTS (SELECT 1 FROM app_store_transactions WHERE transaction_key = ?)
                    OR EXISTS (SELECT 1 FROM google_play_customers WHERE subject = ?)
                    OR EXISTS (SELECT 1 FROM google_play_customers WHERE purchase = ?)
                    OR EXISTS (SELECT 1 FROM google_play_purchases WHERE purchase = ?)
                    OR EXISTS (SELECT 1 FROM google_play_links WHERE predecessor = ?)
                    OR EXISTS (SELECT 1 FROM customer_links WHERE from_subject = ?)
                    OR EXISTS (SELECT 1 FROM customer_links WHERE to_subject = ?)
                    OR EXISTS (SELECT 1 FROM subscription_holders WHERE subscription = ?)
                    OR EXISTS (SELECT 1 FROM google_play_accounts WHERE customer = ?)
                    OR EXISTS (SELECT 1 FROM customer_attributes WHERE subject = ?)
                """,
                Array(repeating: .blob(key), count: 14)
            )
        ) { $0.integer(0) }
        return found == 1
    }

    private func move(_ earlier: [UInt8], to current: [UInt8]) throws(StorageError) {
        try renamePredecessor(earlier, to: current)
        for (copy, remove) in Self.tables {
            try connection.enqueue(SQL(copy, .blob(current), .blob(earlier)))
            try connection.enqueue(SQL(remove, .blob(earlier)))
        }
        try renameHolder(earlier, to: current)
        try renameAccount(earlier, to: current)
        try renameFirstTransaction(earlier, to: current)
        try connection.enqueue(
            SQL("UPDATE google_play_accounts SET customer = ? WHERE customer = ?", .blob(current), .blob(earlier))
        )
    }

    /// A purchase's record names the purchases that it took the place of.
    private func renamePredecessor(_ earlier: [UInt8], to current: [UInt8]) throws(StorageError) {
        try renameInRecords(
            """
            UPDATE google_play_purchases SET record = replace(record, ?, ?)
            WHERE purchase IN (SELECT purchase FROM google_play_links WHERE predecessor = ?)
            """,
            earlier,
            to: current,
            of: earlier
        )
    }

    /// Records are texts that have keys as the audit log writes them; `owner` says whose records are meant.
    private func renameInRecords(
        _ update: StaticString,
        _ earlier: [UInt8],
        to current: [UInt8],
        of owner: [UInt8]
    ) throws(StorageError) {
        let keys = [earlier, current].map { SQLValue.text(AuditEntry.text(ofKey: $0)) }
        try connection.enqueue(SQL(update, keys + [.blob(owner)]))
    }

    /// Who has a subscription is always among its customers, so no subscription of another need be looked at.
    private func renameHolder(_ earlier: [UInt8], to current: [UInt8]) throws(StorageError) {
        try connection.enqueue(
            SQL(
                """
                UPDATE subscription_holders SET subject = ? WHERE subject = ? AND subscription IN (
                    SELECT chain FROM app_store_customers WHERE subject = ?
                    UNION SELECT purchase FROM google_play_customers WHERE subject = ?
                )
                """,
                .blob(current),
                .blob(earlier),
                .blob(current),
                .blob(current)
            )
        )
    }

    /// Grants name the account that they were given to, and transactions the account that they were bought by; both are
    /// among those whose rows have just moved.
    private func renameAccount(_ earlier: [UInt8], to current: [UInt8]) throws(StorageError) {
        try connection.enqueue(
            SQL(
                """
                UPDATE issued_grants SET account = ? WHERE account = ? AND grant_id IN (
                    SELECT grant_id FROM grants WHERE subject = ?
                )
                """,
                .blob(current),
                .blob(earlier),
                .blob(current)
            )
        )
        try renameInRecords(
            """
            UPDATE app_store_transactions SET record = replace(record, ?, ?)
            WHERE chain IN (SELECT chain FROM app_store_customers WHERE subject = ?)
            """,
            earlier,
            to: current,
            of: current
        )
    }

    private func renameFirstTransaction(_ earlier: [UInt8], to current: [UInt8]) throws(StorageError) {
        try connection.enqueue(
            SQL(
                """
                UPDATE app_store_redemptions SET first_transaction = ? WHERE first_transaction = ? AND chain IN (
                    SELECT chain FROM app_store_transactions WHERE transaction_key = ?
                )
                """,
                .blob(current),
                .blob(earlier),
                .blob(current)
            )
        )
    }

    /// How rows get another key: copied under it, unless there is one already, and removed.
    private static let tables: [(copy: StaticString, remove: StaticString)] = [
        (
            """
            INSERT INTO grants (subject, offer_key, grant_id, entry_index)
            SELECT ?, offer_key, grant_id, entry_index FROM grants WHERE subject = ? ON CONFLICT DO NOTHING
            """,
            "DELETE FROM grants WHERE subject = ?"
        ),
        (
            """
            INSERT INTO app_store_customers (subject, chain)
            SELECT ?, chain FROM app_store_customers WHERE subject = ? ON CONFLICT DO NOTHING
            """,
            "DELETE FROM app_store_customers WHERE subject = ?"
        ),
        (
            """
            INSERT INTO app_store_customers (chain, subject)
            SELECT ?, subject FROM app_store_customers WHERE chain = ? ON CONFLICT DO NOTHING
            """,
            "DELETE FROM app_store_customers WHERE chain = ?"
        ),
        (
            """
            INSERT INTO app_store_chains (chain, renewal, status, statuses_read_at, history_complete_at)
            SELECT ?, renewal, status, statuses_read_at, history_complete_at FROM app_store_chains
            WHERE chain = ? ON CONFLICT DO NOTHING
            """,
            "DELETE FROM app_store_chains WHERE chain = ?"
        ),
        (
            """
            INSERT INTO app_store_transactions (chain, transaction_key, record)
            SELECT ?, transaction_key, record FROM app_store_transactions WHERE chain = ? ON CONFLICT DO NOTHING
            """,
            "DELETE FROM app_store_transactions WHERE chain = ?"
        ),
        (
            """
            INSERT INTO app_store_transactions (transaction_key, chain, record)
            SELECT ?, chain, record FROM app_store_transactions WHERE transaction_key = ? ON CONFLICT DO NOTHING
            """,
            "DELETE FROM app_store_transactions WHERE transaction_key = ?"
        ),
        (
            """
            INSERT INTO app_store_redemptions (
                chain, first_transaction, offer_id, product_id, state, redeemed_at, settled_at, grant_id, bundle_id,
                environment, matched_as, entry_index, refunded_at, refunded_millipercent
            )
            SELECT ?, first_transaction, offer_id, product_id, state, redeemed_at, settled_at, grant_id, bundle_id,
                environment, matched_as, entry_index, refunded_at, refunded_millipercent
            FROM app_store_redemptions WHERE chain = ? ON CONFLICT DO NOTHING
            """,
            "DELETE FROM app_store_redemptions WHERE chain = ?"
        ),
        (
            """
            INSERT INTO google_play_customers (subject, purchase)
            SELECT ?, purchase FROM google_play_customers WHERE subject = ? ON CONFLICT DO NOTHING
            """,
            "DELETE FROM google_play_customers WHERE subject = ?"
        ),
        (
            """
            INSERT INTO google_play_customers (purchase, subject)
            SELECT ?, subject FROM google_play_customers WHERE purchase = ? ON CONFLICT DO NOTHING
            """,
            "DELETE FROM google_play_customers WHERE purchase = ?"
        ),
        (
            """
            INSERT INTO google_play_purchases (purchase, record, marked_grant)
            SELECT ?, record, marked_grant FROM google_play_purchases WHERE purchase = ? ON CONFLICT DO NOTHING
            """,
            "DELETE FROM google_play_purchases WHERE purchase = ?"
        ),
        (
            """
            INSERT INTO google_play_links (purchase, predecessor)
            SELECT ?, predecessor FROM google_play_links WHERE purchase = ? ON CONFLICT DO NOTHING
            """,
            "DELETE FROM google_play_links WHERE purchase = ?"
        ),
        (
            """
            INSERT INTO google_play_links (predecessor, purchase)
            SELECT ?, purchase FROM google_play_links WHERE predecessor = ? ON CONFLICT DO NOTHING
            """,
            "DELETE FROM google_play_links WHERE predecessor = ?"
        ),
        (
            """
            INSERT INTO google_play_redemptions (
                purchase, product_id, base_plan_id, offer_id, offer_key, state, redeemed_at, settled_at, grant_id,
                matched_by, package_name, environment, matched_as, entry_index, refunded_at, refunded_millipercent
            )
            SELECT ?, product_id, base_plan_id, offer_id, offer_key, state, redeemed_at, settled_at, grant_id,
                matched_by, package_name, environment, matched_as, entry_index, refunded_at, refunded_millipercent
            FROM google_play_redemptions WHERE purchase = ? ON CONFLICT DO NOTHING
            """,
            "DELETE FROM google_play_redemptions WHERE purchase = ?"
        ),
        (
            """
            INSERT INTO customer_links (from_subject, to_subject, is_vouched, linked_at, entry_index)
            SELECT ?, to_subject, is_vouched, linked_at, entry_index FROM customer_links WHERE from_subject = ?
            ON CONFLICT DO NOTHING
            """,
            "DELETE FROM customer_links WHERE from_subject = ?"
        ),
        (
            """
            INSERT INTO customer_links (to_subject, from_subject, is_vouched, linked_at, entry_index)
            SELECT ?, from_subject, is_vouched, linked_at, entry_index FROM customer_links WHERE to_subject = ?
            ON CONFLICT DO NOTHING
            """,
            "DELETE FROM customer_links WHERE to_subject = ?"
        ),
        (
            """
            INSERT INTO subscription_holders (subscription, kind, subject, since)
            SELECT ?, kind, subject, since FROM subscription_holders WHERE subscription = ? ON CONFLICT DO NOTHING
            """,
            "DELETE FROM subscription_holders WHERE subscription = ?"
        ),
        (
            """
            INSERT INTO customer_attributes (subject, attributes, stored_at, expires_at, entry_index, facts)
            SELECT ?, attributes, stored_at, expires_at, entry_index, facts FROM customer_attributes WHERE subject = ?
            ON CONFLICT DO NOTHING
            """,
            "DELETE FROM customer_attributes WHERE subject = ?"
        ),
    ]
}
