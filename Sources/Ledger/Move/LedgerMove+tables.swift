// SPDX-License-Identifier: Apache-2.0
import Storage

extension LedgerMove {
    /// Every table with rows of its own, those first that others refer to.
    ///
    /// Left out: the list of migrations, the locks, and the instances that use a database with their reloads.
    static let tables: [StaticString] = [
        "audit_entries", "grants", "grants_by_time", "grant_offsets", "grant_offsets_state", "grants_per_day",
        "idempotency_keys", "callers", "caller_keys", "key_states", "subscription_records", "transaction_records",
        "subscription_customers", "store_notifications", "redemptions", "customer_links",
        "subscription_holders", "google_play_accounts", "log_tiles", "log_head", "checkpoints",
        "cosignatures", "secret_versions", "seals", "key_uses", "audit_index_state",
        "audit_index_runs", "audit_index_parts", "issued_grants", "granted_offers", "granted_names", "catalog_names",
        "notified_apps", "unredeemed_scans", "event_endpoints", "event_deliveries", "relayed_notifications",
        "retention_answers", "customer_attributes", "app_attest_keys", "spent_integrity_tokens", "console_sessions",
    ]

    /// How the rows of a table get from one database to the other; `nil` if they stay.
    ///
    /// A server has all grants in `grants`.
    func copy(
        of table: StaticString,
        from: any DatabaseConnection,
        to: (any DatabaseConnection)?
    ) throws(StorageError) -> TableCopy? {
        switch (source.location, target.location, table.description) {
        case (.sqlite, .postgreSQL, "grants_by_time"): Self.logIntoGrants
        case (.sqlite, .postgreSQL, "grant_offsets"), (.sqlite, .postgreSQL, "grant_offsets_state"): nil
        default: try TableCopy(table, from: from, to: to)
        }
    }

    private static let logIntoGrants = TableCopy(
        select: "SELECT subject, offer_key, grant_id, place / 256 FROM grants_by_time ORDER BY place",
        columnCount: 4,
        into: Insertion(into: "grants", columns: "subject, offer_key, grant_id, entry_index", onConflict: .keeps)
    )

    /// Removes what a new database begins with, before a row of the source takes its place.
    static let beginnings = [
        "log_head": SQL("DELETE FROM log_head"),
        "audit_index_state": SQL("DELETE FROM audit_index_state"),
        "grant_offsets_state": SQL("DELETE FROM grant_offsets_state"),
    ]
}
