// SPDX-License-Identifier: Apache-2.0
package import Storage

extension LedgerSchema {
    /// Which secrets customers' ids have been kept under, each with what tells it from another.
    ///
    /// `first_entry` is the index of the first entry of the audit log that may have its pseudonyms.
    package static let epochs = Migration(
        version: 7,
        name: "epochs of customers' ids",
        statements: [
            """
            CREATE TABLE customer_epochs (
                epoch TEXT PRIMARY KEY,
                ordinal BIGINT NOT NULL,
                check_value BLOB NOT NULL,
                first_entry BIGINT NOT NULL,
                destroyed_at BIGINT
            )
            """
        ]
    )
}
