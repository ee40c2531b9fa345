// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage

/// Deletes everything that leads from entries of one secret version to a customer; inside an open transaction.
///
/// If a customer has come back since, grants of the version are found under later secrets. Each grant names its entry
/// of the audit log, which has the old pseudonyms, and so does each link. Rows of other times with a key of the version
/// are deleted too: alone they can't be found any more, and beside a key in force they identify the customer.
struct DestructionSweep {
    let connection: any DatabaseConnection
    let secretVersion: SecretVersionTable.Entry
    /// The secret version that took over.
    let next: SecretVersionTable.Entry

    /// Deletes the data, and all redemptions before `settled`.
    func run(settled: Timestamp) throws(StorageError) {
        try forgetEntries()
        // Their grants are gone, and without its grant a redemption would count as never granted.
        try connection.run(SQL("DELETE FROM redemptions WHERE redeemed_at < ?", .integer(settled.milliseconds)))
        try forgetKeys()
        try connection.run(SQL(Self.usesOfGoneGrants))
        // An offset has the first bits of a key that has a grant in an entry.
        if !connection.isRemote { try GrantOffsetTable(connection: connection).rebuild() }
        try forgetAccountsInRecords()
        try forgetMarks()
    }

    // MARK: - By the time when it was in force

    private func forgetEntries() throws(StorageError) {
        let span: [SQLValue] = [.integer(secretVersion.firstEntry), .integer(next.firstEntry)]
        for statement in Self.entries { try connection.run(SQL(statement, span)) }
        let places = [secretVersion, next].map { SQLValue.integer(GrantLogRow.first(of: $0.firstEntry)) }
        try connection.run(SQL("DELETE FROM grants_by_time WHERE place >= ? AND place < ?", places))
        // A retry would return deleted data under another name, and guessed bodies with IDs could be tried out.
        let begunAt = try beginning()
        try connection.run(SQL("DELETE FROM idempotency_keys WHERE recorded_at < ?", .integer(begunAt)))
        try connection.run(SQL("DELETE FROM retention_answers WHERE answered_at < ?", .integer(begunAt)))
    }

    /// When the next secret version began, in milliseconds by the time of the log, which never goes back.
    private func beginning() throws(StorageError) -> Int64 {
        let sql = SQL("SELECT entry FROM audit_entries WHERE entry_index = ?", .integer(next.firstEntry))
        let entry = try connection.first(sql) { $0.blob(0) }
        return entry.flatMap { AuditEntry.recordedMilliseconds($0) } ?? next.begunAt.milliseconds
    }

    private static let entries: [StaticString] = [
        "DELETE FROM grants WHERE entry_index >= ? AND entry_index < ?",
        "DELETE FROM issued_grants WHERE entry_index >= ? AND entry_index < ?",
        "DELETE FROM customer_links WHERE entry_index >= ? AND entry_index < ?",
        "DELETE FROM google_play_accounts WHERE entry_index >= ? AND entry_index < ?",
        "DELETE FROM customer_attributes WHERE entry_index >= ? AND entry_index < ?",
    ]

    // MARK: - By keys

    /// Removes every row with a key of the secret version.
    private func forgetKeys() throws(StorageError) {
        for statement in Self.besideKeys { try connection.run(SQL(statement, .blob(secretVersion.keyTag))) }
        try KeyTables.ofLedger.removeRows(endingIn: secretVersion.keyTag, after: LedgerKey.digestBytes, connection)
    }

    /// Statements for rows outside of `KeyTables`, and for those that depend on keys in other rows: run first.
    private static let besideKeys: [StaticString] = [
        // Grants of other times too: a key of the version may name a subscription of which only the customer was named
        // later, or a customer of an earlier version.
        "DELETE FROM grants_by_time WHERE substr(subject, 17) = ?",
        "DELETE FROM retention_answers WHERE substr(chain, 17) = ?",
        "UPDATE issued_grants SET account = NULL WHERE substr(account, 17) = ?",
        // A history that loses a transaction is incomplete, so the service asks for it again.
        """
        UPDATE subscription_records SET history_complete_at = NULL WHERE subscription IN (
            SELECT subscription FROM transaction_records
            WHERE substr(transaction_key, 17) = ?
        )
        """,
        // A record names the purchases before its own. Without one of them it would pass for the first: it is deleted.
        """
        DELETE FROM subscription_records WHERE store = 'google-play' AND subscription IN (
            SELECT subscription FROM subscription_customers
            WHERE subject IN (SELECT subject FROM subscription_customers WHERE subject = subscription)
                AND substr(subject, 17) = ?
        )
        """,
    ]

    /// Deletes redemptions of grants that are gone, which lead to their entries; either engine reads each table once.
    private static let usesOfGoneGrants: StaticString = """
        DELETE FROM redemptions WHERE grant_id IN (
            SELECT grant_id FROM redemptions WHERE grant_id IS NOT NULL
            EXCEPT SELECT grant_id FROM grants EXCEPT SELECT grant_id FROM grants_by_time
        )
        """

    // MARK: - Inside records

    /// How many records are read at a time.
    private static let page = 512

    /// Removes the account from transactions that name it by a key of the secret version.
    private func forgetAccountsInRecords() throws(StorageError) {
        var last: [SQLValue] = [.blob([]), .blob([])]
        while true {
            let rows = try connection.all(SQL(Self.transactions, last + [.integer(Int64(Self.page))])) {
                (subscription: $0.blob(0), transaction: $0.blob(1), record: TransactionRecord(json: $0.text(2)))
            }
            for row in rows {
                guard var record = row.record, let account = record.account?.bytes,
                    Array(account.dropFirst(LedgerKey.digestBytes)) == secretVersion.keyTag
                else { continue }
                record.account = nil
                try connection.insert(
                    [.blob(row.subscription), .blob(row.transaction), .text(record.json)],
                    into: SubscriptionRow.transactions
                )
            }
            guard let end = rows.last, rows.count == Self.page else { return }
            last = [.blob(end.subscription), .blob(end.transaction)]
        }
    }

    private static let transactions: StaticString = """
        SELECT subscription, transaction_key, record FROM transaction_records
        WHERE (subscription, transaction_key) > (?, ?) AND record LIKE '%"account":%'
        ORDER BY subscription, transaction_key LIMIT ?
        """

    /// Removes the marks of grants that are gone: half of a mark is the grant's ID.
    private func forgetMarks() throws(StorageError) {
        let (issued, purchases) = (IssuedGrantTable(connection: connection), PurchaseTable(connection: connection))
        var last = SQLValue.blob([])
        while true {
            let rows = try connection.all(SQL(Self.marked, last, .integer(Int64(Self.page)))) {
                (purchase: $0.blob(0), record: GooglePlayPurchaseRecord(SubscriptionRow(record: $0.text(1))))
            }
            let known = try issued.entries(of: rows.compactMap { $0.record?.markedGrant })
            for row in rows {
                guard var record = row.record, record.markedGrant.flatMap({ known[$0] }) == nil else { continue }
                record.mark = nil
                try purchases.write(record.row(since: record), PurchaseKey(row.purchase))
            }
            guard let end = rows.last, rows.count == Self.page else { return }
            last = .blob(end.purchase)
        }
    }

    private static let marked: StaticString = """
        SELECT subscription, record FROM subscription_records
        WHERE marked_grant IS NOT NULL AND subscription > ? ORDER BY subscription LIMIT ?
        """
}
