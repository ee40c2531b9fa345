// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain
import Storage

/// The sessions of people who signed in to the console; a session's own secret is not in it.
struct ConsoleSessionTable {
    let connection: any DatabaseConnection

    /// How long a session is kept after its end, so that its sign-in cannot be used again.
    private static let keptMilliseconds: Int64 = 86_400_000
    /// The maximum number of old sessions deleted when one is added.
    private static let mostForgotten = 16

    /// Adds a session, unless its sign-in has begun one before.
    ///
    /// - Returns: Whether it was added.
    func begin(
        _ session: ConsoleSession,
        digest: SHA256Digest,
        signIn: [UInt8],
        at now: Timestamp
    ) throws(StorageError) -> Bool {
        var isUsed = false
        try connection.rows(SQL("SELECT 1 FROM console_sessions WHERE sign_in = ?", .blob(signIn))) { _ in isUsed = true
        }
        guard !isUsed else { return false }
        try forget(at: now)
        try connection.run(
            SQL(
                """
                INSERT INTO console_sessions
                    (session, sign_in, caller_id, role, provider, settings_digest, begun_at, expires_at, ended_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)
                """,
                .blob(digest.bytes),
                .blob(signIn),
                .text(session.caller.text),
                .text(session.role.rawValue),
                .text(session.provider),
                .blob(session.settings.bytes),
                .integer(now.milliseconds),
                .integer(session.expiresAt.milliseconds)
            )
        )
        return true
    }

    /// The session with that digest, unless it was ended; the caller of this method checks whether it has expired.
    func session(_ digest: SHA256Digest) throws(StorageError) -> ConsoleSession? {
        var found: ConsoleSession?
        let sql = SQL(
            """
            SELECT caller_id, role, provider, settings_digest, expires_at FROM console_sessions
                WHERE session = ? AND ended_at IS NULL
            """,
            .blob(digest.bytes)
        )
        try connection.rows(sql) { row in
            guard let caller = CallerID(ofSession: row.text(0)), let role = CallerRole(rawValue: row.text(1)),
                let settings = SHA256Digest(bytes: row.blob(3))
            else { return }
            found = ConsoleSession(
                caller: caller,
                role: role,
                provider: row.text(2),
                settings: settings,
                expiresAt: Timestamp(milliseconds: row.integer(4))
            )
        }
        return found
    }

    /// Ends a session.
    ///
    /// - Returns: Whether it had not been ended before.
    func end(_ digest: SHA256Digest, at now: Timestamp) throws(StorageError) -> Bool {
        let sql = SQL(
            "UPDATE console_sessions SET ended_at = ? WHERE session = ? AND ended_at IS NULL",
            .integer(now.milliseconds),
            .blob(digest.bytes)
        )
        return try connection.run(sql) == 1
    }

    private func forget(at now: Timestamp) throws(StorageError) {
        let sql = SQL(
            """
            DELETE FROM console_sessions WHERE session IN
                (SELECT session FROM console_sessions WHERE expires_at < ? ORDER BY expires_at LIMIT ?)
            """,
            .integer(now.milliseconds - Self.keptMilliseconds),
            .integer(Int64(Self.mostForgotten))
        )
        try connection.run(sql)
    }
}
