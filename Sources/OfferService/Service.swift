// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import Dispatch
package import HTTP
import OfferDomain
package import Storage

/// Why the service could not start.
package enum ServiceError: Error, Sendable {
    case configuration(ConfigurationError)
    case database(StorageError)
    case records(LedgerError)
    case server(ServerError)
    /// The client that asks the stores could not be started.
    case client(ClientError)
}

/// The running service: everything put together, started, reloaded and stopped.
package final class Service: Sendable {
    /// The version that `--version` and the record of each start name.
    package static let version = "0.1.0"

    private let settings: Settings
    private let log: Log
    private let metrics: Metrics
    private let health: Health
    private let committer: Committer
    private let current: CurrentSnapshot
    private let server: Server
    private let housekeeper: Housekeeper
    private let stores: Stores
    private let readers: LogReaders
    private let indexer: AuditIndexer
    /// Held until the service has stopped, so that no second one writes to the same database.
    private let instanceLock: InstanceLock?

    /// Loads everything, opens the database and binds the port; answers nothing yet.
    package init(
        settings: Settings,
        clock: WallClock,
        random: any RandomSource,
        log: Log
    ) throws(ServiceError) {
        self.settings = settings
        self.log = log
        metrics = Metrics()
        health = Health(metrics: metrics, log: log)
        let loaded = try Self.load(settings)
        let ledger = LedgerAccess(location: settings.database, clock: clock)
        let connection: any DatabaseConnection
        do throws(StorageError) {
            instanceLock = try ledger.lockInstance()
            connection = try ledger.open()
            current = CurrentSnapshot(try loaded.snapshot(connection))
        } catch {
            throw .database(error)
        }
        committer = Committer(
            clock: clock,
            observer: health,
            wakeUp: .onceATurn,
            place: ledger.place(),
            open: ledger.open
        )
        let index = AuditIndex()
        indexer = AuditIndexer(index: index, ledger: ledger, committer: committer, log: log)
        readers = LogReaders(open: ledger.openForReading)
        let stores = try Stores(
            settings,
            current: current,
            committer: committer,
            clock: clock,
            random: random,
            metrics: metrics,
            log: log
        )
        self.stores = stores
        let decider = OfferDecider(
            committer: committer,
            showsFindingsToApps: settings.showsFindingsToApps,
            metrics: metrics,
            log: log
        )
        let signer = OfferSigner(
            decider: decider,
            committer: committer,
            store: stores.appStore,
            verification: SelfVerification(settings.selfVerification),
            metrics: metrics,
            random: random,
            log: log
        )
        let gauges = ServerGauges()
        let operation = OperationCalls(
            current: current,
            health: health,
            metrics: metrics,
            warnings: { stores.warnings },
            gauges: { [committer] in gauges.read(committer) + stores.gauges }
        )
        let api = API(
            current: current,
            signer: signer,
            notifications: NotificationReceiver(
                store: stores.appStore,
                committer: committer,
                allowance: StrangerAllowance(clock: clock),
                metrics: metrics,
                log: log
            ),
            authorizer: OfferAuthorizer(
                decider: decider,
                catalogues: stores.catalogues,
                purchases: stores.googlePlayAPI,
                random: random,
                log: log
            ),
            previewer: OfferPreviewer(
                committer: committer,
                appStore: stores.appStore,
                catalogues: stores.catalogues,
                purchases: stores.googlePlayAPI,
                log: log
            ),
            googlePlayNotifications: stores.googlePush.map { [committer, metrics] push in
                GooglePlayNotificationReceiver(
                    authentication: push,
                    store: stores.googlePlayAPI,
                    committer: committer,
                    allowance: StrangerAllowance(clock: clock),
                    metrics: metrics,
                    log: log
                )
            },
            transactions: TransactionsCall(store: stores.appStore, committer: committer),
            transfers: TransfersCall(committer: committer),
            audit: AuditCalls(index: index, readers: readers),
            operation: operation,
            metrics: metrics,
            clock: clock,
            random: random,
            log: log
        )
        do {
            server = try Server(settings.serverConfiguration, responder: api)
        } catch {
            throw .server(error)
        }
        gauges.read(server)
        housekeeper = Housekeeper(
            ledger: ledger,
            committer: committer,
            health: health,
            current: current,
            loaded: loaded,
            log: log
        )
        committer.start(on: connection)
        for warning in loaded.keys.warnings { log(.warning, "configuration", ["issue": .text("\(warning)")]) }
    }

    private static func load(_ settings: Settings) throws(ServiceError) -> LoadedConfiguration {
        do {
            return try LoadedConfiguration(settings)
        } catch {
            throw .configuration(error)
        }
    }

    /// The port that the service listens on.
    package var port: UInt16 { server.port }

    /// Records the start and every key, then begins to answer.
    ///
    /// A key is used only once its loading is on record; if that can't be written, the service does not start.
    package func start() throws(ServiceError) {
        let snapshot = current.value
        let events = [AuditEvent.serviceStarted(version: Self.version)] + housekeeper.events(of: snapshot)
        do { try committer.appendBlocking(events) } catch { throw .records(error) }
        housekeeper.start()
        readers.start()
        indexer.start()
        do { try stores.start() } catch { throw .client(error) }
        do { try server.start() } catch { throw .server(error) }
        log(.info, "listening", ["address": .text(settings.listen.host), "port": .integer(Int64(port))])
        for obstacle in health.obstacles(snapshot) + health.warnings(snapshot) {
            log(.warning, "not all is ready", ["obstacle": .text(obstacle.name), "detail": .text(obstacle.detail)])
        }
    }

    /// Reads keys, offers, callers and the TLS certificate anew: all of them come into force, or none.
    package func reload() {
        do {
            let loaded = try LoadedConfiguration(settings)
            try server.reloadTLS { try housekeeper.adopt(loaded) }
            metrics.count(.reloads(succeeded: true))
            log(.info, "configuration reloaded", ["policy": .text(loaded.catalog.policyName)])
        } catch {
            metrics.count(.reloads(succeeded: false))
            refuseReload(error)
        }
    }

    private func refuseReload(_ error: any Error) {
        var issues = 1
        if let error = error as? ConfigurationError {
            issues = error.issues.count
            for issue in error.issues { log(.error, "configuration", ["issue": .text("\(issue)")]) }
        } else {
            log(.error, "configuration", ["issue": .text("\(error)")])
        }
        log(.error, "reload refused; what was in force stays in force")
        try? committer.appendBlocking([.configurationRefused(issues: issues)])
    }

    /// Blocks this thread, which is not one of Swift's shared pool, until every answer has left.
    private func stopServer() {
        let done = DispatchSemaphore(value: 0)
        Task { [server] in
            await server.stop()
            done.signal()
        }
        done.wait()
    }

    /// Answers what is in flight, records the end, ends every thread, and lets the next service have the database.
    package func stop() {
        health.beginStopping()
        stopServer()
        stores.stop()
        housekeeper.stop()
        readers.stop()
        indexer.stop()
        try? committer.appendBlocking([.serviceStopped])
        committer.stop()
        instanceLock?.release()
        log(.info, "stopped")
    }
}

/// Reads the server's own counts for the metrics; the server exists only after what asks for them.
private final class ServerGauges: Sendable {
    /// Weak, because the server owns the calls that read it; held, it would keep itself and every key in memory.
    private struct Source {
        weak var server: Server?
    }

    private let source = Guarded(Source())

    func read(_ server: Server) {
        source.withLock { $0.server = server }
    }

    func read(_ committer: Committer) -> [Gauge] {
        guard let statistics = source.withLock({ $0.server })?.statistics else { return [] }
        let rejections = statistics.rejections.map { Gauge.Sample(Double($0.value), labels: [("kind", $0.key)]) }
        return [
            Gauge(
                "offer_signer_waiting_requests",
                "Requests that wait for a commit",
                [.init(Double(committer.waiting))]
            ),
            Gauge("offer_signer_open_connections", "Open connections", [.init(Double(statistics.openConnections))]),
            Gauge(
                "offer_signer_accepted_connections_total",
                "Connections accepted",
                type: "counter",
                [.init(Double(statistics.acceptedConnections))]
            ),
            Gauge(
                "offer_signer_rejected_requests_total",
                "Requests that the HTTP server turned away, by kind",
                type: "counter",
                rejections
            ),
        ]
    }
}

extension Settings {
    fileprivate var serverConfiguration: ServerConfiguration {
        var configuration = ServerConfiguration(address: listen.host, port: listen.port)
        if let loops { configuration.loops = loops }
        configuration.limits.bodyBytes = 65_536
        configuration.limits.connections = connections
        configuration.limits.connectionsPerAddress = connectionsPerAddress
        configuration.tls = tls
        configuration.rejectionResponse = { Problem(.request(.rejected($0))).response(requestID: nil) }
        return configuration
    }
}
