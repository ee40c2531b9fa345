// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Cryptography
import HTTP
package import Ledger
import OfferDomain
import ServiceRuntime
package import Storage
package import TransparencyLog

/// Both files, read and checked together, with every key loaded.
package struct LoadedConfiguration: Sendable {
    /// What the keys file holds.
    package private(set) var keys: KeyMaterial
    /// What the offers file holds.
    package let catalog: Catalog
    /// Which witnesses sign the log; `nil` without a policy.
    package let logPolicy: LogPolicy?
    /// The receivers of events; `nil` without an events file.
    package let events: EventSettings?
    /// Over the settings that were in force when the files were read.
    package let settingsDigest: SHA256Digest
    private let clientCertificates: ClientCertificates
    let keysPath: String
    let offersPath: String
    /// Whether Google Play's notifications are taken.
    let takesGooglePushes: Bool
    /// What is odd about the settings and stops nothing.
    private let settingsWarnings: [ConfigurationIssue]

    /// - Throws: Everything that is wrong in either file, all at once.
    package init(_ settings: Settings) throws(ConfigurationError) {
        let policy = SecretFilePolicy(allowsGroupRead: settings.admitsGroupReadableSecrets)
        var issues: [ConfigurationIssue] = []
        var keys: KeyMaterial?
        var catalog: Catalog?
        do throws(ConfigurationError) {
            keys = try KeyRingFile(path: settings.keysPath, policy: policy).load()
        } catch {
            issues += error.issues
        }
        do throws(ConfigurationError) {
            catalog = try CatalogFile.read(settings.offersPath)
        } catch {
            issues += error.issues
        }
        if let tls = settings.tls { issues += Self.issues(of: tls, policy) }
        issues += settings.certificateIssues
        var logPolicy: LogPolicy?
        do throws(ConfigurationError) {
            logPolicy = try LogPolicy.read(settings.logPolicyPath, for: keys?.logKey.verifierKey)
        } catch {
            issues += error.issues
        }
        var events: EventSettings?
        do throws(ConfigurationError) {
            events = try EventsFile.load(settings.eventsPath, policy: policy)
        } catch {
            issues += error.issues
        }
        guard issues.isEmpty, let keys, let catalog else { throw ConfigurationError(issues) }
        (self.logPolicy, self.events, self.keys, self.catalog) = (logPolicy, events, keys, catalog)
        settingsDigest = settings.digest
        clientCertificates = settings.clientCertificates
        keysPath = settings.keysPath
        offersPath = settings.offersPath
        takesGooglePushes = settings.googlePush != nil
        settingsWarnings = [settings.sealWatch.folderFault].compactMap { fault in
            fault.map { ConfigurationIssue(.warning, place: Setting.sealFile.flag, $0) }
        }
    }

    /// Problems of the TLS certificate and its key, which are read only for this check; the server reads them itself.
    private static func issues(of tls: TLSConfiguration, _ policy: SecretFilePolicy) -> [ConfigurationIssue] {
        do throws(SecretLocationError) {
            // If the key file was found, its location is a plain path here.
            _ = try SecretLocation(tls.privateKeyFile, beside: "")
        } catch {
            return [ConfigurationIssue(.error, place: tls.privateKeyFile, error.description)]
        }
        do throws(SecretFileError) {
            _ = try SecretFile.read(path: tls.privateKeyFile, policy: policy)
        } catch {
            let advice = error.isMissing ? "; \(Setting.tlsKey.flag) or \(Setting.tlsKey.variable) names it" : ""
            return [ConfigurationIssue(.error, place: tls.privateKeyFile, error.description + advice)]
        }
        do throws(TextFileError) {
            // OpenSSL would wait at a pipe for ever.
            _ = try TextFile.read(tls.certificateChainFile)
        } catch {
            let setting = Settings.named(by: .tlsCertificate, error)
            return [ConfigurationIssue(.error, place: tls.certificateChainFile, error.description + setting)]
        }
        do throws(ServerError) {
            try tls.check()
            return []
        } catch {
            return [ConfigurationIssue(.error, place: tls.certificateChainFile, error.description)]
        }
    }

    /// Refuses a configuration with another log name, log key or log policy: a running log cannot become another one.
    func requireSameLog(as other: LoadedConfiguration) throws(ConfigurationError) {
        guard logPolicy == other.logPolicy else {
            throw ConfigurationError([
                ConfigurationIssue(
                    .error,
                    place: Setting.logPolicy.flag,
                    "names other witnesses than before; they come into force when the service is started again"
                )
            ])
        }
        guard keys.logKey.verifierKey != other.keys.logKey.verifierKey else { return }
        throw ConfigurationError([
            ConfigurationIssue(
                .error,
                place: keysPath,
                pointer: "/auditLog",
                "is a different name or key than the log that runs has, \(other.keys.logKey.verifierKey); it can't change on "
                    + "a reload. To begin a new log, stop the service and see offer-signer audit --help"
            )
        ])
    }

    /// The ``warnings`` that readiness does not report, so the service logs them.
    var warningsToLog: [ConfigurationIssue] { keys.warnings + settingsWarnings }

    /// Everything that does not stop the service but that the operator should check.
    package var warnings: [ConfigurationIssue] {
        warningsToLog + ungrantable + unprovenWarnings + unmatchable + unreported
    }

    /// Why some offers can never be signed or authorized, for any caller.
    package var ungrantable: [ConfigurationIssue] {
        keys.ring.unfilled(catalog.keyNeeds).map { need in
            let offers = need.purpose == .promotionalOffer ? "offers" : "introductory offers"
            return ConfigurationIssue(
                .warning,
                place: "keys and offers",
                "no key is active for \(need.bundleID) and \(need.purpose.rawValue); its \(offers) can't be signed"
                    + suggestion(for: need.bundleID.text, among: keys.ring.keys.flatMap(\.bundleIDs).map(\.text))
            )
        }
            + packagesWithoutAccount.map { packageName in
                ConfigurationIssue(
                    .warning,
                    place: "keys and offers",
                    "no service account is for \(packageName); its offers at Google Play can't be authorized"
                        + suggestion(
                            for: packageName.text,
                            among: keys.ring.serviceAccounts.flatMap(\.packageNames).map(\.text)
                        )
                )
            }
    }

    /// Warnings about offers that accept an app's unproven statement of who its customer is.
    private var unprovenWarnings: [ConfigurationIssue] {
        let offers = catalog.offers.filter(\.policy.admitsUnprovenCustomers)
        return Set(offers.map { UnprovenOffer(id: $0.id, hasBudget: $0.needs.budget != nil) })
            .sorted { $0.id.text < $1.id.text }
            .map { ConfigurationIssue(.warning, place: "offers", $0.warning) }
    }

    private struct UnprovenOffer: Hashable {
        let id: CatalogOfferID
        let hasBudget: Bool

        var warning: String {
            let budget =
                hasBudget
                ? "; its budget is for customers who are shown to be some, so that app's requests stay undecided" : ""
            return
                "the offer \(id) has admitsUnprovenCustomers: an app's API key can be taken out of the app, and whoever "
                + "has it gets the offer as often as they make up a name\(budget)"
        }
    }

    /// The apps with offers at Google Play for which no service account is configured.
    private var packagesWithoutAccount: [PackageName] {
        Set(catalog.offers.compactMap(\.googlePlay?.packageName))
            .filter { keys.ring.serviceAccount(for: $0) == nil }
            .sorted { $0.text < $1.text }
    }

    /// What requests are decided by, with the callers and disabled keys that the database holds.
    package func snapshot(_ connection: any DatabaseConnection) throws(StorageError) -> Snapshot {
        let snapshot = Snapshot(
            catalog: catalog,
            keyRing: keys.ring.disabling(try KeyStateStore(connection: connection).disabled()),
            pseudonyms: keys.pseudonyms.without(try SecretVersionTable(connection: connection).destroyed()),
            callers: try CallerStore(connection: connection).directory(clientCertificates),
            identity: keys.identity
        )
        guard let events, !events.relayedStores.isEmpty else { return snapshot }
        return Snapshot(snapshot, relaying: events.relayedStores)
    }

    /// Lets go of secrets that were destroyed while they were loaded.
    mutating func forget(_ destroyed: Set<String>) {
        keys.pseudonyms = keys.pseudonyms.without(destroyed)
    }

    /// Makes sure that the ledger's pseudonyms were made with these secrets, and takes new ones on record.
    @discardableResult
    func adoptSecrets(in ledger: LedgerAccess, with events: [AuditEvent] = []) throws(ServiceError) -> Bool {
        do throws(SecretVersionError) {
            return try SecretVersionRegister(ledger: ledger).adopt(keys.pseudonyms, with: events)
        } catch {
            switch error {
            case .ledger(let error): throw .records(error)
            case .refused(let faults):
                throw .configuration(ConfigurationError(faults.map { ConfigurationIssue($0, path: keysPath) }))
            }
        }
    }

    /// What is wrong or doubtful about the log in that database, as the service would find it at its start.
    ///
    /// Nothing is written, and a service that runs may go on. `path` is where the newest checkpoint is kept outside of it.
    ///
    /// - Throws: What keeps the service from starting and is in no file.
    package func logIssues(
        in ledger: LedgerAccess,
        checkpoint path: String
    ) throws(ServiceError) -> [ConfigurationIssue] {
        guard let (heads, stored) = try storedLog(in: ledger) else { return [] }
        let check = LogStartCheck(key: keys.logKey, heads: heads, file: CheckpointFile(path: path))
        do throws(LogMismatch) {
            guard try check.newest(stored: stored).fileIsMissing else { return [] }
            let message =
                "there is no \(path): whether the database was restored to an earlier state can't be seen without it"
            return [ConfigurationIssue(.warning, place: Setting.checkpointFile.flag, message)]
        } catch {
            guard error.isOfConfiguration else { throw .log(error) }
            return [ConfigurationIssue(.error, place: keysPath, pointer: "/auditLog", error.description)]
        }
    }

    /// The log, and what was signed of it; `nil` for a database without tables, which the service makes when it starts.
    private func storedLog(
        in ledger: LedgerAccess
    ) throws(ServiceError) -> (heads: any LogHeads, stored: [CheckpointTable.Stored])? {
        guard ledger.exists else { return (NoLogHeads(), []) }
        let connection: any DatabaseConnection
        let stored: [CheckpointTable.Stored]
        do throws(StorageError) {
            connection = try ledger.openForReading()
            guard try Migrations.version(of: connection) > 0 else { return nil }
            // Before the head: a service may sign for more than that as soon as it is read.
            stored = try CheckpointTable(connection: connection).all()
        } catch {
            throw .database(error)
        }
        let head: TreeHead
        do { head = try LogReader(connection: connection).checkedHead() } catch { throw .records(LedgerError(error)) }
        return (StoredLogHeads(newest: { head }, open: ledger.openForReading), stored)
    }

    /// Why the secrets of customers' IDs cannot be used with that database; few issues if it does not exist yet.
    package func secretIssues(in ledger: LedgerAccess) throws(StorageError) -> [ConfigurationIssue] {
        SecretVersionRegister.faults(keys.pseudonyms, try versions(of: ledger)).map {
            ConfigurationIssue($0, path: keysPath)
        }
    }

    /// What is doubtful about the callers that are not revoked; nothing if there is no database yet.
    package func callerIssues(in ledger: LedgerAccess) throws(StorageError) -> [ConfigurationIssue] {
        guard ledger.exists else { return [] }
        let connection = try ledger.openForReading()
        guard try Migrations.version(of: connection) > 0 else { return [] }
        let callers = try CallerStore(connection: connection).all().filter { $0.revokedAt == nil }
        return catalog.issues(of: callers.map(\.caller))
    }

    private func versions(of ledger: LedgerAccess) throws(StorageError) -> [SecretVersionTable.Entry] {
        guard ledger.exists else { return [] }
        let connection = try ledger.openForReading()
        // The service makes the tables when it starts.
        guard try Migrations.version(of: connection) > 0 else { return [] }
        return try SecretVersionTable(connection: connection).all()
    }
}
