// SPDX-License-Identifier: Apache-2.0

extension LedgerSchema {
    /// What apps prove themselves by: keys of App Attest, and requests with tokens of Play Integrity.
    static let genuineApps: [StaticString] = [
        """
        CREATE TABLE app_attest_keys (
            -- Keys that Apple attested for the team's apps. Forgotten after 400 days without use.
            key_id BLOB PRIMARY KEY,                -- SHA-256 of the key's point
            public_key BLOB NOT NULL,               -- SubjectPublicKeyInfo, 91 bytes
            bundle_id TEXT NOT NULL,
            environment TEXT NOT NULL,              -- production or development
            origin TEXT,                            -- where the app was from, as appOrigin in rules; null if not stated
            challenge BLOB NOT NULL UNIQUE,         -- the 16 random bytes of the challenge, which counts once
            counter BIGINT NOT NULL,                -- of the last assertion; only a greater one is taken
            registered_at BIGINT NOT NULL,
            used_day BIGINT NOT NULL                -- of the last assertion, in days since 1970 UTC
        ) WITHOUT ROWID
        """,
        "CREATE INDEX app_attest_keys_by_day ON app_attest_keys (used_day)",
        """
        CREATE TABLE spent_integrity_tokens (
            -- Requests with a token of Play Integrity; each counts once. Deleted after 15 minutes.
            request_key BLOB PRIMARY KEY,           -- SHA-256 of package name and request hash
            spent_at BIGINT NOT NULL
        ) WITHOUT ROWID
        """,
        "CREATE INDEX spent_integrity_tokens_by_time ON spent_integrity_tokens (spent_at)",
    ]
}
