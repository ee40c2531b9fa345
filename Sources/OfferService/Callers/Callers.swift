// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Cryptography
package import Ledger
package import OfferDomain
package import ServiceRuntime
import Storage

/// Why the callers could not be read or changed.
package enum CallersError: Error, CustomStringConvertible {
    case refused(CallerStoreError)
    case ledger(LedgerError)
    case random(RandomError)

    /// The reason, as a part of a sentence for the person who ran the command.
    package var description: String {
        switch self {
        case .refused(let error): error.description
        case .ledger(let error): error.description
        case .random(let error): error.description
        }
    }

    /// Whether the database was at fault, and not what was asked for.
    package var isOfDatabase: Bool {
        switch self {
        case .refused(.database), .ledger, .random: true
        case .refused: false
        }
    }
}

/// Changes who may call, and records each change with it.
package struct Callers {
    private let ledger: LedgerAccess
    private let clock: WallClock

    package init(ledger: LedgerAccess, clock: WallClock) {
        self.ledger = ledger
        self.clock = clock
    }

    /// Makes a caller with its first key, which is never to be seen again.
    package func add(_ caller: Caller, expiresInDays: Int?) -> Result<APIKey, CallersError> {
        withFreshKey { key, store, now throws(CallerStoreError) in
            try store.add(caller, at: now)
            try store.addKey(key, to: caller.id, expiresAt: expiresInDays.map(now.adding(days:)), at: now)
            return .caller(.created(caller.id, role: caller.role, keyID: key.id))
        }
    }

    /// Gives a caller one more key.
    package func addKey(to id: CallerID, expiresInDays: Int?) -> Result<APIKey, CallersError> {
        withFreshKey { key, store, now throws(CallerStoreError) in
            try store.addKey(key, to: id, expiresAt: expiresInDays.map(now.adding(days:)), at: now)
            return .caller(.keyAdded(id, keyID: key.id))
        }
    }

    /// Makes a caller with a client certificate in place of an API key; answers the key's ID and when it expires.
    package func add(
        _ caller: Caller,
        _ certificate: Certificate,
        expiresInDays: Int?
    ) -> Result<CertificateEntry, CallersError> {
        enter(certificate, expiresInDays: expiresInDays) { key, store, now, expiry throws(CallerStoreError) in
            try store.add(caller, at: now)
            try store.addKey(key, to: caller.id, expiresAt: expiry, at: now)
            return .caller(.created(caller.id, role: caller.role, keyID: key.id))
        }
    }

    /// Lets one more client certificate stand for a caller.
    package func addKey(
        _ certificate: Certificate,
        to id: CallerID,
        expiresInDays: Int?
    ) -> Result<CertificateEntry, CallersError> {
        enter(certificate, expiresInDays: expiresInDays) { key, store, now, expiry throws(CallerStoreError) in
            try store.addKey(key, to: id, expiresAt: expiry, at: now)
            return .caller(.keyAdded(id, keyID: key.id))
        }
    }

    /// A certificate's key ID, and until when the service takes it.
    package typealias CertificateEntry = (keyID: String, expiresAt: Timestamp)

    private func enter(
        _ certificate: Certificate,
        expiresInDays: Int?,
        _ body: (CertificateKey, CallerStore, Timestamp, Timestamp) throws(CallerStoreError) -> AuditEvent
    ) -> Result<CertificateEntry, CallersError> {
        let (key, now) = (CertificateKey(certificate.fingerprint), clock.now())
        let end = Timestamp(milliseconds: certificate.notAfter * 1000)
        let expiry = expiresInDays.map { min(now.adding(days: $0), end) } ?? end
        return change { store throws(CallerStoreError) in try body(key, store, now, expiry) }.map { (key.id, expiry) }
    }

    /// Lets an SDK's public key stand for a caller of role `app`; answers the key's id.
    package func addKey(_ key: SDKKey, to id: CallerID, expiresInDays: Int?) -> Result<String, CallersError> {
        let now = clock.now()
        return change { store throws(CallerStoreError) in
            try store.addKey(key, to: id, expiresAt: expiresInDays.map(now.adding(days:)), at: now)
            return .caller(.keyAdded(id, keyID: key.id))
        }.map { key.id }
    }

    /// Revokes one key of a caller, or the caller with all its keys.
    package func revoke(_ id: CallerID, keyID: String?) -> Result<Void, CallersError> {
        let now = clock.now()
        return change { store throws(CallerStoreError) in
            try store.revoke(id, keyID: keyID, at: now)
            return .caller(.revoked(id, keyID: keyID))
        }
    }

    /// A line for each caller and each of its keys, for people.
    package func all() -> Result<[String], CallersError> {
        let now = clock.now()
        do throws(StorageError) {
            return .success(try CallerStore(connection: try ledger.open()).all().flatMap { lines($0, at: now) })
        } catch {
            return .failure(.ledger(.database(error)))
        }
    }

    /// A row for each key of each caller, or for a caller without one: caller, role, apps, rate, key, since, state.
    package func rows() -> Result<[[String]], CallersError> {
        let now = clock.now()
        do throws(StorageError) {
            return .success(try CallerStore(connection: try ledger.open()).all().flatMap { rows($0, at: now) })
        } catch {
            return .failure(.ledger(.database(error)))
        }
    }

    private func rows(_ entry: CallerStore.Entry, at now: Timestamp) -> [[String]] {
        let apps = entry.caller.apps.map(\.text).sorted().joined(separator: " ")
        let head = [
            entry.caller.id.text, entry.caller.role.rawValue, apps.isEmpty ? "all" : apps,
            entry.caller.rate.map { "\($0)" } ?? "-",
        ]
        guard !entry.keys.isEmpty else {
            return [head + ["-", "-", entry.revokedAt.map { "revoked \($0.rfc3339)" } ?? "without a key"]]
        }
        return entry.keys.map { key in head + [key.id, key.createdAt.rfc3339, state(key, of: entry, at: now)] }
    }

    private func state(_ key: StoredCallerKey, of entry: CallerStore.Entry, at now: Timestamp) -> String {
        (key.revokedAt ?? entry.revokedAt).map { "revoked \($0.rfc3339)" }
            ?? key.expiresAt.map { "\($0 <= now ? "expired" : "expires") \($0.rfc3339)" } ?? "live"
    }

    private func lines(_ entry: CallerStore.Entry, at now: Timestamp) -> [String] {
        let apps = entry.caller.apps.map(\.text).sorted().joined(separator: " ")
        let state = entry.revokedAt.map { "revoked \($0.rfc3339)" } ?? "live"
        let head =
            "\(entry.caller.id)  \(entry.caller.role.rawValue)  \(apps.isEmpty ? "all apps" : apps)  \(state)"
            + (entry.caller.rate.map { "  at most \($0)" } ?? "")
        return [head]
            + entry.keys.map { key in
                "  key \(key.id)  since \(key.createdAt.rfc3339)  \(self.state(key, of: entry, at: now))"
            }
    }

    private func withFreshKey(
        _ body: (APIKey, CallerStore, Timestamp) throws(CallerStoreError) -> AuditEvent
    ) -> Result<APIKey, CallersError> {
        let key: APIKey
        do { key = APIKey(random: try SystemRandom()) } catch { return .failure(.random(error)) }
        let now = clock.now()
        return change { store throws(CallerStoreError) in try body(key, store, now) }.map { key }
    }

    private func change(
        _ body: (CallerStore) throws(CallerStoreError) -> AuditEvent
    ) -> Result<Void, CallersError> {
        do throws(LedgerChangeError<CallerStoreError>) {
            return .success(
                try ledger.change { connection throws(CallerStoreError) in
                    [try body(CallerStore(connection: connection))]
                }
            )
        } catch {
            switch error {
            case .refused(let refusal): return .failure(.refused(refusal))
            case .ledger(let error): return .failure(.ledger(error))
            }
        }
    }
}
