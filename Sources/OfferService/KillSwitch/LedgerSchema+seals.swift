// SPDX-License-Identifier: Apache-2.0
package import Storage

extension LedgerSchema {
    /// What is switched off, and whether the service has said that it obeys; when each key was used last.
    ///
    /// `acknowledged_at` is when the service recorded that nothing is signed any more; a command waits for it.
    package static let seals = Migration(
        version: 8,
        name: "seals, acknowledged key states, uses of keys",
        statements: [
            """
            CREATE TABLE seals (
                cause TEXT PRIMARY KEY,
                since BIGINT NOT NULL,
                detail TEXT NOT NULL,
                acknowledged_at BIGINT
            )
            """,
            """
            CREATE TABLE key_uses (
                key_id TEXT PRIMARY KEY,
                last_used_at BIGINT NOT NULL
            )
            """,
            "ALTER TABLE key_states ADD COLUMN acknowledged_at BIGINT",
        ]
    )
}
