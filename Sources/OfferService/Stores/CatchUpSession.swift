// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Cryptography
import Dispatch
package import Ledger
package import OfferDomain
package import ServiceRuntime
import Storage
package import Stores

/// Why notifications could not be caught up at all.
package enum CatchUpError: Error, Sendable {
    case configuration(ConfigurationError)
    case service(ServiceError)
    case ledger(LedgerError)
    /// None of the apps asked for is in the catalog, or none takes these environments.
    case nothingToRead
}

/// Everything that a catch-up command needs; it may run beside the service, or alone.
package final class CatchUpSession: Sendable {
    /// What is wanted; `nil` is all that there is.
    package struct Wish: Sendable {
        /// Only this app; `nil` for all apps of the catalog.
        package var bundleID: BundleID?
        /// Only this environment; `nil` for all that the app takes.
        package var environment: StoreEnvironment?
        /// The oldest notifications that are wanted, by the time when Apple sent them.
        package var since: Timestamp
        /// Whether to read only those that Apple could not deliver.
        package var onlyFailures: Bool

        package init(bundleID: BundleID?, environment: StoreEnvironment?, since: Timestamp, onlyFailures: Bool) {
            self.bundleID = bundleID
            self.environment = environment
            self.since = since
            self.onlyFailures = onlyFailures
        }
    }

    private let ledger: LedgerAccess
    private let loaded: LoadedConfiguration
    private let current: CurrentSnapshot
    private let committer: Committer
    private let stores: StoreClients
    private let catchUp: NotificationCatchUp

    /// Reads keys and offers, opens the database and starts the store clients.
    ///
    /// The database must already exist: in a new one, no service would read what the catch-up writes.
    /// `party` is the name that the store's budget is charged to.
    package init(
        _ settings: Settings,
        party: Party,
        clock: WallClock,
        random: any RandomSource,
        pause: Pause = .system
    ) throws(CatchUpError) {
        do { loaded = try LoadedConfiguration(settings) } catch { throw .configuration(error) }
        ledger = LedgerAccess(location: settings.database, clock: clock)
        guard ledger.exists else { throw .ledger(.databaseGone) }
        let metrics = Metrics()
        // The tallies report what happens.
        let log = Log(level: .error, clock: clock, sink: { _ in })
        let runtime = Runtime(clock: clock, random: random, metrics: metrics, log: log)
        let (connection, snapshot) = try Self.open(ledger, for: loaded)
        current = CurrentSnapshot(snapshot)
        committer = Committer(
            clock: clock,
            observer: metrics,
            database: CommitterDatabase(place: ledger.place(), open: ledger.open)
        )
        do throws(ServiceError) {
            stores = try StoreClients(settings, current: current, committer: committer, runtime: runtime)
        } catch {
            throw .service(error)
        }
        let receiver = NotificationReceiver(store: stores.appStore, committer: committer, metrics: metrics, log: log)
        catchUp = NotificationCatchUp(
            api: stores.appStoreAPI,
            receiver: receiver,
            party: party,
            clock: clock,
            pause: pause
        )
        committer.start(on: connection)
        do { try stores.start() } catch { throw .service(.client(error)) }
    }

    /// Opens the database, and records in it the secret versions and the catalog that are used from here on.
    private static func open(
        _ ledger: LedgerAccess,
        for loaded: LoadedConfiguration
    ) throws(CatchUpError) -> (connection: any DatabaseConnection, snapshot: Snapshot) {
        let opened: (connection: any DatabaseConnection, snapshot: Snapshot)
        do throws(StorageError) {
            let connection = try ledger.open()
            opened = (connection, try loaded.snapshot(connection))
        } catch {
            throw .ledger(.database(error))
        }
        do { try loaded.adoptSecrets(in: ledger) } catch { throw .service(error) }
        do { try loaded.catalog.note(in: ledger) } catch { throw .ledger(.database(error)) }
        return opened
    }

    /// Ends every thread.
    package func stop() {
        stores.stop()
        committer.stop()
    }

    /// Catches up with one app and environment after the other.
    ///
    /// `progress` is called after each page, and `done` after each app and environment.
    package func run(
        _ wish: Wish,
        progress: @escaping @Sendable (CatchUpTally) -> Void,
        done: @escaping @Sendable (CatchUpTally) -> Void
    ) async throws(CatchUpError) -> [CatchUpTally] {
        let spans = spans(wish)
        guard !spans.isEmpty else { throw .nothingToRead }
        do throws(LedgerError) {
            try await committer.append(keysToUse(spans))
        } catch {
            throw .ledger(error)
        }
        var tallies: [CatchUpTally] = []
        for span in spans {
            let tally = await catchUp.run(span, under: current.value.evidence) { [self] tally in
                refresh()
                progress(tally)
            }
            done(tally)
            tallies.append(tally)
        }
        return tallies
    }

    /// Like ``run(_:progress:done:)``, for the thread of a command, which may block.
    package func runBlocking(
        _ wish: Wish,
        progress: @escaping @Sendable (CatchUpTally) -> Void,
        done: @escaping @Sendable (CatchUpTally) -> Void
    ) throws(CatchUpError) -> [CatchUpTally] {
        let result = Guarded<Result<[CatchUpTally], CatchUpError>?>(nil)
        Task {
            let outcome: Result<[CatchUpTally], CatchUpError>
            do throws(CatchUpError) {
                outcome = .success(try await run(wish, progress: progress, done: done))
            } catch {
                outcome = .failure(error)
            }
            result.withLock { $0 = outcome }
            result.wakeOne()
        }
        return try result.wait { $0 }.get()
    }

    /// Follows the command that disables a key, before the next token is signed.
    private func refresh() {
        guard let connection = try? ledger.openForReading(), let next = try? loaded.snapshot(connection) else { return }
        current.swap(next)
    }

    private func spans(_ wish: Wish) -> [NotificationCatchUp.Span] {
        let apps = current.value.catalog.apps.values.sorted { $0.bundleID.text < $1.bundleID.text }
            .filter { wish.bundleID == nil || wish.bundleID == $0.bundleID }
        return apps.flatMap { app in
            StoreEnvironment.allCases
                .filter { app.environments.contains($0) && (wish.environment == nil || wish.environment == $0) }
                .map { environment in
                    NotificationCatchUp.Span(
                        bundleID: app.bundleID,
                        environment: environment,
                        since: wish.since,
                        onlyFailures: wish.onlyFailures
                    )
                }
        }
    }

    /// Records which keys are loaded before any of them is used, as each start of the service does.
    private func keysToUse(_ spans: [NotificationCatchUp.Span]) -> [AuditEvent] {
        var events: [AuditEvent] = []
        var known: Set<KeyID> = []
        for span in spans {
            guard let key = current.value.keyRing.activeKey(for: span.bundleID, purpose: .appStoreServerAPI),
                known.insert(key.id).inserted
            else { continue }
            events.append(.key(.loaded(keyID: key.id, publicKeyDigest: key.publicKeyDigest, status: .active)))
        }
        return events
    }
}
