// SPDX-License-Identifier: Apache-2.0
package import Storage

extension LedgerSchema {
    /// Which secrets customers' ids have been kept under, each with what tells it from another.
    ///
    /// `first_entry` is the index of the first entry of the audit log that may have its pseudonyms. Of one that was
    /// destroyed, `forgotten_until` is when the next began: of the uses of offers before that nothing is kept.
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
                begun_at BIGINT NOT NULL,
                destroyed_at BIGINT,
                forgotten_until BIGINT
            )
            """
        ]
    )

    /// Of which epoch keys are that stand beside others, once there are two; ``KeyEpochs`` says what is not listed.
    static let keyEpochs = Migration(
        version: 17,
        name: "epochs of keys",
        statements: [
            """
            CREATE TABLE customer_key_epochs (
                ledger_key BLOB PRIMARY KEY,
                ordinal BIGINT NOT NULL
            ) WITHOUT ROWID
            """
        ]
    )
}
