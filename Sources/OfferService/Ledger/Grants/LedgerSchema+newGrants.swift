// SPDX-License-Identifier: Apache-2.0
import Storage

extension LedgerSchema {
    /// Grants in the order in which they were given; on a server those that are not yet among their customers' ones.
    ///
    /// What stands here counts like what stands in `grants`; ``GrantTable`` reads both.
    static let newGrants = Migration(
        version: 12,
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

    /// The same with one number as the key, as ``NewGrantRow`` makes it.
    ///
    /// SQLite adds rows behind all others at less cost where the key is a number.
    static let newGrantsByPlace = Migration(
        version: 14,
        name: "new grants by their places",
        statements: [
            """
            CREATE TABLE new_grants_by_place (
                place INTEGER PRIMARY KEY,
                subject BLOB NOT NULL,
                offer_key BIGINT NOT NULL,
                grant_id BLOB NOT NULL
            )
            """,
            """
            INSERT INTO new_grants_by_place (place, subject, offer_key, grant_id)
            SELECT entry_index * 256 + number - 1, subject, offer_key, grant_id FROM (
                SELECT entry_index, subject, offer_key, grant_id,
                    row_number() OVER (PARTITION BY entry_index ORDER BY subject) AS number
                FROM new_grants
            ) AS numbered WHERE number <= 256
            """,
            """
            INSERT INTO grants (subject, offer_key, grant_id, entry_index)
            SELECT subject, offer_key, grant_id, entry_index FROM (
                SELECT entry_index, subject, offer_key, grant_id,
                    row_number() OVER (PARTITION BY entry_index ORDER BY subject) AS number
                FROM new_grants
            ) AS numbered WHERE number > 256 ON CONFLICT DO NOTHING
            """,
            "DROP TABLE new_grants",
            "ALTER TABLE new_grants_by_place RENAME TO new_grants",
        ]
    )

    /// Where rows of `new_grants` stand, in the order of subjects, as ``GrantPlaceTable`` has it; a server's are empty.
    ///
    /// The first has rowids, since a row as long as a page does not fit a tree without them.
    static let grantPlaces = Migration(
        version: 18,
        name: "places of grants",
        statements: [
            """
            CREATE TABLE grant_places (
                first_prefix INTEGER PRIMARY KEY,
                places BLOB NOT NULL
            )
            """,
            "CREATE TABLE grant_places_state (before_entry BIGINT NOT NULL)",
            "INSERT INTO grant_places_state (before_entry) VALUES (0)",
        ]
    )
}
