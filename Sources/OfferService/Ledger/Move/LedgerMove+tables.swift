// SPDX-License-Identifier: Apache-2.0
import Storage

extension LedgerMove {
    /// How the rows of one table are read and written; statements stand in the program, as all do.
    struct Table: Sendable {
        let name: String
        let columns: Int
        let select: StaticString
        let insert: StaticString
    }

    /// The tables to be moved from one kind of engine to the same or another.
    ///
    /// Only SQLite has places of all grants; a server carries them over to `grants`, so there they arrive.
    static func tables(from source: DatabaseLocation, to target: DatabaseLocation) -> [Table] {
        guard case (.sqlite, .postgreSQL) = (source, target) else { return tables }
        return tables.compactMap { table in
            switch table.name {
            case newGrantsIntoGrants.name: newGrantsIntoGrants
            case "grant_places", "grant_places_state": nil
            default: table
            }
        }
    }

    private static let newGrantsIntoGrants = Table(
        name: "new_grants",
        columns: 4,
        select: """
            SELECT subject, offer_key, grant_id, place / 256 FROM new_grants ORDER BY place
            """,
        insert: """
            INSERT INTO grants (subject, offer_key, grant_id, entry_index) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
            """
    )

    /// Every table with rows of its own, those first that others refer to.
    ///
    /// Left out: the list of migrations, and the instances that use a database with their reloads.
    static let tables =
        ledgerTables + eventTables
        + [retentionTable, attributesTable, appAttestTable, spentTokensTable, sessionsTable]

    private static let ledgerTables = [
        Table(
            name: "audit_entries",
            columns: 2,
            select: """
                SELECT entry_index, entry FROM audit_entries ORDER BY entry_index
                """,
            insert: """
                INSERT INTO audit_entries (entry_index, entry) VALUES (?, ?)
                """
        ),
        Table(
            name: "grants",
            columns: 4,
            select: """
                SELECT subject, offer_key, grant_id, entry_index FROM
                    grants ORDER BY subject, offer_key, grant_id
                """,
            insert: """
                INSERT INTO grants (subject, offer_key, grant_id, entry_index) VALUES (?, ?, ?, ?)
                """
        ),
        Table(
            name: "new_grants",
            columns: 4,
            select: """
                SELECT place, subject, offer_key, grant_id FROM new_grants ORDER BY place
                """,
            insert: """
                INSERT INTO new_grants (place, subject, offer_key, grant_id) VALUES (?, ?, ?, ?)
                """
        ),
        Table(
            name: "grant_places",
            columns: 2,
            select: """
                SELECT first_prefix, places FROM grant_places ORDER BY first_prefix
                """,
            insert: """
                INSERT INTO grant_places (first_prefix, places) VALUES (?, ?)
                """
        ),
        Table(
            name: "grant_places_state",
            columns: 1,
            select: """
                SELECT before_entry FROM grant_places_state
                """,
            insert: """
                UPDATE grant_places_state SET before_entry = ?
                """
        ),
        Table(
            name: "grants_per_day",
            columns: 3,
            select: """
                SELECT offer_key, day, granted FROM grants_per_day ORDER BY offer_key, day
                """,
            insert: """
                INSERT INTO grants_per_day (offer_key, day, granted) VALUES (?, ?, ?)
                """
        ),
        Table(
            name: "idempotency_keys",
            columns: 7,
            select: """
                SELECT key_digest, request_digest, grant_id, nonce, signed_at, decision, recorded_at FROM
                    idempotency_keys ORDER BY key_digest
                """,
            insert: """
                INSERT INTO idempotency_keys (key_digest, request_digest, grant_id, nonce,
                    signed_at, decision, recorded_at) VALUES (?, ?, ?, ?, ?, ?, ?)
                """
        ),
        Table(
            name: "callers",
            columns: 6,
            select: """
                SELECT caller_id, role, bundle_ids, created_at, revoked_at, rate FROM
                    callers ORDER BY caller_id
                """,
            insert: """
                INSERT INTO callers (caller_id, role, bundle_ids, created_at, revoked_at, rate) VALUES
                    (?, ?, ?, ?, ?, ?)
                """
        ),
        Table(
            name: "caller_keys",
            columns: 6,
            select: """
                SELECT key_id, caller_id, secret_digest, created_at, expires_at, revoked_at FROM
                    caller_keys ORDER BY key_id
                """,
            insert: """
                INSERT INTO caller_keys (key_id, caller_id, secret_digest, created_at, expires_at,
                    revoked_at) VALUES (?, ?, ?, ?, ?, ?)
                """
        ),
        Table(
            name: "key_states",
            columns: 3,
            select: """
                SELECT key_id, disabled_at, acknowledged_at FROM key_states ORDER BY key_id
                """,
            insert: """
                INSERT INTO key_states (key_id, disabled_at, acknowledged_at) VALUES (?, ?, ?)
                """
        ),
        Table(
            name: "app_store_chains",
            columns: 5,
            select: """
                SELECT chain, renewal, status, statuses_read_at, history_complete_at FROM
                    app_store_chains ORDER BY chain
                """,
            insert: """
                INSERT INTO app_store_chains (chain, renewal, status, statuses_read_at,
                    history_complete_at) VALUES (?, ?, ?, ?, ?)
                """
        ),
        Table(
            name: "app_store_transactions",
            columns: 3,
            select: """
                SELECT chain, transaction_key, record FROM
                    app_store_transactions ORDER BY chain, transaction_key
                """,
            insert: """
                INSERT INTO app_store_transactions (chain, transaction_key, record) VALUES
                    (?, ?, ?)
                """
        ),
        Table(
            name: "app_store_customers",
            columns: 2,
            select: """
                SELECT subject, chain FROM app_store_customers ORDER BY subject, chain
                """,
            insert: """
                INSERT INTO app_store_customers (subject, chain) VALUES (?, ?)
                """
        ),
        Table(
            name: "app_store_notifications",
            columns: 2,
            select: """
                SELECT notification_id, signed_at FROM
                    app_store_notifications ORDER BY notification_id
                """,
            insert: """
                INSERT INTO app_store_notifications (notification_id, signed_at) VALUES (?, ?)
                """
        ),
        Table(
            name: "app_store_redemptions",
            columns: 14,
            select: """
                SELECT chain, first_transaction, offer_id, product_id, state, redeemed_at,
                    settled_at, refunded_at, refunded_millipercent, grant_id, bundle_id, environment,
                    matched_as, entry_index FROM
                    app_store_redemptions ORDER BY chain, first_transaction
                """,
            insert: """
                INSERT INTO app_store_redemptions (chain, first_transaction, offer_id, product_id,
                    state, redeemed_at, settled_at, refunded_at, refunded_millipercent, grant_id,
                    bundle_id, environment, matched_as, entry_index) VALUES
                    (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ),
        Table(
            name: "customer_links",
            columns: 5,
            select: """
                SELECT from_subject, to_subject, is_vouched, linked_at, entry_index FROM
                    customer_links ORDER BY from_subject, to_subject
                """,
            insert: """
                INSERT INTO customer_links (from_subject, to_subject, is_vouched, linked_at, entry_index)
                    VALUES (?, ?, ?, ?, ?)
                """
        ),
        Table(
            name: "subscription_holders",
            columns: 4,
            select: """
                SELECT subscription, kind, subject, since FROM
                    subscription_holders ORDER BY subscription, kind
                """,
            insert: """
                INSERT INTO subscription_holders (subscription, kind, subject, since) VALUES
                    (?, ?, ?, ?)
                """
        ),
        Table(
            name: "google_play_purchases",
            columns: 3,
            select: """
                SELECT purchase, record, marked_grant FROM google_play_purchases ORDER BY purchase
                """,
            insert: """
                INSERT INTO google_play_purchases (purchase, record, marked_grant) VALUES (?, ?, ?)
                """
        ),
        Table(
            name: "customer_key_epochs",
            columns: 2,
            select: """
                SELECT ledger_key, ordinal FROM customer_key_epochs ORDER BY ledger_key
                """,
            insert: """
                INSERT INTO customer_key_epochs (ledger_key, ordinal) VALUES (?, ?)
                """
        ),
        Table(
            name: "google_play_accounts",
            columns: 3,
            select: """
                SELECT account, customer, entry_index FROM google_play_accounts ORDER BY account
                """,
            insert: """
                INSERT INTO google_play_accounts (account, customer, entry_index) VALUES (?, ?, ?)
                """
        ),
        Table(
            name: "google_play_links",
            columns: 2,
            select: """
                SELECT purchase, predecessor FROM google_play_links ORDER BY purchase, predecessor
                """,
            insert: """
                INSERT INTO google_play_links (purchase, predecessor) VALUES (?, ?)
                """
        ),
        Table(
            name: "google_play_customers",
            columns: 2,
            select: """
                SELECT subject, purchase FROM google_play_customers ORDER BY subject, purchase
                """,
            insert: """
                INSERT INTO google_play_customers (subject, purchase) VALUES (?, ?)
                """
        ),
        Table(
            name: "google_play_messages",
            columns: 2,
            select: """
                SELECT message_key, sent_at FROM google_play_messages ORDER BY message_key
                """,
            insert: """
                INSERT INTO google_play_messages (message_key, sent_at) VALUES (?, ?)
                """
        ),
        Table(
            name: "google_play_redemptions",
            columns: 16,
            select: """
                SELECT purchase, product_id, base_plan_id, offer_id, offer_key, state, redeemed_at,
                    settled_at, refunded_at, refunded_millipercent, grant_id, matched_by, package_name,
                    environment, matched_as, entry_index FROM
                    google_play_redemptions ORDER BY purchase, product_id, base_plan_id, offer_id
                """,
            insert: """
                INSERT INTO google_play_redemptions (purchase, product_id, base_plan_id, offer_id,
                    offer_key, state, redeemed_at, settled_at, refunded_at, refunded_millipercent,
                    grant_id, matched_by, package_name, environment, matched_as, entry_index) VALUES
                    (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ),
        Table(
            name: "log_tiles",
            columns: 3,
            select: """
                SELECT level, tile_index, hashes FROM log_tiles ORDER BY level, tile_index
                """,
            insert: """
                INSERT INTO log_tiles (level, tile_index, hashes) VALUES (?, ?, ?)
                """
        ),
        Table(
            name: "log_head",
            columns: 3,
            select: """
                SELECT head_id, size, root_hash FROM log_head ORDER BY head_id
                """,
            insert: """
                INSERT INTO log_head (head_id, size, root_hash) VALUES (?, ?, ?)
                """
        ),
        Table(
            name: "checkpoints",
            columns: 5,
            select: """
                SELECT origin, size, root_hash, note, signed_at FROM checkpoints ORDER BY origin
                """,
            insert: """
                INSERT INTO checkpoints (origin, size, root_hash, note, signed_at) VALUES
                    (?, ?, ?, ?, ?)
                """
        ),
        Table(
            name: "cosignatures",
            columns: 5,
            select: """
                SELECT origin, witness, size, note, cosigned_at FROM
                    cosignatures ORDER BY origin, witness
                """,
            insert: """
                INSERT INTO cosignatures (origin, witness, size, note, cosigned_at) VALUES
                    (?, ?, ?, ?, ?)
                """
        ),
        Table(
            name: "customer_epochs",
            columns: 7,
            select: """
                SELECT epoch, ordinal, check_value, first_entry, begun_at, destroyed_at,
                    forgotten_until FROM customer_epochs ORDER BY epoch
                """,
            insert: """
                INSERT INTO customer_epochs (epoch, ordinal, check_value, first_entry, begun_at,
                    destroyed_at, forgotten_until) VALUES (?, ?, ?, ?, ?, ?, ?)
                """
        ),
        Table(
            name: "seals",
            columns: 4,
            select: """
                SELECT cause, since, detail, acknowledged_at FROM seals ORDER BY cause
                """,
            insert: """
                INSERT INTO seals (cause, since, detail, acknowledged_at) VALUES (?, ?, ?, ?)
                """
        ),
        Table(
            name: "key_uses",
            columns: 2,
            select: """
                SELECT key_id, last_used_at FROM key_uses ORDER BY key_id
                """,
            insert: """
                INSERT INTO key_uses (key_id, last_used_at) VALUES (?, ?)
                """
        ),
        Table(
            name: "audit_index_state",
            columns: 2,
            select: """
                SELECT version, hash_key FROM audit_index_state
                """,
            insert: """
                INSERT INTO audit_index_state (version, hash_key) VALUES (?, ?)
                """
        ),
        Table(
            name: "audit_index_runs",
            columns: 2,
            select: """
                SELECT run, usage FROM audit_index_runs ORDER BY run
                """,
            insert: """
                INSERT INTO audit_index_runs (run, usage) VALUES (?, ?)
                """
        ),
        Table(
            name: "audit_index_parts",
            columns: 3,
            select: """
                SELECT run, first_key, postings FROM audit_index_parts ORDER BY run, first_key
                """,
            insert: """
                INSERT INTO audit_index_parts (run, first_key, postings) VALUES (?, ?, ?)
                """
        ),
        Table(
            name: "issued_grants",
            columns: 5,
            select: """
                SELECT grant_id, offer_key, granted_at, account, entry_index FROM
                    issued_grants ORDER BY grant_id
                """,
            insert: """
                INSERT INTO issued_grants (grant_id, offer_key, granted_at, account, entry_index)
                    VALUES (?, ?, ?, ?, ?)
                """
        ),
        Table(
            name: "granted_offers",
            columns: 8,
            select: """
                SELECT offer_key, store, app, store_app, product_id, base_plan_id, offer_id, rule
                    FROM granted_offers ORDER BY offer_key
                """,
            insert: """
                INSERT INTO granted_offers (offer_key, store, app, store_app, product_id,
                    base_plan_id, offer_id, rule) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """
        ),
        Table(
            name: "granted_names",
            columns: 6,
            select: """
                SELECT store, product_id, base_plan_id, offer_id, store_app, offer_key FROM granted_names
                    ORDER BY store, product_id, base_plan_id, offer_id, store_app, offer_key
                """,
            insert: """
                INSERT INTO granted_names (store, product_id, base_plan_id, offer_id, store_app,
                    offer_key) VALUES (?, ?, ?, ?, ?, ?)
                """
        ),
        Table(
            name: "catalog_names",
            columns: 6,
            select: """
                SELECT store, product_id, base_plan_id, offer_id, store_app, first_seen_at FROM catalog_names
                    ORDER BY store, product_id, base_plan_id, offer_id, store_app
                """,
            insert: """
                INSERT INTO catalog_names (store, product_id, base_plan_id, offer_id, store_app,
                    first_seen_at) VALUES (?, ?, ?, ?, ?, ?)
                """
        ),
        Table(
            name: "notified_apps",
            columns: 4,
            select: """
                SELECT store, store_app, first_told_at, last_told_at FROM
                    notified_apps ORDER BY store, store_app
                """,
            insert: """
                INSERT INTO notified_apps (store, store_app, first_told_at, last_told_at) VALUES
                    (?, ?, ?, ?)
                """
        ),
        Table(
            name: "unredeemed_scans",
            columns: 3,
            select: "SELECT store, store_app, last_grant FROM unredeemed_scans ORDER BY store, store_app",
            insert: "INSERT INTO unredeemed_scans (store, store_app, last_grant) VALUES (?, ?, ?)"
        ),
    ]
}
