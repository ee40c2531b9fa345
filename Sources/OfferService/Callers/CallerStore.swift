// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
package import OfferDomain
import ServiceRuntime
package import Storage

/// Why a caller could not be changed.
package enum CallerStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    case alreadyExists(CallerID)
    case unknownCaller(CallerID)
    /// It was revoked, which is for good; records keep its name.
    case revoked(CallerID)
    case unknownKey(String)
    /// A browser shows a certificate to whatever page asks, and an app's is everyone's.
    case certificateNeedsBackend(CallerID)
    /// The certificate is expired.
    case certificateExpired(Timestamp)
    /// Two keys are live already; that is what a rotation needs, and no more.
    case twoLiveKeys(CallerID)
    /// As many SDK keys as are allowed are live already.
    case tooManySDKKeys(CallerID)
    /// An SDK key is public, so only an app of known bundles may have it.
    case sdkKeyNeedsApp(CallerID)
    /// The SDK key or certificate belongs to that caller already.
    case keyKnown(CallerID)
    case database(StorageError)

    /// The reason, as a part of a sentence for the person who ran the command.
    package var description: String {
        switch self {
        case .alreadyExists(let id):
            "a caller named \(id) already exists; choose another name, or give it one more key with add-key"
        case .unknownCaller(let id): "there is no caller named \(id)"
        case .revoked(let id): "the caller \(id) is revoked for good; add one under another name"
        case .unknownKey(let id): "the caller has no key \(id)"
        case .twoLiveKeys(let id): "\(id) has two live keys already; revoke one of them first"
        case .tooManySDKKeys(let id): "\(id) has \(SDKKey.mostLive) live SDK keys already; revoke one of them first"
        case .sdkKeyNeedsApp(let id):
            "an SDK key is public, and \(id) is not a caller of role app with --bundle; add one, and give it the key"
        case .certificateNeedsBackend(let id):
            "\(id) is not of role backend, and only such callers may have a certificate. Give it an API key with add-key"
        case .certificateExpired(let time): "the certificate expired at \(time.rfc3339)"
        case .keyKnown(let id): "it belongs to \(id) already; revoke it there first"
        case .database(let error): "\(error)"
        }
    }
}

/// Callers as rows of the database.
package struct CallerStore {
    /// A caller as it is stored.
    package typealias Entry = (caller: Caller, keys: [StoredCallerKey], revokedAt: Timestamp?)

    private let connection: any DatabaseConnection

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// Every caller with its keys, by name; revoked ones too if asked for.
    package func all() throws(StorageError) -> [Entry] {
        var keys: [String: [StoredCallerKey]] = [:]
        try connection.rows(
            SQL(
                """
                SELECT caller_id, key_id, secret_digest, created_at, expires_at, revoked_at
                FROM caller_keys ORDER BY created_at, key_id
                """
            )
        ) { row in
            keys[row.text(0), default: []].append(
                StoredCallerKey(
                    id: row.text(1),
                    secretDigest: row.blob(2),
                    createdAt: Timestamp(milliseconds: row.integer(3)),
                    expiresAt: row.optionalInteger(4).map(Timestamp.init(milliseconds:)),
                    revokedAt: row.optionalInteger(5).map(Timestamp.init(milliseconds:))
                )
            )
        }
        var callers: [Entry] = []
        try connection.rows(
            SQL("SELECT caller_id, role, bundle_ids, revoked_at, rate FROM callers ORDER BY caller_id")
        ) { row in
            guard let id = CallerID(row.text(0)), let role = CallerRole(rawValue: row.text(1)) else { return }
            let texts = row.text(2).split(separator: " ")
            let apps = texts.compactMap { try? AppName(String($0)) }
            // Skipped: an unreadable scope would count as no scope, and no scope means every app.
            guard apps.count == texts.count else { return }
            let revoked = row.optionalInteger(3).map(Timestamp.init(milliseconds:))
            let rate = row.optionalText(4).map(RateLimit.init)
            // Skipped: an unreadable rate would count as no rate. Then the role's rate applies, which may be higher.
            if case .some(.none) = rate { return }
            let caller = Caller(id: id, role: role, apps: Set(apps), rate: rate ?? nil)
            callers.append((caller, keys[id.text] ?? [], revoked))
        }
        return callers
    }

    /// The callers and keys that are not revoked, for authentication.
    package func directory(
        _ certificates: ClientCertificates = ClientCertificates()
    ) throws(StorageError) -> CallerDirectory {
        CallerDirectory(
            try all().filter { $0.revokedAt == nil }.map { entry in
                (entry.caller, entry.keys.filter { $0.revokedAt == nil })
            },
            certificates: certificates
        )
    }

    /// Adds a caller without a key; a name that was revoked is never used again.
    package func add(_ caller: Caller, at now: Timestamp) throws(CallerStoreError) {
        if let found = try find(caller.id) {
            throw found.revokedAt == nil ? .alreadyExists(caller.id) : .revoked(caller.id)
        }
        try run(
            SQL(
                "INSERT INTO callers (caller_id, role, bundle_ids, created_at, rate) VALUES (?, ?, ?, ?, ?)",
                .text(caller.id.text),
                .text(caller.role.rawValue),
                .text(caller.apps.map(\.text).sorted().joined(separator: " ")),
                .integer(now.milliseconds),
                caller.rate.map { .text($0.description) } ?? .null
            )
        )
    }

    /// Gives a caller one more key; at most two may be live.
    package func addKey(
        _ key: APIKey,
        to id: CallerID,
        expiresAt: Timestamp?,
        at now: Timestamp
    ) throws(CallerStoreError) {
        let live = try live(id, at: now).keys.count { !$0.id.hasPrefix(SDKKey.prefix) }
        guard live < 2 else { throw .twoLiveKeys(id) }
        try insert(key, of: id, expiresAt: expiresAt, at: now)
    }

    /// Lets a client certificate stand for a caller, until the certificate expires; at most two keys may be live.
    package func addKey(
        _ key: CertificateKey,
        to id: CallerID,
        expiresAt: Timestamp,
        at now: Timestamp
    ) throws(CallerStoreError) {
        let (caller, keys) = try live(id, at: now)
        guard caller.role == .backend else { throw .certificateNeedsBackend(id) }
        guard now < expiresAt else { throw .certificateExpired(expiresAt) }
        guard keys.count < 2 else { throw .twoLiveKeys(id) }
        try insertPublic(key, of: id, expiresAt: expiresAt, at: now)
    }

    /// Lets an SDK's public key stand for a caller.
    package func addKey(
        _ key: SDKKey,
        to id: CallerID,
        expiresAt: Timestamp?,
        at now: Timestamp
    ) throws(CallerStoreError) {
        let (caller, keys) = try live(id, at: now)
        guard caller.role == .app, !caller.apps.isEmpty else { throw .sdkKeyNeedsApp(id) }
        guard keys.count(where: { $0.id.hasPrefix(SDKKey.prefix) }) < SDKKey.mostLive else { throw .tooManySDKKeys(id) }
        try insertPublic(key, of: id, expiresAt: expiresAt, at: now)
    }

    /// Inserts a key that was not made here, so that another caller may have it, or the same one after its revocation.
    private func insertPublic(
        _ key: some CallerCredential,
        of id: CallerID,
        expiresAt: Timestamp?,
        at now: Timestamp
    ) throws(CallerStoreError) {
        let known: Entry?
        do { known = try all().first { $0.keys.contains { $0.id == key.id } } } catch { throw .database(error) }
        if let known, known.revokedAt == nil, known.keys.contains(where: { $0.id == key.id && $0.isLive(at: now) }) {
            throw .keyKnown(known.caller.id)
        }
        try run(SQL("DELETE FROM caller_keys WHERE key_id = ?", .text(key.id)))
        try insert(key, of: id, expiresAt: expiresAt, at: now)
    }

    /// A caller that is not revoked, and its live keys.
    private func live(
        _ id: CallerID,
        at now: Timestamp
    ) throws(CallerStoreError) -> (caller: Caller, keys: [StoredCallerKey]) {
        guard let found = try find(id) else { throw .unknownCaller(id) }
        guard found.revokedAt == nil else { throw .revoked(id) }
        return (found.caller, found.keys.filter { $0.isLive(at: now) })
    }

    private func insert(
        _ key: some CallerCredential,
        of id: CallerID,
        expiresAt: Timestamp?,
        at now: Timestamp
    ) throws(CallerStoreError) {
        try run(
            SQL(
                """
                INSERT INTO caller_keys (key_id, caller_id, secret_digest, created_at, expires_at)
                VALUES (?, ?, ?, ?, ?)
                """,
                .text(key.id),
                .text(id.text),
                .blob(key.secretDigest.bytes),
                .integer(now.milliseconds),
                expiresAt.map { .integer($0.milliseconds) } ?? .null
            )
        )
    }

    /// Revokes one key of a caller, or the caller with all its keys.
    package func revoke(_ id: CallerID, keyID: String?, at now: Timestamp) throws(CallerStoreError) {
        guard let found = try find(id) else { throw .unknownCaller(id) }
        if let keyID {
            guard found.keys.contains(where: { $0.id == keyID }) else { throw .unknownKey(keyID) }
            try run(
                SQL(
                    "UPDATE caller_keys SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL",
                    .integer(now.milliseconds),
                    .text(keyID)
                )
            )
        } else {
            try run(
                SQL(
                    "UPDATE callers SET revoked_at = ? WHERE caller_id = ? AND revoked_at IS NULL",
                    .integer(now.milliseconds),
                    .text(id.text)
                )
            )
        }
    }

    private func find(_ id: CallerID) throws(CallerStoreError) -> Entry? {
        do { return try all().first { $0.caller.id == id } } catch { throw .database(error) }
    }

    private func run(_ sql: SQL) throws(CallerStoreError) {
        do { try connection.run(sql) } catch { throw .database(error) }
    }
}
