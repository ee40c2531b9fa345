// SPDX-License-Identifier: Apache-2.0
import OfferService
import Storage

@testable import Ledger

extension TestService {
    /// Every row of the tables with the App Store's data, as SQL literals.
    func storeTables() throws -> [String] {
        try rows(Self.storeTableQueries)
    }

    /// The redemptions, each as its offer and its state, and whether a grant was found for it.
    func redemptions() throws -> [String] {
        try rows([
            """
            SELECT offer_id || ' ' || state || CASE WHEN grant_id IS NULL THEN ' without grant' ELSE ' granted' END
            FROM redemptions ORDER BY redeemed_at
            """
        ])
    }

    func rows(_ queries: [StaticString]) throws -> [String] {
        let connection = try ledger.openForReading()
        var rows: [String] = []
        for query in queries { try connection.rows(SQL(query)) { rows.append($0.text(0)) } }
        return rows
    }

    private static let storeTableQueries: [StaticString] = [
        """
        SELECT 'subscription ' || quote(subscription) || quote(store) || quote(record) || quote(history_complete_at)
        FROM subscription_records ORDER BY subscription
        """,
        """
        SELECT 'transaction ' || quote(subscription) || quote(transaction_key) || quote(record)
        FROM transaction_records ORDER BY subscription, transaction_key
        """,
        """
        SELECT 'customer ' || quote(subject) || quote(store) || quote(subscription)
        FROM subscription_customers ORDER BY subject, subscription
        """,
        """
        SELECT 'holder ' || quote(subscription) || quote(kind) || quote(subject) || quote(since)
        FROM subscription_holders ORDER BY subscription, kind
        """,
        """
        SELECT 'notification ' || quote(notification_id) || quote(store) || quote(sent_at)
        FROM store_notifications ORDER BY notification_id
        """,
        """
        SELECT 'redemption ' || quote(subscription) || quote(first_transaction) || quote(offer_id) || quote(product_id)
            || quote(state) || quote(redeemed_at) || quote(settled_at) || quote(grant_id) || quote(refunded_at)
            || quote(refunded_millipercent)
        FROM redemptions ORDER BY subscription, first_transaction
        """,
    ]
}
