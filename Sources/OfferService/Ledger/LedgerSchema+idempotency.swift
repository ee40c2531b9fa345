// SPDX-License-Identifier: Apache-2.0
import Storage

extension LedgerSchema {
    /// When an idempotency key was recorded, by the time of the log, which never goes back.
    ///
    /// The time that its grant was signed with is the clock's, which may be wrong.
    static let idempotencyKeysByLog = Migration(
        version: 13,
        name: "idempotency keys by the time of the log",
        statements: [
            "ALTER TABLE idempotency_keys ADD COLUMN recorded_at BIGINT NOT NULL DEFAULT 0",
            "UPDATE idempotency_keys SET recorded_at = signed_at",
        ]
    )
}
