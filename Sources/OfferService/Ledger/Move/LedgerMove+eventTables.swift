// SPDX-License-Identifier: Apache-2.0
import Storage

extension LedgerMove {
    /// How far events were delivered; the lease stays, since it is of the instances that use a database.
    static let eventTables = [
        Table(
            name: "event_endpoints",
            columns: 7,
            select: """
                SELECT endpoint, next_position, rewind_to, delivered, delivered_at, disabled_at, disabled_reason
                    FROM event_endpoints ORDER BY endpoint
                """,
            insert: """
                INSERT INTO event_endpoints (endpoint, next_position, rewind_to, delivered, delivered_at, disabled_at,
                    disabled_reason) VALUES (?, ?, ?, ?, ?, ?, ?)
                """
        ),
        Table(
            name: "event_deliveries",
            columns: 7,
            select: """
                SELECT endpoint, position, attempts, first_attempt_at, next_attempt_at, given_up_at, failure
                    FROM event_deliveries ORDER BY endpoint, position
                """,
            insert: """
                INSERT INTO event_deliveries (endpoint, position, attempts, first_attempt_at, next_attempt_at,
                    given_up_at, failure) VALUES (?, ?, ?, ?, ?, ?, ?)
                """
        ),
        Table(
            name: "relayed_notifications",
            columns: 4,
            select: """
                SELECT entry_index, store, body, received_at FROM relayed_notifications ORDER BY entry_index
                """,
            insert: """
                INSERT INTO relayed_notifications (entry_index, store, body, received_at) VALUES (?, ?, ?, ?)
                """
        ),
        Table(
            name: "unredeemed_scans",
            columns: 3,
            select: """
                SELECT store, store_app, last_grant FROM unredeemed_scans ORDER BY store, store_app
                """,
            insert: """
                INSERT INTO unredeemed_scans (store, store_app, last_grant) VALUES (?, ?, ?)
                """
        ),
    ]
}
