// SPDX-License-Identifier: Apache-2.0
package import Storage

extension LedgerSchema {
    /// What was granted to which account, what came of each use, and whether a store tells of an app at all.
    ///
    /// A grant has a row of its own, in the order of time, for the question which were never used; its offer's names
    /// stand once. Rows of redemptions that are older than this lack names and the entry that told of them.
    package static let reconciliation = Migration(
        version: 10,
        name: "what is compared with what the stores tell",
        statements: [
            """
            CREATE TABLE issued_grants (
                grant_id BLOB PRIMARY KEY,
                offer_key BIGINT NOT NULL,
                granted_at BIGINT NOT NULL,
                account BLOB,
                entry_index BIGINT NOT NULL
            ) WITHOUT ROWID
            """,
            """
            CREATE TABLE granted_offers (
                offer_key BIGINT PRIMARY KEY,
                store TEXT NOT NULL,
                app TEXT NOT NULL,
                store_app TEXT NOT NULL,
                product_id TEXT NOT NULL,
                base_plan_id TEXT,
                offer_id TEXT NOT NULL,
                rule TEXT NOT NULL
            )
            """,
            """
            CREATE TABLE notified_apps (
                store TEXT NOT NULL,
                store_app TEXT NOT NULL,
                first_told_at BIGINT NOT NULL,
                last_told_at BIGINT NOT NULL,
                PRIMARY KEY (store, store_app)
            ) WITHOUT ROWID
            """,
            "ALTER TABLE app_store_redemptions ADD COLUMN bundle_id TEXT",
            "ALTER TABLE app_store_redemptions ADD COLUMN environment TEXT",
            "ALTER TABLE app_store_redemptions ADD COLUMN matched_as TEXT NOT NULL DEFAULT 'none'",
            "ALTER TABLE app_store_redemptions ADD COLUMN entry_index BIGINT NOT NULL DEFAULT -1",
            "UPDATE app_store_redemptions SET matched_as = 'grant' WHERE grant_id IS NOT NULL",
            """
            CREATE INDEX app_store_redemptions_by_grant ON app_store_redemptions (grant_id)
                WHERE grant_id IS NOT NULL
            """,
            """
            CREATE INDEX app_store_redemptions_by_time
                ON app_store_redemptions (redeemed_at, entry_index, matched_as, environment)
            """,
            "ALTER TABLE google_play_redemptions ADD COLUMN package_name TEXT",
            "ALTER TABLE google_play_redemptions ADD COLUMN environment TEXT",
            "ALTER TABLE google_play_redemptions ADD COLUMN matched_as TEXT NOT NULL DEFAULT 'none'",
            "ALTER TABLE google_play_redemptions ADD COLUMN entry_index BIGINT NOT NULL DEFAULT -1",
            "UPDATE google_play_redemptions SET matched_as = 'grant' WHERE grant_id IS NOT NULL",
            """
            CREATE INDEX google_play_redemptions_by_time
                ON google_play_redemptions (redeemed_at, entry_index, matched_as, environment)
            """,
        ]
    )

    /// Every name that something was granted under, where `granted_offers` has the newest of each offer.
    ///
    /// What was granted under a name is used under it, whatever the offer is called since. Where there is no base plan, its
    /// id is empty.
    static let grantedNames = Migration(
        version: 15,
        name: "names that offers were granted under",
        statements: [
            """
            CREATE TABLE granted_names (
                store TEXT NOT NULL,
                product_id TEXT NOT NULL,
                base_plan_id TEXT NOT NULL,
                offer_id TEXT NOT NULL,
                store_app TEXT NOT NULL,
                offer_key BIGINT NOT NULL,
                PRIMARY KEY (store, product_id, base_plan_id, offer_id, store_app, offer_key)
            ) WITHOUT ROWID
            """,
            """
            INSERT INTO granted_names (store, product_id, base_plan_id, offer_id, store_app, offer_key)
            SELECT store, product_id, coalesce(base_plan_id, ''), offer_id, store_app, offer_key FROM granted_offers
            """,
        ]
    )
}
