// SPDX-License-Identifier: Apache-2.0

extension LedgerSchema {
    /// What became of answers to Apple's real-time requests.
    static let retention: [StaticString] = [
        """
        CREATE TABLE retention_answers (
            -- What subscribers were shown who were about to cancel. Kept for 30 days.
            request_id BLOB PRIMARY KEY,            -- UUIDv7 of the request; of an offer, its grant_id
            chain BLOB NOT NULL,
            bundle_id TEXT NOT NULL,
            environment TEXT NOT NULL,              -- production or sandbox
            answer TEXT NOT NULL,                   -- promotionalOffer, alternateProduct or message
            offer TEXT NOT NULL,                    -- the catalog's own ID of the offer; empty without one
            answered_at BIGINT NOT NULL,
            outcome TEXT                            -- kept or canceled, within 24 hours; null until that is known
        ) WITHOUT ROWID
        """,
        "CREATE INDEX retention_answers_open ON retention_answers (answered_at) WHERE outcome IS NULL",
        "CREATE INDEX retention_answers_by_chain ON retention_answers (chain)",
    ]
}
