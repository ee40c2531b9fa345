// SPDX-License-Identifier: Apache-2.0

extension LedgerSchema {
    /// Since when the catalog has what the stores report uses of.
    static let catalog: [StaticString] = [
        """
        CREATE TABLE catalog_names (
            -- When the service first had each offer in its catalog. An older use needs no grant. Rows are only added.
            store TEXT NOT NULL,                    -- app-store or google-play
            product_id TEXT NOT NULL,
            base_plan_id TEXT NOT NULL,             -- empty in the App Store
            offer_id TEXT NOT NULL,                 -- the store's ID of the offer
            store_app TEXT NOT NULL,                -- bundle ID or package name
            first_seen_at BIGINT NOT NULL,
            PRIMARY KEY (store, product_id, base_plan_id, offer_id, store_app)
        ) WITHOUT ROWID
        """
    ]
}
