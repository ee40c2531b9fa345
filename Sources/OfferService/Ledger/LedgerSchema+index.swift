// SPDX-License-Identifier: Apache-2.0
import Storage

extension LedgerSchema {
    /// Where entries of the log are found by what they say.
    ///
    /// Parts have rowids, unlike most tables here, because a row as long as a page does not fit a tree without them.
    static let auditIndex = Migration(
        version: 9,
        name: "index over the audit log",
        statements: [
            """
            CREATE TABLE audit_index_state (
                version BIGINT NOT NULL,
                hash_key BLOB NOT NULL
            )
            """,
            "INSERT INTO audit_index_state (version, hash_key) VALUES (1, randomblob(16))",
            """
            CREATE TABLE audit_index_runs (
                run BIGINT PRIMARY KEY,
                usage BLOB NOT NULL
            )
            """,
            """
            CREATE TABLE audit_index_parts (
                run BIGINT NOT NULL,
                first_key BIGINT NOT NULL,
                postings BLOB NOT NULL,
                PRIMARY KEY (run, first_key)
            )
            """,
        ]
    )
}
