// SPDX-License-Identifier: Apache-2.0
package import Storage

/// The tables of the service, for SQLite and PostgreSQL.
///
/// `PostgreSQLText` exchanges the few words that PostgreSQL spells differently (`BLOB`, `INTEGER`, `TEXT`, `WITHOUT
/// ROWID`); everything else is the same on both engines. SQLite keeps the comments, so `sqlite3 offer-signer.db .schema`
/// shows them.
///
/// Before the first release, edit the schema here. After it, add a `Migration` to ``migrations`` for each change.
///
/// Conventions:
/// - A column that ends in `_at` or `_until` is a time in milliseconds since 1970 UTC.
/// - `entry_index` is the index of the audit log entry that records the row, unless its comment says otherwise.
/// - `subject`, `subscription`, `transaction_key`, `account` and `customer` are keys: 16 bytes of an HMAC-SHA-256 over a
///   customer's ID, a transaction ID or a purchase token, and 2 bytes that all keys of one secret have in common. No row
///   names a person in the clear.
/// - `offer_key` is 64 bits of a digest over app, the catalog's own offer ID, and store.
/// - `grant_id` is a UUIDv7 in 16 bytes.
///
/// In SQLite, a table whose rows are added in the order of its key has `INTEGER PRIMARY KEY`, or a rowid and a second tree.
/// A table that is read and written by its key is `WITHOUT ROWID`, unless one row can be as long as a page.
package enum LedgerSchema {
    package static let migrations = [
        Migration(
            version: 1,
            name: "tables of 0.1.0",
            statements: auditLog + auditIndex + grants + reconciliation + purchases + googlePlay + customers
                + callers + operation + catalog + unredeemedGrants + eventDeliveries + retention + attributes
                + genuineApps + consoleSessions
        )
    ]

    // MARK: - The audit log

    /// The log's entries, its Merkle tree (RFC 6962), and the signatures on it.
    private static let auditLog: [StaticString] = [
        """
        CREATE TABLE audit_entries (
            -- The audit log. Rows are only added.
            entry_index INTEGER PRIMARY KEY,        -- from 0, without gaps
            entry BLOB NOT NULL                     -- canonical JSON; its leaf hash covers exactly these bytes
        )
        """,
        """
        CREATE TABLE log_tiles (
            -- Hashes of the tree, 256 to a tile. Tiles of level 0 are full; the last tile of each level above it grows.
            level BIGINT NOT NULL,                  -- 0 for leaf hashes; a hash of level n covers 256^n entries
            tile_index BIGINT NOT NULL,             -- from 0 within the level
            hashes BLOB NOT NULL,                   -- 32 bytes for each hash, in order
            PRIMARY KEY (level, tile_index)
        )
        """,
        """
        CREATE TABLE log_head (
            -- The size and root of the tree. One row; each transaction that adds entries updates it.
            head_id BIGINT PRIMARY KEY CHECK (head_id = 1),
            size BIGINT NOT NULL,                   -- number of entries
            root_hash BLOB NOT NULL                 -- 32 bytes
        )
        """,
        // The root of a tree without entries is SHA-256 of nothing.
        """
        INSERT INTO log_head (head_id, size, root_hash)
        VALUES (1, 0, x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
        """,
        """
        CREATE TABLE checkpoints (
            -- The newest checkpoint under each name of the log; after audit new-log also the last one of the old name.
            origin TEXT PRIMARY KEY,                -- the log's name
            size BIGINT NOT NULL,                   -- number of entries that it covers
            root_hash BLOB NOT NULL,                -- 32 bytes
            note BLOB NOT NULL,                     -- the signed note
            signed_at BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE cosignatures (
            -- The newest checkpoint that each witness has signed.
            origin TEXT NOT NULL,                   -- the log's name
            witness TEXT NOT NULL,                  -- the witness's name
            size BIGINT NOT NULL,                   -- number of entries that it covers
            note BLOB NOT NULL,                     -- the signed note, with the witness's signature
            cosigned_at BIGINT NOT NULL,
            PRIMARY KEY (origin, witness)
        )
        """,
    ]

    /// The search index over the log.
    ///
    /// It is derived from the entries and can be rebuilt.
    private static let auditIndex: [StaticString] = [
        """
        CREATE TABLE audit_index_state (
            -- One row: what the index was made with.
            version BIGINT NOT NULL,                -- version of the index format
            hash_key BLOB NOT NULL                  -- 16 bytes: the SipHash key of the terms
        )
        """,
        "INSERT INTO audit_index_state (version, hash_key) VALUES (1, randomblob(16))",
        """
        CREATE TABLE audit_index_runs (
            -- A run is 16,384 entries in a row.
            run BIGINT PRIMARY KEY,                 -- index of its first entry, divided by 16,384
            usage BLOB NOT NULL                     -- uses of keys, decisions and refusals, counted by hour
        )
        """,
        """
        CREATE TABLE audit_index_parts (
            -- Where a run has which terms. A row can be as long as a page, so the table has a rowid.
            run BIGINT NOT NULL,
            first_key BIGINT NOT NULL,              -- the least hashed term of this part
            postings BLOB NOT NULL,                 -- hashed terms and offsets within the run
            PRIMARY KEY (run, first_key)
        )
        """,
    ]

    // MARK: - Grants

    /// What was granted, by customer and by day, and the keys of retries.
    ///
    /// On SQLite, a customer's grants are in `grants_by_time` and `grants` together; `GrantTable` reads both.
    private static let grants: [StaticString] = [
        """
        CREATE TABLE grants (
            -- Grants by customer. PostgreSQL: all. SQLite: of customers with many, a renamed key, or a used grant.
            subject BLOB NOT NULL,                  -- a customer, or a chain or purchase that a grant counts for
            offer_key BIGINT NOT NULL,
            grant_id BLOB NOT NULL,
            entry_index BIGINT NOT NULL,
            PRIMARY KEY (subject, offer_key, grant_id)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE grants_by_time (
            -- SQLite: grants in the order of time. Empty on PostgreSQL.
            place INTEGER PRIMARY KEY,              -- entry_index times 256, plus 1 for each further subject of the grant
            subject BLOB NOT NULL,
            offer_key BIGINT NOT NULL,
            grant_id BLOB NOT NULL
        )
        """,
        """
        CREATE TABLE grant_offsets (
            -- SQLite: where rows of grants_by_time are, in the order of subjects. Empty on PostgreSQL.
            -- A row can be as long as a page, so the table has a rowid.
            first_prefix INTEGER PRIMARY KEY,       -- the first 24 bits of the least subject of this row
            offsets BLOB NOT NULL                   -- 8 bytes each: 24 bits of the subject, 40 bits of entry_index plus 1
        )
        """,
        """
        CREATE TABLE grant_offsets_state (
            -- One row.
            before_entry BIGINT NOT NULL            -- each grant of an earlier entry is in grant_offsets or grants
        )
        """,
        "INSERT INTO grant_offsets_state (before_entry) VALUES (0)",
        """
        CREATE TABLE grants_per_day (
            -- How often an offer was granted, for budgets.
            offer_key BIGINT NOT NULL,
            day BIGINT NOT NULL,                    -- UTC days since 1970
            granted BIGINT NOT NULL,                -- number of grants
            PRIMARY KEY (offer_key, day)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE idempotency_keys (
            -- What was granted under an idempotency key. Kept for 24 hours.
            key_digest BLOB PRIMARY KEY,            -- digest of caller and key, and for a batch the item's number
            request_digest BLOB NOT NULL,           -- digest of the body and the offer
            grant_id BLOB NOT NULL,
            nonce BLOB NOT NULL,                    -- the signature's nonce, 16 bytes
            signed_at BIGINT NOT NULL,              -- the signature's timestamp, by the system's clock
            decision BLOB NOT NULL,                 -- JSON, as the first answer had it
            recorded_at BIGINT NOT NULL             -- by the log's clock, which never goes back
        ) WITHOUT ROWID
        """,
        "CREATE INDEX idempotency_keys_by_age ON idempotency_keys (signed_at)",
    ]

    /// What redemptions are matched to: each grant whose use a store reports, and the names of its offer.
    private static let reconciliation: [StaticString] = [
        """
        CREATE TABLE issued_grants (
            -- Grants whose use a store reports, in the order of time.
            grant_id BLOB PRIMARY KEY,
            offer_key BIGINT NOT NULL,
            granted_at BIGINT NOT NULL,
            account BLOB,                           -- the account that the grant is bound to, if any
            entry_index BIGINT NOT NULL
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE granted_offers (
            -- The newest names of each offer that was ever granted.
            offer_key BIGINT PRIMARY KEY,
            store TEXT NOT NULL,                    -- app-store or google-play
            app TEXT NOT NULL,                      -- the catalog's name of the app
            store_app TEXT NOT NULL,                -- bundle ID or package name
            product_id TEXT NOT NULL,
            base_plan_id TEXT,                      -- Google Play alone
            offer_id TEXT NOT NULL,                 -- the store's ID of the offer
            rule TEXT NOT NULL                      -- the catalog's own ID of the offer
        )
        """,
        """
        CREATE TABLE granted_names (
            -- Every name that an offer was ever granted under: a grant is used under the name that it was given under.
            store TEXT NOT NULL,                    -- app-store or google-play
            product_id TEXT NOT NULL,
            base_plan_id TEXT NOT NULL,             -- empty in the App Store
            offer_id TEXT NOT NULL,                 -- the store's ID of the offer
            store_app TEXT NOT NULL,                -- bundle ID or package name
            offer_key BIGINT NOT NULL,
            PRIMARY KEY (store, product_id, base_plan_id, offer_id, store_app, offer_key)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE notified_apps (
            -- When a store has sent notifications about an app.
            store TEXT NOT NULL,                    -- app-store or google-play
            store_app TEXT NOT NULL,                -- bundle ID or package name
            first_report_at BIGINT NOT NULL,
            last_report_at BIGINT NOT NULL,         -- to the minute
            PRIMARY KEY (store, store_app)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE redemptions (
            -- Uses of offers, each with the grant that it was matched to.
            subscription BLOB NOT NULL,             -- a chain or a purchase
            first_transaction BLOB NOT NULL,        -- App Store: transaction_key of the first with the offer; empty until then
            product_id TEXT NOT NULL,
            base_plan_id TEXT NOT NULL,             -- empty in the App Store
            offer_id TEXT NOT NULL,                 -- the store's ID of the offer
            store TEXT NOT NULL,                    -- app-store or google-play
            store_app TEXT NOT NULL,                -- bundle ID or package name
            offer_key BIGINT,                       -- Google Play alone
            state TEXT NOT NULL,                    -- pending, redeemed, converted, notConverted or undone
            redeemed_at BIGINT NOT NULL,
            settled_at BIGINT,                      -- when it was converted or ended without
            refunded_at BIGINT,                     -- when money was first paid back without undoing the use
            refunded_millipercent BIGINT,           -- how much of the price, if the store says so
            grant_id BLOB,                          -- null if no grant fits
            matched_by TEXT,                        -- mark or customer; null without a grant
            matched_as TEXT NOT NULL,               -- grant, none, earlier or other-account
            environment TEXT NOT NULL,              -- production or sandbox
            entry_index BIGINT NOT NULL DEFAULT -1, -- -1 until the transaction that adds the row has recorded it
            PRIMARY KEY (subscription, first_transaction, product_id, base_plan_id, offer_id)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX redemptions_by_grant ON redemptions (grant_id) WHERE grant_id IS NOT NULL",
        "CREATE INDEX redemptions_by_time ON redemptions (redeemed_at, entry_index, matched_as, environment)",
    ]

    // MARK: - What the stores report

    /// Purchases in both stores, from signed data, notifications and the stores' APIs.
    private static let purchases: [StaticString] = [
        """
        CREATE TABLE subscription_records (
            -- What a store reports of a subscription: of a chain of the App Store, or of a purchase at Google Play.
            subscription BLOB PRIMARY KEY,          -- a chain or a purchase
            store TEXT NOT NULL,                    -- app-store or google-play
            record TEXT NOT NULL,                   -- JSON: the part that decisions need
            history_complete_at BIGINT,             -- when the store last listed all transactions; null if it never did
            marked_grant BLOB                       -- the grant_id in obfuscatedExternalProfileId, if there is one
        ) WITHOUT ROWID
        """,
        """
        CREATE INDEX subscription_records_by_marked_grant ON subscription_records (marked_grant)
            WHERE marked_grant IS NOT NULL
        """,
        """
        CREATE TABLE transaction_records (
            -- What a store reports of the transactions of a subscription. Google Play reports none.
            subscription BLOB NOT NULL,
            transaction_key BLOB NOT NULL,          -- the pseudonym of the transaction ID
            record TEXT NOT NULL,                   -- JSON: the part that decisions need
            PRIMARY KEY (subscription, transaction_key)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX transaction_records_by_key ON transaction_records (transaction_key)",
        """
        CREATE TABLE subscription_customers (
            -- Which customers have a subscription. One that another is linked to is a customer of both.
            subject BLOB NOT NULL,                  -- a customer or, for a link, a subscription
            store TEXT NOT NULL,                    -- app-store or google-play
            subscription BLOB NOT NULL,             -- a chain or a purchase
            PRIMARY KEY (subject, store, subscription)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX subscription_customers_by_subscription ON subscription_customers (subscription)",
        """
        CREATE TABLE store_notifications (
            -- Notifications that were processed, so that a repeated one changes nothing.
            notification_id BLOB NOT NULL,          -- a digest of the app's name in the store and the store's ID of it
            store TEXT NOT NULL,                    -- app-store or google-play
            sent_at BIGINT NOT NULL,
            PRIMARY KEY (notification_id, store)
        ) WITHOUT ROWID
        """,
    ]

    /// The customers that account IDs of Google Play name.
    private static let googlePlay: [StaticString] = [
        """
        CREATE TABLE google_play_accounts (
            -- Account IDs (obfuscatedAccountId) that authorizations have given out. Only these name a customer.
            account BLOB PRIMARY KEY,               -- the first 18 bytes of the ID
            customer BLOB NOT NULL,                 -- the customer's key under the newest secret
            entry_index BIGINT NOT NULL             -- the newest entry that records that the ID was given out
        ) WITHOUT ROWID
        """,
        "CREATE INDEX google_play_accounts_by_customer ON google_play_accounts (customer)",
    ]

    // MARK: - Customers

    /// Links between names of one customer, holders of subscriptions, and secrets of pseudonyms.
    private static let customers: [StaticString] = [
        """
        CREATE TABLE customer_links (
            -- An anonymous customer has logged in: both names are one customer from then on.
            from_subject BLOB NOT NULL,             -- the anonymous customer
            to_subject BLOB NOT NULL,               -- the known customer
            is_vouched BIGINT NOT NULL,             -- 0 if a user's token made the link: then only caps follow it
            linked_at BIGINT NOT NULL,
            entry_index BIGINT NOT NULL,
            PRIMARY KEY (from_subject, to_subject)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX customer_links_by_target ON customer_links (to_subject)",
        "CREATE INDEX customer_links_by_entry ON customer_links (entry_index)",
        """
        CREATE TABLE subscription_holders (
            -- The present holder of a subscription; a change is a transfer.
            subscription BLOB NOT NULL,             -- a chain or a purchase
            kind TEXT NOT NULL,                     -- who names the holder: customer (a caller) or account (the store)
            subject BLOB NOT NULL,                  -- the holder
            since BIGINT NOT NULL,                  -- milliseconds since 1970 UTC
            PRIMARY KEY (subscription, kind)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE secret_versions (
            -- The secrets that pseudonyms are made with. One is in force at a time.
            name TEXT PRIMARY KEY,                  -- `epoch` in the keys file
            ordinal BIGINT NOT NULL,                -- the order in which they came into force
            check_value BLOB NOT NULL,              -- tells the secret from another, without disclosing it
            first_entry BIGINT NOT NULL,            -- index of the first entry that may have its pseudonyms
            begun_at BIGINT NOT NULL,
            destroyed_at BIGINT,                    -- null while the secret exists
            forgotten_until BIGINT                  -- once it is destroyed: uses of offers before this are not kept
        )
        """,
    ]

    // MARK: - Callers and operation

    /// Who may call the API.
    private static let callers: [StaticString] = [
        """
        CREATE TABLE callers (
            caller_id TEXT PRIMARY KEY,             -- the name that the administrator gave
            role TEXT NOT NULL,                     -- app, backend, auditor or admin
            bundle_ids TEXT NOT NULL,               -- the catalog's names of its apps, with spaces between; empty: all
            created_at BIGINT NOT NULL,
            revoked_at BIGINT,                      -- null while it may call
            rate TEXT                               -- how often it may ask, N/s:BURST; null: as its role
        )
        """,
        """
        CREATE TABLE caller_keys (
            -- API keys.
            key_id TEXT PRIMARY KEY,                -- the part of the API key that is no secret
            caller_id TEXT NOT NULL REFERENCES callers (caller_id),
            secret_digest BLOB NOT NULL,            -- SHA-256 of the secret part
            created_at BIGINT NOT NULL,
            expires_at BIGINT,                      -- null if it never expires
            revoked_at BIGINT                       -- null while it is valid
        )
        """,
    ]

    /// What is sealed or disabled, which keys were used, and which instances run.
    private static let operation: [StaticString] = [
        """
        CREATE TABLE key_states (
            -- Signing keys that an administrator has disabled.
            key_id TEXT PRIMARY KEY,
            disabled_at BIGINT NOT NULL,
            acknowledged_at BIGINT                  -- when the service recorded that the key signs nothing any more
        )
        """,
        """
        CREATE TABLE key_uses (
            -- Signing keys that were used.
            key_id TEXT PRIMARY KEY,
            last_used_at BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE seals (
            -- What keeps the whole service from signing.
            cause TEXT PRIMARY KEY,                 -- administrator, file, clock-stepped and others
            since BIGINT NOT NULL,                  -- milliseconds since 1970 UTC
            detail TEXT NOT NULL,                   -- for people
            acknowledged_at BIGINT                  -- when the service recorded that nothing is signed any more
        )
        """,
        """
        CREATE TABLE instances (
            -- PostgreSQL: the instances that share the database. Empty on SQLite.
            instance_id BLOB PRIMARY KEY,           -- a UUIDv7, 16 bytes
            name TEXT NOT NULL,                     -- host and process, for people
            version TEXT NOT NULL,                  -- of the program
            policy_name TEXT NOT NULL,              -- digest of the offers that it decides by
            keys_digest TEXT NOT NULL,              -- digest of the keys that it has
            beats BIGINT NOT NULL,                  -- counted up while the instance lives
            acknowledged BIGINT NOT NULL            -- 1 if it signs nothing that is sealed or disabled, else 0
        )
        """,
        """
        CREATE TABLE reloads (
            -- One row.
            reload_id BIGINT PRIMARY KEY CHECK (reload_id = 1),
            generation BIGINT NOT NULL              -- how often a reload of all instances was requested
        )
        """,
        "INSERT INTO reloads (reload_id, generation) VALUES (1, 0)",
    ]
}
