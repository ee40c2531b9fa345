// SPDX-License-Identifier: Apache-2.0
import Configuration
import Storage

/// A customer has a subscription.
package struct SubscriptionLink: Hashable, Sendable {
    /// The key of a pseudonym, 16 bytes.
    package let subject: [UInt8]
    /// The key of a chain of the App Store, or of a purchase at Google Play.
    package let subscription: [UInt8]

    package init(subject: [UInt8], subscription: [UInt8]) {
        (self.subject, self.subscription) = (subject, subscription)
    }
}

/// Which customers have which subscriptions in one store; used by one thread, inside an open transaction.
struct SubscriptionCustomers {
    let store: Store
    let connection: any DatabaseConnection

    /// False if it was there before.
    func add(_ link: SubscriptionLink) throws(StorageError) -> Bool {
        try connection.run(
            SQL(
                """
                INSERT INTO subscription_customers (subject, store, subscription) VALUES (?, ?, ?)
                ON CONFLICT DO NOTHING
                """,
                [.blob(link.subject), .text(store.recordName), .blob(link.subscription)]
            )
        ) == 1
    }

    /// Whether the subscription is known to be of that customer.
    func has(_ link: SubscriptionLink) throws(StorageError) -> Bool {
        try connection.first(
            SQL(
                "SELECT 1 FROM subscription_customers WHERE subject = ? AND store = ? AND subscription = ?",
                [.blob(link.subject), .text(store.recordName), .blob(link.subscription)]
            )
        ) { _ in true } ?? false
    }

    /// The customer's subscriptions, in order, at most `limit`.
    func subscriptions(of subject: [UInt8], limit: Int) throws(StorageError) -> [[UInt8]] {
        try connection.all(
            SQL(
                """
                SELECT subscription FROM subscription_customers WHERE subject = ? AND store = ?
                ORDER BY subscription LIMIT ?
                """,
                [.blob(subject), .text(store.recordName), .integer(Int64(limit))]
            )
        ) { $0.blob(0) }
    }

    /// The customers who have a subscription, in order.
    func subjects(of subscription: [UInt8]) throws(StorageError) -> [[UInt8]] {
        try connection.all(
            SQL(
                "SELECT subject FROM subscription_customers WHERE subscription = ? AND store = ? ORDER BY subject",
                [.blob(subscription), .text(store.recordName)]
            )
        ) { $0.blob(0) }
    }

    /// The subscriptions that share a customer with this one, and whether the store links the two.
    ///
    /// A link is a subscription that is a customer of itself and of the other. One may be there twice.
    func siblings(
        of subscription: [UInt8],
        limit: Int
    ) throws(StorageError) -> [(subscription: [UInt8], isLinked: Bool)] {
        try connection.all(
            SQL(
                """
                SELECT DISTINCT other.subscription,
                    CASE WHEN other.subject IN (this.subscription, other.subscription) THEN 1 ELSE 0 END
                FROM subscription_customers AS this
                JOIN subscription_customers AS other ON other.subject = this.subject AND other.store = this.store
                WHERE this.subscription = ? AND this.store = ? LIMIT ?
                """,
                [.blob(subscription), .text(store.recordName), .integer(Int64(limit))]
            )
        ) { row in
            let sibling = row.blob(0)
            return (sibling, sibling != subscription && row.integer(1) == 1)
        }
    }
}
