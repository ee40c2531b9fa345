// SPDX-License-Identifier: Apache-2.0
import Configuration
package import OfferDomain
package import Storage

/// The secret versions that the database knows, in the order in which they came into force.
package struct SecretVersionTable {
    /// One secret version on record.
    package struct Entry: Hashable, Sendable {
        /// The version's name in the keys file.
        package let name: String
        /// The place in the order in which secret versions came into force.
        package let ordinal: Int64
        /// Distinguishes the version's secret from another one, without disclosing it.
        package let checkValue: [UInt8]
        /// The index of the first audit entry that may have the secret version's pseudonyms.
        package let firstEntry: Int64
        /// When the secret version came into force.
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

    /// All secret versions on record, destroyed ones too, the oldest first.
    package func all() throws(StorageError) -> [Entry] {
        try connection.all(
            SQL(
                "SELECT name, ordinal, check_value, first_entry, destroyed_at, begun_at FROM secret_versions ORDER BY 2"
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
            try connection.all(SQL("SELECT name FROM secret_versions WHERE destroyed_at IS NOT NULL")) { $0.text(0) }
        )
    }

    /// Uses of offers before this are not looked at any more; `nil` if no secret version was destroyed.
    package func forgottenUntil() throws(StorageError) -> Timestamp? {
        try connection.first(SQL("SELECT max(forgotten_until) FROM secret_versions")) { $0.optionalInteger(0) }
            .flatMap(\.self).map(Timestamp.init(milliseconds:))
    }

    /// Puts a new secret version into force.
    func add(_ secretVersion: SecretVersion, at now: Timestamp) throws(StorageError) {
        try connection.run(
            SQL(
                """
                INSERT INTO secret_versions (name, ordinal, check_value, begun_at, first_entry)
                SELECT ?, count(*), ?, ?, CASE count(*) WHEN 0 THEN 0
                    ELSE (SELECT coalesce(max(entry_index) + 1, 0) FROM audit_entries) END
                FROM secret_versions
                """,
                .text(secretVersion.name),
                .blob(secretVersion.checkValue),
                .integer(now.milliseconds)
            )
        )
    }
}
