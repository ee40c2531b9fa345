// SPDX-License-Identifier: Apache-2.0
import Configuration
import Storage

/// A customer has a subscription.
package struct SubscriptionLink: Hashable, Sendable {
    /// The key of a pseudonym.
    package let subject: [UInt8]
    /// The key of a chain of the App Store, or of a purchase at Google Play.
    package let subscription: [UInt8]

    package init(subject: [UInt8], subscription: [UInt8]) {
        (self.subject, self.subscription) = (subject, subscription)
    }

    /// What links two subscriptions of one customer: `other` becomes a customer of both.
    static func links(between subscription: [UInt8], and other: [UInt8]) -> [SubscriptionLink] {
        [subscription, other].map { SubscriptionLink(subject: other, subscription: $0) }
    }
}

/// Which customers have which subscriptions in one store; used by one thread, inside an open transaction.
package struct SubscriptionCustomers {
    /// How many subscriptions are ever looked at together: more than any customer has, and few enough for one
    /// transaction.
    package static let mostSubscriptions = 256

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
                row(of: link)
            )
        ) == 1
    }

    /// Whether the subscription is known to be of that customer.
    func has(_ link: SubscriptionLink) throws(StorageError) -> Bool {
        try connection.first(
            SQL(
                "SELECT 1 FROM subscription_customers WHERE subject = ? AND store = ? AND subscription = ?",
                row(of: link)
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

    /// The customers who have a subscription, in order, without the subscriptions that the store links to it.
    func customers(of subscription: [UInt8]) throws(StorageError) -> [[UInt8]] {
        try connection.all(
            SQL(
                """
                SELECT subject FROM subscription_customers AS this
                WHERE subscription = ? AND store = ? AND NOT EXISTS (
                    SELECT 1 FROM subscription_customers AS own
                    WHERE own.subject = this.subject AND own.store = this.store AND own.subscription = this.subject
                )
                ORDER BY subject
                """,
                [.blob(subscription), .text(store.recordName)]
            )
        ) { $0.blob(0) }
    }

    /// The customers who have a subscription, and the subscriptions that the store links to it, in order.
    func subjects(of subscription: [UInt8]) throws(StorageError) -> [[UInt8]] {
        try connection.all(
            SQL(
                "SELECT subject FROM subscription_customers WHERE subscription = ? AND store = ? ORDER BY subject",
                [.blob(subscription), .text(store.recordName)]
            )
        ) { $0.blob(0) }
    }

    /// Notes that the store links two subscriptions: `other` becomes a customer of both.
    func link(_ subscription: [UInt8], to other: [UInt8]) throws(StorageError) {
        for link in SubscriptionLink.links(between: subscription, and: other) {
            try connection.insert(row(of: link), into: Self.links)
        }
    }

    private static let links = Insertion(
        into: "subscription_customers",
        columns: "subject, store, subscription",
        onConflict: .keeps
    )

    private func row(of link: SubscriptionLink) -> [SQLValue] {
        [.blob(link.subject), .text(store.recordName), .blob(link.subscription)]
    }

    /// The subscriptions that the store links to this one, in order.
    ///
    /// A link is a subscription that is a customer of itself and of the other.
    func linked(to subscription: [UInt8], limit: Int) throws(StorageError) -> [[UInt8]] {
        let (key, store) = (SQLValue.blob(subscription), SQLValue.text(store.recordName))
        return try connection.all(
            SQL(
                """
                SELECT subscription FROM subscription_customers
                WHERE subject = ? AND store = ? AND subscription <> subject
                UNION SELECT subject FROM subscription_customers AS link
                WHERE subscription = ? AND store = ? AND subscription <> subject AND EXISTS (
                    SELECT 1 FROM subscription_customers AS own
                    WHERE own.subject = link.subject AND own.store = link.store AND own.subscription = link.subject
                )
                ORDER BY 1 LIMIT ?
                """,
                [key, store, key, store, .integer(Int64(limit))]
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
