// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Cryptography
import Dispatch
package import HTTP
package import Ledger
import OfferDomain
package import ServiceRuntime
import Stores

/// Asks the App Store whether it takes our keys, once for each app and environment, and Google Play what it lists.
package struct LiveCheck {
    let loaded: LoadedConfiguration
    let ledger: LedgerAccess
    private let origins: AppStoreOrigins
    private let googleOrigins: GoogleOrigins
    let client: Client
    private let providerClient: Client
    let connectOrigin: Origin
    let clock: WallClock
    private let random: any RandomSource

    /// Prepares everything; nothing is asked before ``run()``.
    package init(
        _ settings: Settings,
        _ loaded: LoadedConfiguration,
        clock: WallClock,
        random: any RandomSource
    ) throws(LiveCheckError) {
        self.loaded = loaded
        self.clock = clock
        self.random = random
        ledger = LedgerAccess(location: settings.database, clock: clock)
        origins = settings.appStoreOrigins
        googleOrigins = settings.googleOrigins
        connectOrigin = settings.appStoreConnectOrigin
        // No one would look for records in a database that is created only now.
        guard ledger.exists else { throw .noDatabase }
        do {
            client = try Client(settings.clientConfiguration)
            providerClient = try Client(settings.providerClientConfiguration)
        } catch {
            throw .client(error)
        }
    }

    /// Asks, and blocks the thread meanwhile; that must not be one of Swift's shared pool.
    ///
    /// Each use of a key is on record before it happens; if it can't be recorded, nothing is signed.
    package func run() throws(LiveCheckError) -> LiveReports {
        let ring: KeyRing
        do {
            ring = loaded.keys.ring.disabling(try KeyDisabling(ledger: ledger, clock: clock).disabled())
        } catch {
            throw .ledger(error)
        }
        do {
            try client.start()
            try providerClient.start()
        } catch {
            throw .client(error)
        }
        defer {
            client.stop()
            providerClient.stop()
        }
        let done = DispatchSemaphore(value: 0)
        let outcome = Guarded<Result<LiveReports, LiveCheckError>>(
            .success(LiveReports(appStore: nil, connect: nil, googlePlay: nil))
        )
        Task {
            let found = await reports(ring)
            outcome.withLock { $0 = found }
            done.signal()
        }
        done.wait()
        return try outcome.withLock { $0 }.get()
    }

    private func reports(_ ring: KeyRing) async -> Result<LiveReports, LiveCheckError> {
        do throws(LiveCheckError) {
            let asked = loaded.catalog.apps.isEmpty ? nil : try await appStoreReports(ring)
            let googlePlay = loaded.catalog.googlePlayApps.isEmpty ? nil : await googlePlayReport(ring)
            let connect = await connectReport()
            let providers = loaded.keys.identity
            let identity = providers.isEmpty ? nil : await IdentityProviderReport(providers, providerClient)
            return .success(
                LiveReports(
                    appStore: asked?.keys,
                    retention: asked?.retention,
                    connect: connect,
                    googlePlay: googlePlay,
                    identity: identity
                )
            )
        } catch {
            return .failure(error)
        }
    }

    // MARK: - The App Store

    private func appStoreReports(
        _ ring: KeyRing
    ) async throws(LiveCheckError) -> (keys: LiveReport, retention: RetentionMessagingReport?) {
        let apps = loaded.catalog.apps.values.sorted { $0.bundleID.text < $1.bundleID.text }
        let (entries, retention) = try await entries(apps, ring)
        let named = Set(apps.map(\.bundleID))
        let unnamed = ring.keys.filter(Self.mayAsk).flatMap(\.bundleIDs).filter { !named.contains($0) }
        return (
            LiveReport(entries: entries, bundleIDsWithoutApp: unnamed),
            retention.isEmpty ? nil : RetentionMessagingReport(entries: retention)
        )
    }

    private static func mayAsk(_ key: SigningKey) -> Bool {
        key.status == .active && key.purposes.contains(.appStoreServerAPI)
    }

    private func entries(
        _ apps: [AppStoreApp],
        _ ring: KeyRing
    ) async throws(LiveCheckError) -> ([LiveReport.Entry], [RetentionMessagingReport.Entry]) {
        let probe = LiveProbe(transport: client, clock: clock)
        var entries: [LiveReport.Entry] = []
        var retention: [RetentionMessagingReport.Entry] = []
        for app in apps {
            guard let key = ring.activeKey(for: app.bundleID, purpose: .appStoreServerAPI) else {
                entries.append(LiveReport.Entry(bundleID: app.bundleID, key: nil, answers: []))
                continue
            }
            let token: SignedToken
            do throws(StoreError) {
                token = try await self.token(for: app.bundleID, key)
            } catch {
                throw .notSigned(error)
            }
            var answers: [LiveAnswer] = []
            for environment in StoreEnvironment.allCases where app.environments.contains(environment) {
                answers.append(await probe.ask(environment, at: origins[environment], with: token))
            }
            let named = LiveReport.Key(id: key.id, issuerID: key.issuerID)
            entries.append(LiveReport.Entry(bundleID: app.bundleID, key: named, answers: answers))
            retention += await retentionEntries(of: app, answers: answers, token: token)
        }
        return (entries, retention)
    }

    /// One token for all environments of an app, good for five minutes.
    private func token(for bundleID: BundleID, _ key: ActiveKey) async throws(StoreError) -> SignedToken {
        let now = clock.now()
        let request = TokenRequest(
            bundleID: bundleID,
            issuedAt: now.adding(seconds: -30),
            expiresAt: now.adding(minutes: 5)
        )
        return try await Self.signer(key, in: ledger).signature(for: request)
    }

    /// Signs with that key, each time once its use is on record.
    static func signer(_ key: ActiveKey, in ledger: LedgerAccess) -> KeyRingTokenSigner {
        KeyRingTokenSigner { _ in
            key
        } record: { key, request, digest throws(StoreError) in
            // Which key it was is on record too: its id may be the very thing that is wrong.
            let loaded = AuditEvent.key(
                .loaded(keyID: key.id, publicKeyDigest: key.publicKeyDigest, status: .active)
            )
            let use = AuditEvent.key(
                .storeTokenSigned(
                    keyID: key.id,
                    request.bundleID,
                    digest: digest.hex,
                    expiresAt: request.expiresAt
                )
            )
            try record([loaded, use], using: key.id, in: ledger)
        }
    }

    // MARK: - Google Play

    /// Asks through the service's store gateway: a list has many pages, and one failed page would hide offers.
    private func googlePlayReport(_ ring: KeyRing) async -> GooglePlayLintReport {
        // Google's reason for refusing a key appears only in this log.
        let log = Log(level: .error, clock: clock)
        let runtime = StoreRuntime(clock: clock, random: random, metrics: Metrics(), log: log)
        let gateway = StoreGateway(transport: client, runtime: runtime)
        let api = GooglePlayAPI(
            gateway: gateway,
            signer: assertionSigner(ring),
            runtime: runtime,
            origins: googleOrigins
        )
        var report = await GooglePlayCheck(
            catalog: loaded.catalog,
            listing: api,
            hasAccount: { ring.serviceAccount(for: $0) != nil },
            clock: clock
        ).report()
        report.integrity = await PlayIntegrityReport(loaded.catalog, api.integrity)
        return report
    }

    private func assertionSigner(_ ring: KeyRing) -> KeyRingAssertionSigner {
        let ledger = ledger
        return KeyRingAssertionSigner { packageName in
            ring.serviceAccount(for: packageName)
        } record: { account, expiresAt, digest throws(StoreError) in
            let events: [AuditEvent] = [
                .key(.serviceAccountLoaded(account.name, publicKeyDigest: account.publicKeyDigest)),
                .key(.googleAssertionSigned(account.name, digest: digest.hex, expiresAt: expiresAt)),
            ]
            try Self.record(events, using: nil, in: ledger)
        }
    }

    /// Records the use of a key, unless the key is disabled or the service is sealed.
    static func record(
        _ events: [AuditEvent],
        using key: KeyID?,
        in ledger: LedgerAccess
    ) throws(StoreError) {
        do throws(LedgerChangeError<StoreError>) {
            try ledger.change { connection throws(StoreError) in
                guard let key else { return events }
                let stops = try? SealStore(connection: connection).stops()
                guard let stops else { throw .cannotSign(reason: "what is sealed or disabled could not be read") }
                if let stop = stops.stop(of: key) { throw .cannotSign(reason: stop.reason) }
                return events
            }
        } catch {
            switch error {
            case .refused(let error): throw error
            case .ledger(let error): throw .cannotSign(reason: "its use could not be recorded. \(error)")
            }
        }
    }
}

/// Why the stores could not be asked at all.
package enum LiveCheckError: Error, Sendable {
    /// A use of a key is recorded before it happens, and there is nowhere to.
    case noDatabase
    case ledger(LedgerError)
    case client(ClientError)
    case notSigned(StoreError)
}

extension LiveCheckError: CustomStringConvertible {
    /// A text for the person who ran `check --live`, with what to do.
    package var description: String {
        switch self {
        case .noDatabase:
            "There is no database, and each use of a key is recorded before it happens. Name the service's with "
                + "--database; offer-signer callers add makes a new one."
        case .ledger(let error): "\(error)"
        case .client(let error): "\(error)"
        case .notSigned(let error): "\(error)"
        }
    }
}
