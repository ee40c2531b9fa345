// SPDX-License-Identifier: Apache-2.0
package import Storage

extension LedgerSchema {
    /// Which services share this database now, and whether each obeys what was switched off last.
    ///
    /// `beats` is counted up while an instance lives; `obeys` is 0 from when something is switched off until the instance
    /// uses it no more. In a database that only one service may use there are no rows.
    package static let instances = Migration(
        version: 11,
        name: "instances that share the database",
        statements: [
            """
            CREATE TABLE instances (
                instance_id BLOB PRIMARY KEY,
                name TEXT NOT NULL,
                version TEXT NOT NULL,
                policy_name TEXT NOT NULL,
                keys_digest TEXT NOT NULL,
                beats BIGINT NOT NULL,
                obeys BIGINT NOT NULL
            )
            """,
            """
            CREATE TABLE reloads (
                reload_id BIGINT PRIMARY KEY CHECK (reload_id = 1),
                generation BIGINT NOT NULL
            )
            """,
            "INSERT INTO reloads (reload_id, generation) VALUES (1, 0)",
        ]
    )
}
