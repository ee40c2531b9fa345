// SPDX-License-Identifier: Apache-2.0
import Storage

extension LedgerSchema {
    /// Grants that are not yet among those of their customers, in the order in which they were given.
    ///
    /// What stands here counts like what stands in `grants`; ``GrantTable`` reads both.
    static let newGrants = Migration(
        version: 11,
        name: "grants in the order of time",
        statements: [
            """
            CREATE TABLE new_grants (
                entry_index BIGINT NOT NULL,
                subject BLOB NOT NULL,
                offer_key BIGINT NOT NULL,
                grant_id BLOB NOT NULL,
                PRIMARY KEY (entry_index, subject)
            ) WITHOUT ROWID
            """
        ]
    )
}
