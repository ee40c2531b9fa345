// SPDX-License-Identifier: Apache-2.0
package import Storage

extension LedgerSchema {
    /// What is switched off, and whether the service has said that it obeys.
    ///
    /// `acknowledged_at` is when the service recorded that nothing is signed any more; a command waits for it.
    package static let seals = Migration(
        version: 5,
        name: "seals, acknowledged key states",
        statements: [
            """
            CREATE TABLE seals (
                cause TEXT PRIMARY KEY,
                since BIGINT NOT NULL,
                detail TEXT NOT NULL,
                acknowledged_at BIGINT
            )
            """,
            "ALTER TABLE key_states ADD COLUMN acknowledged_at BIGINT",
        ]
    )
}
