// SPDX-License-Identifier: Apache-2.0

extension LedgerSchema {
    /// How far the service has looked for grants that were never redeemed.
    static let unredeemedGrants: [StaticString] = [
        """
        CREATE TABLE unredeemed_scans (
            -- For each app, the last grant that the service has looked at.
            store TEXT NOT NULL,                    -- app-store or google-play
            store_app TEXT NOT NULL,                -- bundle ID or package name
            last_grant BLOB NOT NULL,               -- as a grant_id: it has looked at all earlier ones
            PRIMARY KEY (store, store_app)
        ) WITHOUT ROWID
        """
    ]
}
