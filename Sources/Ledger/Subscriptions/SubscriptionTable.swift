// SPDX-License-Identifier: Apache-2.0
import Configuration
package import OfferDomain
package import Storage

/// What the ledger keeps of one store's subscriptions, and which customer has which.
///
/// Each report is merged into the stored data part by part, so order and duplicates do not matter. Used by one thread,
/// inside an open transaction.
package struct SubscriptionTable<Record: StoredSubscription> {
    /// The key of a chain of the App Store, or of a purchase at Google Play.
    package typealias Key = OpaqueKey<Record>

    let connection: any DatabaseConnection

    var customers: SubscriptionCustomers { SubscriptionCustomers(store: Record.store, connection: connection) }

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    // MARK: - Reading

    /// What is kept of a subscription; `nil` if nothing is.
    func record(of key: Key) throws(StorageError) -> Record? {
        let sql = SQL(
            "SELECT record, history_complete_at, marked_grant FROM subscription_records WHERE subscription = ?",
            .blob(key.bytes)
        )
        guard var row = try connection.first(sql, SubscriptionRow.init) else { return nil }
        if Record.hasTransactions {
            try connection.rows(
                SQL("SELECT transaction_key, record FROM transaction_records WHERE subscription = ?", .blob(key.bytes))
            ) { row.transactions[TransactionKey($0.blob(0))] = $0.text(1) }
        }
        // Unreadable data must not count as missing data.
        guard let record = Record(row) else { throw .unexpectedValue(column: 0) }
        return record
    }

    /// The customer's subscriptions, at most one more than ``SubscriptionCustomers/mostSubscriptions``.
    func subscriptions(of subject: [UInt8]) throws(StorageError) -> [Key] {
        try customers.subscriptions(of: subject, limit: SubscriptionCustomers.mostSubscriptions + 1).map(Key.init)
    }

    /// Every subscription that is kept.
    func all() throws(StorageError) -> [Key] {
        try keys(
            SQL(
                "SELECT subscription FROM subscription_records WHERE store = ? ORDER BY subscription",
                .text(Record.store.recordName)
            )
        )
    }

    func keys(_ sql: SQL) throws(StorageError) -> [Key] {
        try connection.all(sql) { Key($0.blob(0)) }
    }

    // MARK: - Merging

    /// Adds what is new; returns the subscriptions that changed or have a new customer.
    func merge(
        _ news: [Key: Record],
        _ links: some Sequence<SubscriptionLink>
    ) throws(StorageError) -> Set<Key> {
        var changed: Set<Key> = []
        for (key, news) in news {
            let known = try record(of: key)
            var merged = known ?? Record()
            merged.merge(news)
            guard merged != known else { continue }
            try write(merged.row(since: known), key)
            changed.insert(key)
        }
        for link in links where try customers.add(link) { changed.insert(Key(link.subscription)) }
        return changed
    }

    /// Puts this in the place of what is kept of a subscription and of these transactions of it, and adds its links.
    func write(_ row: SubscriptionRow, _ key: Key) throws(StorageError) {
        let values: [SQLValue] = [
            .blob(key.bytes), .text(Record.store.recordName), .text(row.record), SQLValue(row.historyCompleteAt),
            (row.markedGrant?.bytes).map(SQLValue.blob) ?? .null,
        ]
        try connection.insert(values, into: SubscriptionRow.insertion)
        for (transaction, record) in row.transactions {
            let values: [SQLValue] = [.blob(key.bytes), .blob(transaction.bytes), .text(record)]
            try connection.insert(values, into: SubscriptionRow.transactions)
        }
        for other in row.linked { try customers.link(key.bytes, to: other) }
    }
}

extension SQLValue {
    package init(_ text: String?) { self = text.map(SQLValue.text) ?? .null }

    init(_ instant: Timestamp?) { self = instant.map { .integer($0.milliseconds) } ?? .null }
}
