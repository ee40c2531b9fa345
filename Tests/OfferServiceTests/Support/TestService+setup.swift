// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Foundation
import HTTP
import OfferDomain
import OfferService
import Storage
import TestSupport

@testable import Ledger

extension TestService {
    /// The callers that every service under test knows, by name.
    static let callers: [(name: String, role: CallerRole, bundleIDs: [String], days: Int?)] = [
        ("backend", .backend, [], nil),
        ("second-backend", .backend, [], nil),
        ("app", .app, [], nil),
        ("auditor", .auditor, [], nil),
        ("admin", .admin, [], nil),
        ("scoped", .backend, ["com.example.app"], nil),
        ("one-day", .backend, [], 1),
    ]

    /// Writes keys, offers and secrets, and returns the public keys by the name of the private one's file.
    static func write(_ files: TestFiles, into directory: TemporaryDirectory) throws -> [String: PublicKey] {
        try startSecureMemory()
        try directory.write(Array(files.keys.utf8), to: "keys")
        try directory.write(Array(files.offers.utf8), to: "offers")
        try SecretFile.createRandom(path: directory.path(of: "customer-ids.key"))
        for (name, secret) in files.secrets { try directory.write(Array(secret.utf8), to: name) }
        _ = try Ed25519PrivateKey.create(path: directory.path(of: "audit-log.key"))
        var publicKeys: [String: PublicKey] = [:]
        for name in files.privateKeys {
            let key = try PrivateKey.generate()
            try key.writePKCS8(to: directory.path(of: name))
            publicKeys[name] = key.publicKey
        }
        return publicKeys
    }

    static func settings(in directory: TemporaryDirectory, _ files: TestFiles) throws -> Settings {
        let store: [Setting: String] =
            files.appStore.map { store in
                [
                    .appStoreURL: store.productionURL, .appStoreSandboxURL: store.sandboxURL,
                    .appStoreRoots: store.rootsPath, .trustedCertificates: store.trustedCertificatesPath,
                ]
            } ?? [:]
        return try Settings(
            flags: [
                .listen: "127.0.0.1:0", .keys: directory.path(of: "keys"), .offers: directory.path(of: "offers"),
                .database: directory.database("ledger.db"), .loops: "2",
                .selfVerification: files.selfVerification.rawValue,
                .clockCheck: "warn", .checkpointFile: directory.path(of: "ledger.db.checkpoint"),
                .appFindings: files.showsFindingsToApps ? "yes" : "no",
            ].merging(store) { $1 }.merging(files.settings) { $1 },
            environment: [:]
        )
    }

    /// What the service depends on, as a test wants it.
    static func dependencies(_ wire: Wire, _ files: TestFiles, _ runtime: Runtime, wrap: @escaping Wrap) -> Dependencies
    {
        var dependencies = Dependencies(clock: runtime.clock, random: runtime.random, log: runtime.log)
        // A server's database is the test's alone too: no lease on it ends because the test moves the clock.
        if !files.isShared { dependencies.database = { LedgerAccess(location: $0, clock: $1).exclusive() } }
        dependencies.openForCommits = { ledger throws(StorageError) in try wrap(try ledger.openPatiently()) }
        // Where calls come in process, no event loop has turns that would end.
        dependencies.committer.wakeUp = wire == .loopback ? .onceATurn : .forEachRequest
        // A low bound, so that the log is checkpointed in every test that writes much.
        dependencies.writeAheadLogPages = 50
        // Never, unless it is asked to look: a test says when what is in the database comes into force.
        dependencies.housekeepingMilliseconds = 86_400_000
        dependencies.verify = files.verifies
        dependencies.retentionMilliseconds = files.retentionMilliseconds
        dependencies.retentionPause = files.retentionPause
        dependencies.userTokens = files.userTokens
        dependencies.signInMilliseconds = files.signInMilliseconds
        if let disk = files.disk { dependencies.diskReserve = { _ in DiskReserve { disk } } }
        if let retries = files.appStore?.retries { dependencies.storeRetries = retries }
        dependencies.googlePlay = files.googlePlay.map { GooglePlaySources(purchases: $0, push: $0) }
        return dependencies
    }

    /// Adds all callers in one transaction, without events, so that the audit log starts empty.
    static func addCallers(_ ledger: LedgerAccess, at now: Timestamp) throws -> [String: String] {
        let random = try SystemRandom()
        var credentials: [String: String] = [:]
        try ledger.change { connection throws(CallerStoreError) in
            let store = CallerStore(connection: connection)
            for (name, role, bundleIDs, days) in callers {
                guard let id = CallerID(name) else { continue }
                let key = APIKey(random: random)
                let apps = Set(bundleIDs.compactMap { try? AppName($0) })
                try store.add(Caller(id: id, role: role, apps: apps), at: now)
                try store.addKey(key, to: id, expiresAt: days.map(now.adding(days:)), at: now)
                credentials[name] = key.credential
            }
            return []
        }
        return credentials
    }
}
