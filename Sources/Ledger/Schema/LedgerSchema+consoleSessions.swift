// SPDX-License-Identifier: Apache-2.0

extension LedgerSchema {
    /// The sessions of the console, which sign-ins at an identity provider begin.
    static let consoleSessions: [StaticString] = [
        """
        CREATE TABLE console_sessions (
            -- Sessions of people in the console. Forgotten a day after their end, a few with each new one.
            session BLOB PRIMARY KEY,               -- SHA-256 of the secret in the browser's cookie
            sign_in BLOB NOT NULL UNIQUE,           -- 16 random bytes of the sign-in, which counts once
            caller_id TEXT NOT NULL,                -- the provider's name and a pseudonym of the person
            role TEXT NOT NULL,                     -- auditor or admin
            provider TEXT NOT NULL,                 -- the name of its entry in the keys file
            settings_digest BLOB NOT NULL,          -- what that entry said of sign-ins; another digest ends the session
            begun_at BIGINT NOT NULL,
            expires_at BIGINT NOT NULL,
            ended_at BIGINT                         -- when the person signed out; null if not
        ) WITHOUT ROWID
        """,
        "CREATE INDEX console_sessions_by_end ON console_sessions (expires_at)",
    ]
}
