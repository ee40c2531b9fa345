// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import HTTP
import OfferDomain
import OfferService
import Storage
import TestSupport

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
                .database: directory.database("ledger.db"), .loops: "2", .selfVerification: "always",
                .clockCheck: "warn", .checkpointFile: directory.path(of: "ledger.db.checkpoint"),
                .appFindings: files.showsFindingsToApps ? "yes" : "no",
            ].merging(store) { $1 }.merging(files.settings) { $1 },
            environment: [:]
        )
    }

    static func snapshot(_ loaded: LoadedConfiguration, _ ledger: LedgerAccess) throws -> Snapshot {
        let connection = try ledger.openForReading()
        return Snapshot(
            catalog: loaded.catalog,
            keyRing: loaded.keys.ring.disabling(try KeyStateStore(connection: connection).disabled()),
            pseudonyms: loaded.keys.pseudonyms,
            callers: try CallerStore(connection: connection).directory()
        )
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

    static func server(_ api: API) throws -> Server {
        var configuration = ServerConfiguration(loops: 2)
        configuration.limits.bodyBytes = 65_536
        configuration.limits.bodyBytesByPath = [
            Array(Route.promotionalOfferBatch.rawValue.utf8): SignatureBatch.maximumBytes
        ]
        configuration.rejectionResponse = { Problem(.request(.rejected($0))).response(requestID: nil) }
        return try Server(configuration, responder: api)
    }
}
