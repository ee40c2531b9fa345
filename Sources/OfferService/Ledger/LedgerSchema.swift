// SPDX-License-Identifier: Apache-2.0
package import Storage

/// The tables of the service, as migrations; a migration that was released is never edited.
///
/// Nothing personal lies here in the clear: a `subject` is a keyed pseudonym. Tables are keyed so that rows
/// are added at their end, or close together; the one index that can't be, the customers' own, is written
/// to in the order of customers, many at a time.
package enum LedgerSchema {
    package static let migrations = [
        Migration(
            version: 1,
            name: "records, grants, idempotency keys, callers, key states",
            statements: [
                """
                CREATE TABLE audit_entries (
                    entry_index INTEGER PRIMARY KEY,
                    entry BLOB NOT NULL
                )
                """,
                """
                CREATE TABLE grants (
                    subject BLOB NOT NULL,
                    offer_key BIGINT NOT NULL,
                    grant_id BLOB NOT NULL,
                    entry_index BIGINT NOT NULL,
                    PRIMARY KEY (subject, offer_key, grant_id)
                ) WITHOUT ROWID
                """,
                """
                CREATE TABLE grants_per_day (
                    offer_key BIGINT NOT NULL,
                    day BIGINT NOT NULL,
                    granted BIGINT NOT NULL,
                    PRIMARY KEY (offer_key, day)
                ) WITHOUT ROWID
                """,
                """
                CREATE TABLE idempotency_keys (
                    key_digest BLOB PRIMARY KEY,
                    request_digest BLOB NOT NULL,
                    grant_id BLOB NOT NULL,
                    nonce BLOB NOT NULL,
                    signed_at BIGINT NOT NULL,
                    decision BLOB NOT NULL
                ) WITHOUT ROWID
                """,
                "CREATE INDEX idempotency_keys_by_age ON idempotency_keys (signed_at)",
                """
                CREATE TABLE callers (
                    caller_id TEXT PRIMARY KEY,
                    role TEXT NOT NULL,
                    bundle_ids TEXT NOT NULL,
                    created_at BIGINT NOT NULL,
                    revoked_at BIGINT
                )
                """,
                """
                CREATE TABLE caller_keys (
                    key_id TEXT PRIMARY KEY,
                    caller_id TEXT NOT NULL REFERENCES callers (caller_id),
                    secret_digest BLOB NOT NULL,
                    created_at BIGINT NOT NULL,
                    expires_at BIGINT,
                    revoked_at BIGINT
                )
                """,
                """
                CREATE TABLE key_states (
                    key_id TEXT PRIMARY KEY,
                    disabled_at BIGINT NOT NULL
                )
                """,
            ]
        ),
        Migration(
            version: 2,
            name: "what the App Store tells",
            statements: [
                """
                CREATE TABLE app_store_chains (
                    chain BLOB PRIMARY KEY,
                    renewal TEXT,
                    status TEXT,
                    statuses_read_at BIGINT,
                    history_complete_at BIGINT
                ) WITHOUT ROWID
                """,
                """
                CREATE TABLE app_store_transactions (
                    chain BLOB NOT NULL,
                    transaction_key BLOB NOT NULL,
                    record TEXT NOT NULL,
                    PRIMARY KEY (chain, transaction_key)
                ) WITHOUT ROWID
                """,
                "CREATE INDEX app_store_transactions_by_key ON app_store_transactions (transaction_key)",
                """
                CREATE TABLE app_store_customers (
                    subject BLOB NOT NULL,
                    chain BLOB NOT NULL,
                    PRIMARY KEY (subject, chain)
                ) WITHOUT ROWID
                """,
                "CREATE INDEX app_store_customers_by_chain ON app_store_customers (chain)",
                """
                CREATE TABLE app_store_notifications (
                    notification_id BLOB PRIMARY KEY,
                    signed_at BIGINT NOT NULL
                ) WITHOUT ROWID
                """,
                """
                CREATE TABLE app_store_redemptions (
                    chain BLOB NOT NULL,
                    first_transaction BLOB NOT NULL,
                    offer_id TEXT NOT NULL,
                    product_id TEXT NOT NULL,
                    state TEXT NOT NULL,
                    redeemed_at BIGINT NOT NULL,
                    settled_at BIGINT,
                    grant_id BLOB,
                    PRIMARY KEY (chain, first_transaction)
                ) WITHOUT ROWID
                """,
            ]
        ),
        Migration(
            version: 3,
            name: "links between customers, holders of subscriptions",
            statements: [
                """
                CREATE TABLE customer_links (
                    from_subject BLOB NOT NULL,
                    to_subject BLOB NOT NULL,
                    linked_at BIGINT NOT NULL,
                    entry_index BIGINT NOT NULL,
                    PRIMARY KEY (from_subject, to_subject)
                ) WITHOUT ROWID
                """,
                "CREATE INDEX customer_links_by_target ON customer_links (to_subject)",
                "CREATE INDEX customer_links_by_entry ON customer_links (entry_index)",
                """
                CREATE TABLE subscription_holders (
                    subscription BLOB NOT NULL,
                    kind TEXT NOT NULL,
                    subject BLOB NOT NULL,
                    since BIGINT NOT NULL,
                    PRIMARY KEY (subscription, kind)
                ) WITHOUT ROWID
                """,
            ]
        ),
        googlePlay,
        logTree,
        checkpoints,
        epochs,
        seals,
        auditIndex,
        reconciliation,
        instances,
        newGrants, idempotencyKeysByLog, newGrantsByPlace, grantedNames,
        googlePlayAccounts, keyEpochs, grantPlaces,
    ]
}
