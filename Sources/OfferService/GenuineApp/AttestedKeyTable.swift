// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Storage

/// The unchanging members of a key that Apple has attested for one of the team's apps.
struct AttestedKey: Sendable {
    let key: PublicKey
    let bundleID: BundleID
    let environment: AppAttestEnvironment
    /// Where the app was from when it registered.
    let origin: AppOrigin?
}

/// The registered keys, each with the counter of its last assertion.
struct AttestedKeyTable {
    let connection: any DatabaseConnection

    /// What came of a registration.
    enum Registration: Sendable {
        case added
        /// It was registered before; its counter stays.
        case known
        /// Another key was registered with the same challenge.
        case challengeUsed
    }

    /// A key is deleted after this many days without an assertion; the app then registers a new one.
    static let mostIdleDays = 400
    /// The maximum number of idle keys deleted when one is added, so that idle rows do not accumulate.
    private static let mostForgotten = 8

    func key(_ id: SHA256Digest) throws(StorageError) -> AttestedKey? {
        var found: AttestedKey?
        let sql = SQL(
            "SELECT public_key, bundle_id, environment, origin FROM app_attest_keys WHERE key_id = ?",
            .blob(id.bytes)
        )
        try connection.rows(sql) { row in
            guard let key = try? PublicKey(spki: row.blob(0)), let bundleID = try? BundleID(row.text(1)),
                let environment = AppAttestEnvironment(rawValue: row.text(2))
            else { return }
            let origin = row.optionalText(3).flatMap(AppOrigin.init)
            found = AttestedKey(key: key, bundleID: bundleID, environment: environment, origin: origin)
        }
        return found
    }

    /// Adds a key, unless it is there.
    func register(
        _ id: SHA256Digest,
        _ key: AttestedKey,
        by challenge: AppAttestChallenge,
        at now: Timestamp
    ) throws(StorageError) -> Registration {
        if try self.key(id) != nil { return .known }
        var isUsed = false
        try connection.rows(
            SQL("SELECT key_id FROM app_attest_keys WHERE challenge = ?", .blob(challenge.nonce))
        ) { _ in isUsed = true }
        guard !isUsed else { return .challengeUsed }
        try connection.run(
            SQL(
                """
                INSERT INTO app_attest_keys
                    (key_id, public_key, bundle_id, environment, origin, challenge, counter, registered_at, used_day)
                VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?)
                """,
                .blob(id.bytes),
                .blob(key.key.spki),
                .text(key.bundleID.text),
                .text(key.environment.rawValue),
                key.origin.map { .text($0.rawValue) } ?? .null,
                .blob(challenge.nonce),
                .integer(now.milliseconds),
                .integer(Int64(now.utcDay))
            )
        )
        try forgetIdle(at: now)
        return .added
    }

    /// Stores an assertion's counter for the key, if it is higher than the stored one; one statement does both, so of
    /// two assertions with the same counter at most one is accepted, at any instance.
    ///
    /// - Returns: Whether it was stored.
    func advance(_ id: SHA256Digest, to counter: UInt32, at now: Timestamp) throws(StorageError) -> Bool {
        let sql = SQL(
            "UPDATE app_attest_keys SET counter = ?, used_day = ? WHERE key_id = ? AND counter < ?",
            .integer(Int64(counter)),
            .integer(Int64(now.utcDay)),
            .blob(id.bytes),
            .integer(Int64(counter))
        )
        return try connection.run(sql) == 1
    }

    /// Whether a key has been idle for longer than ``mostIdleDays``.
    func hasIdle(at now: Timestamp) throws(StorageError) -> Bool {
        var isThere = false
        let day = Int64(now.utcDay - Self.mostIdleDays)
        let sql = SQL("SELECT 1 FROM app_attest_keys WHERE used_day < ? LIMIT 1", .integer(day))
        try connection.rows(sql) { _ in isThere = true }
        return isThere
    }

    /// Deletes a few of those.
    func forgetIdle(at now: Timestamp, atMost limit: Int = mostForgotten) throws(StorageError) {
        let sql = SQL(
            """
            DELETE FROM app_attest_keys WHERE key_id IN
                (SELECT key_id FROM app_attest_keys WHERE used_day < ? ORDER BY used_day LIMIT ?)
            """,
            .integer(Int64(now.utcDay - Self.mostIdleDays)),
            .integer(Int64(limit))
        )
        try connection.run(sql)
    }
}
