// SPDX-License-Identifier: Apache-2.0

extension LedgerSchema {
    /// What backends store about their customers, for requests that cannot state it.
    static let attributes: [StaticString] = [
        """
        CREATE TABLE customer_attributes (
            -- Attributes and facts of a customer, until they expire.
            subject BLOB PRIMARY KEY,
            attributes TEXT,                        -- a JSON object of booleans, numbers and strings; null if none
            stored_at BIGINT NOT NULL,
            expires_at BIGINT NOT NULL,             -- from then on the row does not count, and is deleted
            entry_index BIGINT NOT NULL,
            facts TEXT                              -- a JSON object, as requests have it; null if none
        )
        """,
        "CREATE INDEX customer_attributes_by_expiry ON customer_attributes (expires_at)",
    ]
}
