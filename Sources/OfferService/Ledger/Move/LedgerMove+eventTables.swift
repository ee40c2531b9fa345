// SPDX-License-Identifier: Apache-2.0

extension LedgerMove {
    /// What the App Store was given to show, and what became of it.
    static let retentionTable = Table(
        name: "retention_answers",
        columns: 8,
        select: """
            SELECT request_id, chain, bundle_id, environment, answer, offer, answered_at, outcome
                FROM retention_answers ORDER BY request_id
            """,
        insert: """
            INSERT INTO retention_answers (request_id, chain, bundle_id, environment, answer, offer, answered_at, outcome)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """
    )

    /// What backends store about their customers.
    static let attributesTable = Table(
        name: "customer_attributes",
        columns: 6,
        select: """
            SELECT subject, attributes, stored_at, expires_at, entry_index, facts FROM customer_attributes ORDER BY subject
            """,
        insert: """
            INSERT INTO customer_attributes (subject, attributes, stored_at, expires_at, entry_index, facts)
                VALUES (?, ?, ?, ?, ?, ?)
            """
    )

    /// The keys with which apps prove themselves.
    static let appAttestTable = Table(
        name: "app_attest_keys",
        columns: 9,
        select: """
            SELECT key_id, public_key, bundle_id, environment, origin, challenge, counter, registered_at, used_day
                FROM app_attest_keys ORDER BY key_id
            """,
        insert: """
            INSERT INTO app_attest_keys (key_id, public_key, bundle_id, environment, origin, challenge, counter,
                registered_at, used_day) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
    )

    /// Requests with a token that counts once.
    static let spentTokensTable = Table(
        name: "spent_integrity_tokens",
        columns: 2,
        select: "SELECT request_key, spent_at FROM spent_integrity_tokens ORDER BY request_key",
        insert: "INSERT INTO spent_integrity_tokens (request_key, spent_at) VALUES (?, ?)"
    )

    /// The sessions of the console.
    static let sessionsTable = Table(
        name: "console_sessions",
        columns: 9,
        select: """
            SELECT session, sign_in, caller_id, role, provider, settings_digest, begun_at, expires_at, ended_at
                FROM console_sessions ORDER BY session
            """,
        insert: """
            INSERT INTO console_sessions (session, sign_in, caller_id, role, provider, settings_digest, begun_at,
                expires_at, ended_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
    )

    /// How far each receiver of events is, and what it is still to be sent.
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
            select: "SELECT entry_index, store, body, received_at FROM relayed_notifications ORDER BY entry_index",
            insert: "INSERT INTO relayed_notifications (entry_index, store, body, received_at) VALUES (?, ?, ?, ?)"
        ),
    ]
}
