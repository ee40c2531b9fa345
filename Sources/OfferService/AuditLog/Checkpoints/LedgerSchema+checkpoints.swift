// SPDX-License-Identifier: Apache-2.0
import Storage

extension LedgerSchema {
    /// What was signed of the log, by its own key and by witnesses.
    ///
    /// A row for each log's name: a database whose log was begun anew keeps the last word of the old one.
    static let checkpoints = Migration(
        version: 6,
        name: "checkpoints and cosignatures",
        statements: [
            """
            CREATE TABLE checkpoints (
                origin TEXT PRIMARY KEY,
                size BIGINT NOT NULL,
                root_hash BLOB NOT NULL,
                note BLOB NOT NULL,
                signed_at BIGINT NOT NULL
            )
            """,
            """
            CREATE TABLE cosignatures (
                origin TEXT NOT NULL,
                witness TEXT NOT NULL,
                size BIGINT NOT NULL,
                note BLOB NOT NULL,
                cosigned_at BIGINT NOT NULL,
                PRIMARY KEY (origin, witness)
            )
            """,
        ]
    )
}
