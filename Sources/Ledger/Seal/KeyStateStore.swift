// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
package import Storage

/// Which keys an administrator has disabled, whatever the `keys` file says of them.
package struct KeyStateStore {
    private let connection: any DatabaseConnection

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// The keys that are disabled in the database.
    package func disabled() throws(StorageError) -> Set<KeyID> {
        var ids: Set<KeyID> = []
        try connection.rows(SQL("SELECT key_id FROM key_states")) { row in
            if let id = try? KeyID(row.text(0)) { ids.insert(id) }
        }
        return ids
    }

    /// Disables a key; `acknowledgedAt` is when the service stopped using it, if that is known.
    package func disable(_ id: KeyID, at now: Timestamp, acknowledgedAt: Timestamp? = nil) throws(StorageError) {
        try connection.run(
            SQL(
                """
                INSERT INTO key_states (key_id, disabled_at, acknowledged_at) VALUES (?, ?, ?)
                ON CONFLICT (key_id) DO NOTHING
                """,
                .text(id.text),
                .integer(now.milliseconds),
                acknowledgedAt.map { .integer($0.milliseconds) } ?? .null
            )
        )
        try InstanceTable(connection: connection).awaitAcknowledgement()
    }

    /// Ends the disabling of a key; does nothing if it is not disabled.
    package func enable(_ id: KeyID) throws(StorageError) {
        try connection.run(SQL("DELETE FROM key_states WHERE key_id = ?", .text(id.text)))
    }
}
