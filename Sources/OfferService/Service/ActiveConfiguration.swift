// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Ledger
import OfferDomain
import ServiceRuntime
package import Storage
import TransparencyLog

/// The configuration that is in force, and how another one comes into force.
package final class ActiveConfiguration: Sendable {
    /// Locked for as long as a snapshot is made, so that a reload and a look can't undo each other.
    private let configuration: Guarded<LoadedConfiguration>
    private let current: CurrentSnapshot
    private let ledger: LedgerAccess
    private let committer: Committer
    private let health: Health

    init(
        _ loaded: LoadedConfiguration,
        current: CurrentSnapshot,
        ledger: LedgerAccess,
        committer: Committer,
        health: Health
    ) {
        configuration = Guarded(loaded)
        self.current = current
        self.ledger = ledger
        self.committer = committer
        self.health = health
    }

    /// Both files, as they were read.
    package var loaded: LoadedConfiguration { configuration.withLock { $0 } }

    /// What is to be on record before the first snapshot comes into force.
    var events: [AuditEvent] { Self.events(of: current.value, loaded) }

    /// Keeps since when the catalog has its offers.
    func noteCatalog() throws(ServiceError) {
        do throws(StorageError) { try loaded.catalog.note(in: ledger) } catch { throw .records(.database(error)) }
    }

    /// Keys that an administrator has disabled are loaded too, and may be enabled later.
    private static func events(of snapshot: Snapshot, _ loaded: LoadedConfiguration) -> [AuditEvent] {
        let keys = loaded.keys.ring.keys.compactMap { key in
            key.publicKeyDigest.map { AuditEvent.key(.loaded(keyID: key.id, publicKeyDigest: $0, status: key.status)) }
        }
        let accounts = loaded.keys.ring.serviceAccounts.map { account in
            AuditEvent.key(.serviceAccountLoaded(account.name, publicKeyDigest: account.publicKeyDigest))
        }
        let configuration = AuditEvent.configurationLoaded(
            policyName: snapshot.catalog.policyName,
            keysDigest: loaded.keys.digest.hex,
            settingsDigest: loaded.settingsDigest.hex,
            eventsDigest: loaded.events?.digest.hex
        )
        let logKey = loaded.keys.logKey
        return [configuration] + keys + accounts
            + [.key(.logKeyLoaded(origin: logKey.origin.text, publicKeyDigest: logKey.publicKeyDigest))]
    }

    /// Puts a new configuration into force, once that is on record.
    func adopt(_ next: LoadedConfiguration) throws {
        try configuration.withLock { loaded in
            try next.requireSameLog(as: loaded)
            // All that can fail comes before the record: a secret version that has begun makes all others outdated.
            let snapshot = try next.snapshot(try ledger.openForReading())
            let events = Self.events(of: snapshot, next)
            try next.catalog.note(in: ledger)
            if try !next.adoptSecrets(in: ledger, with: events) { try committer.appendBlocking(events) }
            loaded = next
            current.swap(snapshot)
        }
    }

    /// Takes callers, key states and what became of secrets from the database into force.
    package func refresh(from connection: any DatabaseConnection) throws(StorageError) {
        try configuration.withLock { loaded throws(StorageError) in
            let versions = try SecretVersionTable(connection: connection).all()
            loaded.forget(Set(versions.filter { $0.destroyedAt != nil }.map(\.name)))
            let secretVersion = loaded.keys.pseudonyms.secretVersion
            health.noteSecret(isOutdated: versions.dropLast().contains { $0.name == secretVersion })
            current.swap(try loaded.snapshot(connection))
        }
    }
}
