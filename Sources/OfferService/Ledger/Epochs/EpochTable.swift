// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
package import Storage

/// The epochs that the database knows, in the order in which they came into force.
package struct EpochTable {
    /// One epoch on record.
    package struct Entry: Hashable, Sendable {
        package let name: String
        package let ordinal: Int64
        package let checkValue: [UInt8]
        package let firstEntry: Int64
        package let destroyedAt: Timestamp?
    }

    private let connection: any DatabaseConnection

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    package func all() throws(StorageError) -> [Entry] {
        try connection.all(
            SQL("SELECT epoch, ordinal, check_value, first_entry, destroyed_at FROM customer_epochs ORDER BY ordinal")
        ) { row in
            Entry(
                name: row.text(0),
                ordinal: row.integer(1),
                checkValue: row.blob(2),
                firstEntry: row.integer(3),
                destroyedAt: row.optionalInteger(4).map(Timestamp.init(milliseconds:))
            )
        }
    }

    /// The names of those whose secrets were destroyed.
    package func destroyed() throws(StorageError) -> Set<String> {
        Set(
            try connection.all(SQL("SELECT epoch FROM customer_epochs WHERE destroyed_at IS NOT NULL")) { $0.text(0) }
        )
    }

    /// Notes that the secret of an epoch is destroyed, and forgets what would lead from its entries to anybody.
    ///
    /// What was granted while it was in force is found under later secrets if its customers have come back since, and
    /// a grant names its entry of the audit log, which has the old pseudonyms. So are links; `next` is the first entry
    /// after.
    func destroy(_ epoch: Entry, before next: Int64, at now: Timestamp) throws(StorageError) {
        let span: [SQLValue] = [.integer(epoch.firstEntry), .integer(next)]
        for statement in Self.forgetting { try connection.run(SQL(statement, span)) }
        try connection.run(
            SQL(
                "UPDATE customer_epochs SET destroyed_at = ? WHERE epoch = ?",
                .integer(now.milliseconds),
                .text(epoch.name)
            )
        )
    }

    private static let forgetting: [StaticString] = [
        """
        UPDATE app_store_redemptions SET grant_id = NULL WHERE grant_id IN (
            SELECT grant_id FROM grants WHERE entry_index >= ? AND entry_index < ?
        )
        """,
        """
        UPDATE google_play_redemptions SET grant_id = NULL, matched_by = NULL WHERE grant_id IN (
            SELECT grant_id FROM grants WHERE entry_index >= ? AND entry_index < ?
        )
        """,
        "DELETE FROM grants WHERE entry_index >= ? AND entry_index < ?",
        "DELETE FROM customer_links WHERE entry_index >= ? AND entry_index < ?",
    ]

    /// Puts one more into force.
    func add(_ epoch: CustomerEpoch) throws(StorageError) {
        try connection.run(
            SQL(
                """
                INSERT INTO customer_epochs (epoch, ordinal, check_value, first_entry)
                SELECT ?, count(*), ?, CASE count(*) WHEN 0 THEN 0
                    ELSE (SELECT coalesce(max(entry_index) + 1, 0) FROM audit_entries) END
                FROM customer_epochs
                """,
                .text(epoch.name),
                .blob(epoch.checkValue)
            )
        )
    }
}
