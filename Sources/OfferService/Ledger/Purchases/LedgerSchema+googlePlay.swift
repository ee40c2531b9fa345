// SPDX-License-Identifier: Apache-2.0
package import Storage

extension LedgerSchema {
    /// What Google Play tells.
    ///
    /// A purchase is a key that stands for its token. Its links and its mark stand beside the record so that they can be
    /// looked up from the other side.
    package static let googlePlay = Migration(
        version: 4,
        name: "what Google Play tells",
        statements: [
            """
            CREATE TABLE google_play_purchases (
                purchase BLOB PRIMARY KEY,
                record TEXT NOT NULL,
                marked_grant BLOB
            ) WITHOUT ROWID
            """,
            """
            CREATE INDEX google_play_purchases_by_marked_grant ON google_play_purchases (marked_grant)
                WHERE marked_grant IS NOT NULL
            """,
            """
            CREATE TABLE google_play_links (
                purchase BLOB NOT NULL,
                predecessor BLOB NOT NULL,
                PRIMARY KEY (purchase, predecessor)
            ) WITHOUT ROWID
            """,
            "CREATE INDEX google_play_links_by_predecessor ON google_play_links (predecessor)",
            """
            CREATE TABLE google_play_customers (
                subject BLOB NOT NULL,
                purchase BLOB NOT NULL,
                PRIMARY KEY (subject, purchase)
            ) WITHOUT ROWID
            """,
            "CREATE INDEX google_play_customers_by_purchase ON google_play_customers (purchase)",
            """
            CREATE TABLE google_play_messages (
                message_key BLOB PRIMARY KEY,
                sent_at BIGINT NOT NULL
            ) WITHOUT ROWID
            """,
            """
            CREATE TABLE google_play_redemptions (
                purchase BLOB NOT NULL,
                product_id TEXT NOT NULL,
                base_plan_id TEXT NOT NULL,
                offer_id TEXT NOT NULL,
                offer_key BIGINT NOT NULL,
                state TEXT NOT NULL,
                redeemed_at BIGINT NOT NULL,
                settled_at BIGINT,
                grant_id BLOB,
                matched_by TEXT,
                PRIMARY KEY (purchase, product_id, base_plan_id, offer_id)
            ) WITHOUT ROWID
            """,
            """
            CREATE INDEX google_play_redemptions_by_grant ON google_play_redemptions (grant_id)
                WHERE grant_id IS NOT NULL
            """,
        ]
    )

    /// The account ids that were given out, as 16 bytes, under which key each customer is now, and with which entry of the
    /// audit log it was first.
    ///
    /// Those of before are read from the grants, where there are any.
    static let googlePlayAccounts = Migration(
        version: 16,
        name: "account ids that were given out",
        statements: [
            """
            CREATE TABLE google_play_accounts (
                account BLOB PRIMARY KEY,
                customer BLOB NOT NULL,
                entry_index BIGINT NOT NULL
            ) WITHOUT ROWID
            """,
            "CREATE INDEX google_play_accounts_by_customer ON google_play_accounts (customer)",
            """
            INSERT INTO google_play_accounts (account, customer, entry_index)
            SELECT account, account, max(entry_index) FROM issued_grants WHERE account IS NOT NULL AND offer_key IN (
                SELECT offer_key FROM granted_offers WHERE store = 'google-play'
            ) GROUP BY account
            """,
        ]
    )
}
