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
    /// The audit log is not the one that was signed.
    case log(LogMismatch)
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
    private let seal: Seal
    private let watch: SealWatch
    /// The time of the newest entry of the log as it was found.
    private let lastRecordedAt: Timestamp?
    private let reconciler: Reconciler
    private let stores: Stores
    private let signedLog: SignedLog
    private let readers: LogReaders
    private let indexer: AuditIndexer
    /// `nil` where no other service may use the database.
    private let membership: Membership?
    private let reloading: Reloading
    /// Held until the service has stopped, so that no second one writes to the same database.
    private let instanceLock: InstanceLock?
    /// Held as long, so that no two that share a database have one checkpoint file; `nil` where none may share it.
    private let checkpointLock: InstanceLock?

    /// Loads everything, opens the database and binds the port; answers nothing yet.
    package init(
        settings: Settings,
        clock: WallClock,
        clockStatus: ClockStatus = .system,
        random: any RandomSource,
        log: Log
    ) throws(ServiceError) {
        self.settings = settings
        self.log = log
        metrics = Metrics()
        health = Health(metrics: metrics, clock: clock, log: log)
        let ledger = LedgerAccess(location: settings.database, clock: clock)
        // Before the files are read: what is asked for from here on has to be followed.
        let reloads = ledger.isShared ? try? InstanceTable(connection: ledger.openForReading()).reloads() : nil
        let loaded = try Self.load(settings)
        do throws(CheckpointFileError) {
            checkpointLock = ledger.isShared ? try Self.lock(CheckpointFile(path: settings.checkpointPath), log) : nil
        } catch {
            throw .log(.file(error))
        }
        let lease = ledger.isShared ? Lease(clock: clock) : nil
        let gate = KeyGate(lease: lease)
        let instanceID = UniqueID.version7(at: clock.now(), random.next(), random.next())
        let connection: any DatabaseConnection
        do throws(StorageError) {
            instanceLock = try ledger.lockInstance()
            connection = try ledger.open()
            current = CurrentSnapshot(try loaded.snapshot(connection))
            gate.follow(try SealStore(connection: connection).switches())
            lastRecordedAt = try AuditReader.newestTime(connection)
        } catch {
            throw .database(error)
        }
        let checked = try SignedLog.check(loaded, settings, connection, ledger)
        try loaded.adoptEpochs(in: ledger)
        let head: TreeHead
        do { head = try LedgerWriter(connection: connection).checkedHead() } catch { throw .records(error) }
        committer = Committer(
            clock: clock,
            observer: health,
            gate: gate,
            acknowledges: true,
            instance: ledger.isShared ? instanceID : nil,
            wakeUp: .onceATurn,
            askingThread: { EventLoop.current },
            place: ledger.place(),
            logKeeper: ledger.logKeeper(),
            open: ledger.open
        )
        let seal = Seal(gate: gate, committer: committer, clock: clock, log: log) { [health] in health.commitFailure }
        seal.keep(.selfVerification) { [current] in current.value.keyRing.selfTestFailure }
        self.seal = seal
        watch = SealWatch(
            settings.sealWatch,
            seal: seal,
            committer: committer,
            clock: clock,
            status: clockStatus,
            log: log
        )
        let index = AuditIndex()
        indexer = AuditIndexer(index: index, committer: committer, log: log, open: ledger.openForReading)
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
            seal: seal,
            verification: SelfVerification(settings.selfVerification, clock: clock),
            metrics: metrics,
            random: random,
            log: log
        )
        let reloading = Reloading()
        self.reloading = reloading
        let membership = lease.map { [committer] lease in
            Membership(
                Instance(
                    id: instanceID,
                    name: Instance.processName,
                    version: Self.version,
                    policyName: loaded.catalog.policyName,
                    keysDigest: loaded.keys.digest.hex
                ),
                reloads: reloads,
                lease: lease,
                committer: committer,
                clock: clock,
                log: log,
                open: ledger.open,
                reload: reloading.start
            )
        }
        self.membership = membership
        let reads = AuditReads(committer: committer, clock: clock, log: log)
        let noise = MinuteCounter<Noise>()
        let signedLog = try SignedLog(
            loaded,
            settings,
            after: checked,
            ledger: ledger,
            committer: committer,
            clock: clock,
            log: log
        ) { reason in seal.seal(.checkpoint, detail: reason) }
        // Weak, because the log holds the seal.
        seal.keep(.checkpoint) { [weak signedLog] in signedLog?.contradiction }
        self.signedLog = signedLog
        let reconciler = Reconciler(ledger: ledger, clock: clock, log: log)
        self.reconciler = reconciler
        let gauges = ServerGauges()
        let operation = OperationCalls(
            current: current,
            health: health,
            metrics: metrics,
            seals: { seal.causes },
            isCutOff: { gate.isCutOff },
            warnings: { [watch] in
                stores.warnings + watch.warnings + signedLog.warnings + (membership?.warnings ?? [])
            },
            gauges: { [committer] in
                gauges.read(committer) + stores.gauges + signedLog.gauges + reconciler.gauges
                    + (membership?.gauges ?? [])
            }
        )
        housekeeper = Housekeeper(
            ledger: ledger,
            committer: committer,
            health: health,
            current: current,
            loaded: loaded,
            reads: reads,
            noise: noise,
            clock: clock,
            log: log
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
                seal: seal,
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
                    metrics: metrics,
                    log: log
                )
            },
            transactions: TransactionsCall(store: stores.appStore, committer: committer),
            transfers: TransfersCall(committer: committer),
            checkpoints: CheckpointCalls(
                signedLog,
                head: { [signedLog] in signedLog.newestHead },
                reads: reads,
                isPublic: settings.isLogPublic
            ),
            keys: KeysCall(
                seal: seal,
                current: current,
                ownLastUses: { [committer] in committer.keyUses },
                readers: readers,
                reads: reads,
                refresh: { [housekeeper] in await housekeeper.lookNow() }
            ),
            seal: SealCall(seal: seal, reads: reads),
            audit: AuditCalls(index: index, readers: readers) { await reads.note($0) },
            reconciliation: ReconciliationCall(reconciler: reconciler, reads: reads),
            logCalls: LogCalls(readers: readers, reads: reads, isPublic: settings.isLogPublic) {
                [publisher = signedLog.publisher] in publisher.latest.map(PublishedCheckpoint.init)
            },
            operation: operation,
            noise: noise,
            metrics: metrics,
            clock: clock,
            random: random,
            log: log
        )
        do {
            let configuration = settings.serverConfiguration { problem in
                noise.count(Noise(route: nil, problem: problem.name), at: clock.now())
            }
            server = try Server(configuration, responder: api)
        } catch {
            throw .server(error)
        }
        gauges.read(server)
        reloading.set { [weak self] in self?.readAnew() ?? false }
        committer.start(on: connection, at: head)
        for warning in loaded.warningsToLog { log(.warning, "configuration", ["issue": .text("\(warning)")]) }
    }

    private static func load(_ settings: Settings) throws(ServiceError) -> LoadedConfiguration {
        do {
            return try LoadedConfiguration(settings)
        } catch {
            throw .configuration(error)
        }
    }

    /// Nothing but to be warned of is a lock that can't be had; another service that has it keeps this one from starting.
    private static func lock(_ file: CheckpointFile, _ log: Log) throws(CheckpointFileError) -> InstanceLock? {
        do throws(CheckpointFileError) {
            return try file.lock()
        } catch {
            guard !error.isInUse else { throw error }
            log(.warning, "another service could use the same checkpoint file", ["reason": .text(error.description)])
            return nil
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
        watch.start(lastRecordedAt: lastRecordedAt)
        housekeeper.start()
        do { try membership?.start() } catch { throw ServiceError(error) }
        try signedLog.start()
        readers.start()
        indexer.start()
        reconciler.start()
        do { try stores.start() } catch { throw .client(error) }
        do { try server.start() } catch { throw .server(error) }
        signedLog.startVerifying()
        log(.info, "listening", ["address": .text(settings.listen.host), "port": .integer(Int64(port))])
        logWhatIsNotReady(snapshot)
    }

    private func logWhatIsNotReady(_ snapshot: Snapshot) {
        let obstacles = health.obstacles(snapshot, sealedBy: seal.causes, isCutOff: committer.gate.isCutOff)
        for obstacle in obstacles + health.warnings(snapshot) {
            log(.warning, "not all is ready", ["obstacle": .text(obstacle.name), "detail": .text(obstacle.detail)])
        }
    }

    /// Tells whoever started the service how far it is.
    ///
    /// One that can't be told is no reason to answer nobody: it may wait in vain, and says so itself.
    package func tell(_ manager: ServiceManager, _ state: ServiceManager.State) {
        do {
            try manager.tell(state)
        } catch {
            log(.warning, "the service manager could not be told", ["reason": .text(error.description)])
        }
    }

    /// Reads keys, offers, callers and the TLS certificate anew: all of them come into force, or none.
    ///
    /// Where several share the database, the others do so too. Blocks the thread, which must not be one of Swift's shared pool,
    /// until they are in force and reloads that were under way before it are done.
    package func reload() {
        if reloading.run() { membership?.tellOthersToReload() }
    }

    /// Only ``reloading`` may call it, which lets one at a time.
    private func readAnew() -> Bool {
        do {
            let loaded = try LoadedConfiguration(settings)
            try server.reloadTLS { try housekeeper.adopt(loaded) }
            membership?.note(policyName: loaded.catalog.policyName, keysDigest: loaded.keys.digest.hex)
            metrics.count(.reloads(succeeded: true))
            health.noteReload(refusedFor: nil)
            log(.info, "configuration reloaded", ["policy": .text(loaded.catalog.policyName)])
            logWhatIsNotReady(current.value)
            return true
        } catch {
            metrics.count(.reloads(succeeded: false))
            refuseReload(error)
            return false
        }
    }

    private func refuseReload(_ error: any Error) {
        let issues: [ConfigurationIssue]
        switch error {
        case let error as ConfigurationError: issues = error.issues
        case ServiceError.configuration(let error): issues = error.issues
        default: issues = []
        }
        for issue in issues { log(.error, "configuration", ["issue": .text("\(issue)")]) }
        if issues.isEmpty { log(.error, "configuration", ["issue": .text("\(error)")]) }
        log(.error, "reload refused; what was in force stays in force")
        let parts = issues.isEmpty ? [ConfigurationPart(error)] : settings.parts(of: issues)
        health.noteReload(refusedFor: parts)
        try? committer.appendBlocking([.configurationRefused(issues: max(1, issues.count), parts: parts)])
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
        watch.stop()
        readers.stop()
        indexer.stop()
        reconciler.stop()
        membership?.stop()
        try? committer.appendBlocking([.serviceStopped])
        signedLog.stop()
        committer.stop()
        instanceLock?.release()
        checkpointLock?.release()
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
    /// `rejected` is told of what the server answers by itself.
    fileprivate func serverConfiguration(
        rejected: @escaping @Sendable (Problem) -> Void
    ) -> ServerConfiguration {
        var configuration = ServerConfiguration(address: listen.host, port: listen.port)
        if let loops { configuration.loops = loops }
        configuration.limits.bodyBytes = 65_536
        configuration.limits.bodyBytesByPath = [
            Array(Route.promotionalOfferBatch.rawValue.utf8): SignatureBatch.maximumBytes
        ]
        configuration.limits.connections = connections
        configuration.limits.connectionsPerAddress = connectionsPerAddress
        configuration.tls = tls
        configuration.rejectionResponse = { rejection in
            let problem = Problem(.request(.rejected(rejection)))
            rejected(problem)
            return problem.response(requestID: nil)
        }
        return configuration
    }
}

extension EventLoop: AskingThread {}
