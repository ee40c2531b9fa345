// SPDX-License-Identifier: Apache-2.0
package import Configuration
import OfferDomain
import Storage

/// What a store reports of one subscription, and how the ledger writes it.
///
/// Each store maps its answers to such a type. Everything else is the same for all stores.
package protocol StoredSubscription: Hashable, Sendable {
    /// The store that reports it.
    static var store: Store { get }
    /// Whether the store reports transactions of a subscription one by one.
    static var hasTransactions: Bool { get }

    /// Nothing is known.
    init()

    /// Adds what another report says; the order of reports makes no difference.
    mutating func merge(_ other: Self)

    /// Reads what ``row(since:)`` wrote; `nil` if a part of it cannot be read.
    init?(_ row: SubscriptionRow)

    /// What is written, with those transactions and links that differ from what is known.
    func row(since known: Self?) -> SubscriptionRow
}

/// The row of a subscription, and the rows of its transactions.
package struct SubscriptionRow {
    /// JSON: the part of the subscription that decisions need.
    let record: String
    /// When the store last listed all transactions.
    var historyCompleteAt: Timestamp?
    /// The grant that the app attached to the purchase.
    var markedGrant: UniqueID?
    /// JSON: the part of each transaction that decisions need.
    var transactions: [TransactionKey: String] = [:]
    /// The keys of other subscriptions that the store newly links to this one.
    var linked: [[UInt8]] = []

    init(record: String) { self.record = record }

    init(_ row: borrowing Row) {
        record = row.text(0)
        historyCompleteAt = row.optionalInteger(1).map(Timestamp.init(milliseconds:))
        markedGrant = row.optionalBlob(2).flatMap(UniqueID.init(bytes:))
    }

    static let insertion = Insertion(
        into: "subscription_records",
        columns: "subscription, store, record, history_complete_at, marked_grant",
        onConflict: .replaces(keyColumns: 1)
    )
    static let transactions = Insertion(
        into: "transaction_records",
        columns: "subscription, transaction_key, record",
        onConflict: .replaces(keyColumns: 2)
    )
}
