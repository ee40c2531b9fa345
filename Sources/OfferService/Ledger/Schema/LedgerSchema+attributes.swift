// SPDX-License-Identifier: Apache-2.0

extension LedgerSchema {
    /// What backends store about their customers, for requests that cannot state it.
    static let attributes: [StaticString] = [
        """
        CREATE TABLE customer_attributes (
            -- The attributes of a customer, until they expire.
            subject BLOB PRIMARY KEY,
            attributes TEXT NOT NULL,               -- a JSON object of booleans, numbers and strings
            stored_at BIGINT NOT NULL,
            expires_at BIGINT NOT NULL,             -- from then on the row does not count, and is deleted
            entry_index BIGINT NOT NULL
        )
        """,
        "CREATE INDEX customer_attributes_by_expiry ON customer_attributes (expires_at)",
    ]
}
