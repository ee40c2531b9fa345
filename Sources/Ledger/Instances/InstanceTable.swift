// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
package import Storage

/// One of the services that share a database.
package struct Instance: Hashable, Sendable {
    /// The instance's ID, new at each start.
    package let id: UniqueID
    /// For people: the host, and the process.
    package let name: String
    /// The program's version.
    package let version: String
    /// The policy that it decides by; instances that differ in this or in their keys answer differently.
    package var policyName: String
    /// SHA-256 over the keys file in force, in hexadecimal.
    package var keysDigest: String

    package init(id: UniqueID, name: String, version: String, policyName: String, keysDigest: String) {
        self.id = id
        self.name = name
        self.version = version
        self.policyName = policyName
        self.keysDigest = keysDigest
    }
}

/// The services that share a database, as rows of it.
package struct InstanceTable {
    /// An instance that has been silent for longer is gone.
    package static let patienceMilliseconds: Int64 = 3_000

    private let connection: any DatabaseConnection

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// An instance, and the number of its heartbeats.
    package struct Row: Hashable, Sendable {
        /// The instance as it describes itself.
        package let instance: Instance
        /// The number of its heartbeats.
        package let beats: Int64
    }

    /// Adds an instance, which must still acknowledge what is sealed or disabled, or updates its policy name and keys digest.
    package func join(_ instance: Instance) throws(StorageError) {
        try connection.run(
            SQL(
                """
                INSERT INTO instances (instance_id, name, version, policy_name, keys_digest, beats, acknowledged)
                VALUES (?, ?, ?, ?, ?, 0, 0)
                ON CONFLICT (instance_id) DO UPDATE SET
                    policy_name = excluded.policy_name, keys_digest = excluded.keys_digest
                """,
                .blob(instance.id.bytes),
                .text(instance.name),
                .text(instance.version),
                .text(instance.policyName),
                .text(instance.keysDigest)
            )
        )
    }

    /// Records a heartbeat of an instance.
    ///
    /// - Returns: False if other instances considered it gone and removed it.
    package func beat(_ id: UniqueID) throws(StorageError) -> Bool {
        try connection.run(
            SQL("UPDATE instances SET beats = beats + 1 WHERE instance_id = ?", .blob(id.bytes))
        ) == 1
    }

    /// Removes an instance that stops by itself.
    package func remove(_ id: UniqueID) throws(StorageError) {
        try connection.run(SQL("DELETE FROM instances WHERE instance_id = ?", .blob(id.bytes)))
    }

    /// Removes an instance unless it has sent another heartbeat.
    package func remove(_ row: Row) throws(StorageError) {
        try connection.run(
            SQL(
                "DELETE FROM instances WHERE instance_id = ? AND beats = ?",
                .blob(row.instance.id.bytes),
                .integer(row.beats)
            )
        )
    }

    /// Every instance, the oldest first.
    package func all() throws(StorageError) -> [Row] {
        var rows: [Row] = []
        try connection.rows(
            SQL(
                """
                SELECT instance_id, name, version, policy_name, keys_digest, beats
                FROM instances ORDER BY instance_id
                """
            )
        ) { row in
            guard let id = UniqueID(bytes: row.blob(0)) else { return }
            let instance = Instance(
                id: id,
                name: row.text(1),
                version: row.text(2),
                policyName: row.text(3),
                keysDigest: row.text(4)
            )
            rows.append(Row(instance: instance, beats: row.integer(5)))
        }
        return rows
    }

    // MARK: - Acknowledging seals and disabled keys

    /// Notes a new seal or disabled key, which every instance must still acknowledge.
    package func awaitAcknowledgement() throws(StorageError) {
        try connection.run(SQL("UPDATE instances SET acknowledged = 0 WHERE acknowledged <> 0"))
    }

    /// Notes that an instance no longer uses any key that a stop blocks.
    package func acknowledge(of id: UniqueID) throws(StorageError) {
        try connection.run(SQL("UPDATE instances SET acknowledged = 1 WHERE instance_id = ?", .blob(id.bytes)))
    }

    /// Whether every instance has acknowledged what is sealed or disabled.
    package func isAcknowledged() throws(StorageError) -> Bool {
        try connection.first(SQL("SELECT 1 FROM instances WHERE acknowledged = 0 LIMIT 1")) { _ in true } == nil
    }

    // MARK: - Reloads

    /// How often a reload of all instances was requested.
    package func reloads() throws(StorageError) -> Int64 {
        try connection.first(SQL("SELECT generation FROM reloads")) { $0.integer(0) } ?? 0
    }

    /// Makes all instances read their files again.
    package func requestReload() throws(StorageError) {
        try connection.run(SQL("UPDATE reloads SET generation = generation + 1"))
    }
}
