// SPDX-License-Identifier: Apache-2.0
package import Storage

/// The tables of the service, as migrations; a migration that was released is never edited.
///
/// Nothing personal lies here in the clear: a `subject` is a keyed pseudonym. Tables are keyed so that rows
/// are added at their end, or close together; the one index that can't be is the customers' own.
package enum LedgerSchema {
    package static let migrations = [
        Migration(
            version: 1,
            name: "records, grants, idempotency keys, callers, key states",
            statements: [
                """
                CREATE TABLE audit_entries (
                    entry_index BIGINT PRIMARY KEY,
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
        )
    ]
}
