// SPDX-License-Identifier: Apache-2.0
import Configuration
package import OfferDomain
package import Storage

/// The epochs that the database knows, in the order in which they came into force.
package struct EpochTable {
    /// One epoch on record.
    package struct Entry: Hashable, Sendable {
        /// The epoch's name in the keys file.
        package let name: String
        /// The place in the order in which epochs came into force.
        package let ordinal: Int64
        /// Distinguishes the epoch's secret from another one, without disclosing it.
        package let checkValue: [UInt8]
        /// The index of the first audit entry that may have the epoch's pseudonyms.
        package let firstEntry: Int64
        /// When the epoch came into force.
        package let begunAt: Timestamp
        /// When its secret was destroyed; `nil` while there is one.
        package let destroyedAt: Timestamp?

        /// What ends each key that was made with the secret.
        var keyTag: [UInt8] { LedgerKey.tag(ofSecret: checkValue) }
    }

    let connection: any DatabaseConnection

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// All epochs on record, destroyed ones too, the oldest first.
    package func all() throws(StorageError) -> [Entry] {
        try connection.all(
            SQL(
                "SELECT epoch, ordinal, check_value, first_entry, destroyed_at, begun_at FROM customer_epochs ORDER BY ordinal"
            )
        ) { row in
            Entry(
                name: row.text(0),
                ordinal: row.integer(1),
                checkValue: row.blob(2),
                firstEntry: row.integer(3),
                begunAt: Timestamp(milliseconds: row.integer(5)),
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

    /// Uses of offers before this are not looked at any more; `nil` if no epoch was destroyed.
    package func forgottenUntil() throws(StorageError) -> Timestamp? {
        try connection.first(SQL("SELECT max(forgotten_until) FROM customer_epochs")) { $0.optionalInteger(0) }
            .flatMap(\.self).map(Timestamp.init(milliseconds:))
    }

    /// Puts a new epoch into force.
    func add(_ epoch: CustomerEpoch, at now: Timestamp) throws(StorageError) {
        try connection.run(
            SQL(
                """
                INSERT INTO customer_epochs (epoch, ordinal, check_value, begun_at, first_entry)
                SELECT ?, count(*), ?, ?, CASE count(*) WHEN 0 THEN 0
                    ELSE (SELECT coalesce(max(entry_index) + 1, 0) FROM audit_entries) END
                FROM customer_epochs
                """,
                .text(epoch.name),
                .blob(epoch.checkValue),
                .integer(now.milliseconds)
            )
        )
    }
}
