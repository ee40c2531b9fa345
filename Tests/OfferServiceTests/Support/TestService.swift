// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import HTTP
import OfferDomain
import OfferService
import Storage
import Synchronization
import TestSupport

/// A whole service in a directory of its own, put together as ``Service`` does it, with a clock that tests move.
final class TestService: Sendable {
    /// Puts something between the committer and a connection that was just opened.
    typealias Wrap = @Sendable (any DatabaseConnection) throws(StorageError) -> any DatabaseConnection

    let directory: TemporaryDirectory
    let clock: SettableClock
    let log = LogRecorder()
    let metrics = Metrics()
    let noise = MinuteCounter<Noise>()
    let health: Health
    let committer: Committer
    let seal: Seal
    let current: CurrentSnapshot
    let ledger: LedgerAccess
    let settings: Settings
    let loaded: LoadedConfiguration
    /// By the name of the private key's file.
    let publicKeys: [String: PublicKey]
    /// What callers present, by the name of the caller.
    let credentials: [String: String]
    private let api: API
    private let server: Server?
    private let stores: Stores
    let index: AuditIndex
    private let readers: LogReaders
    private let indexer: AuditIndexer
    let reconciler: Reconciler
    /// What the log's newest checkpoint is said to be.
    let checkpoint: NewestCheckpoint
    var store: AppStore { stores.appStore }
    private let isStopped = Mutex(false)

    /// Makes everything, and starts its threads.
    init(
        _ wire: Wire = .inProcess,
        _ files: TestFiles = TestFiles(),
        clock: SettableClock = SettableClock(),
        random: (any RandomSource)? = nil,
        maximumWaiting: Int = 4096,
        index format: AuditIndexFormat = AuditIndexFormat(),
        portions: GrantPortions = GrantPortions(),
        wrap: @escaping Wrap = { $0 }
    ) throws {
        directory = try TemporaryDirectory()
        self.clock = clock
        publicKeys = try Self.write(files, into: directory)
        settings = try Self.settings(in: directory, files)
        loaded = try LoadedConfiguration(settings)
        let ledger = LedgerAccess(location: settings.database, clock: clock.wallClock)
        self.ledger = ledger
        let opener: Committer.Opener = { () throws(StorageError) in try wrap(try ledger.open()) }
        let connection = try opener()
        credentials = try Self.addCallers(ledger, at: clock.now)
        current = CurrentSnapshot(try Self.snapshot(loaded, ledger))
        let log = Log(level: .debug, clock: clock.wallClock, sink: log.sink)
        health = Health(metrics: metrics, clock: clock.wallClock, log: log)
        committer = Committer(
            clock: clock.wallClock,
            observer: health,
            acknowledges: true,
            maximumWaiting: maximumWaiting,
            wakeUp: wire == .loopback ? .onceATurn : .forEachRequest,
            askingThread: { EventLoop.current },
            portions: portions,
            // So that it is carried over in every test that writes much.
            logKeeper: ledger.logKeeper(pages: 50),
            open: opener
        )
        seal = Seal(gate: committer.gate, committer: committer, clock: clock.wallClock, log: log) { [health] in
            health.commitFailure
        }
        index = AuditIndex(format: format)
        indexer = AuditIndexer(index: index, committer: committer, log: log, open: ledger.openForReading)
        readers = LogReaders(open: ledger.openForReading)
        let checkpoint = NewestCheckpoint()
        self.checkpoint = checkpoint
        stores = try Stores(
            settings,
            current: current,
            committer: committer,
            clock: clock.wallClock,
            random: try SystemRandom(),
            metrics: metrics,
            log: log,
            retries: files.appStore?.retries ?? RetryPolicy()
        )
        let random: any RandomSource = if let random { random } else { try SystemRandom() }
        let decider = OfferDecider(
            committer: committer,
            showsFindingsToApps: files.showsFindingsToApps,
            metrics: metrics,
            log: log
        )
        let signer = OfferSigner(
            decider: decider,
            committer: committer,
            store: stores.appStore,
            seal: seal,
            verification: SelfVerification(files.selfVerification, clock: clock.wallClock, verify: files.verifies),
            metrics: metrics,
            random: random,
            log: log
        )
        reconciler = Reconciler(ledger: ledger, clock: clock.wallClock, log: log)
        let reads = AuditReads(committer: committer, clock: clock.wallClock, log: log)
        let purchases: any GooglePlayPurchaseSource = files.googlePlay ?? stores.googlePlayAPI
        let push: (any GooglePushAuthentication)? = files.googlePlay ?? stores.googlePush
        api = API(
            current: current,
            signer: signer,
            notifications: NotificationReceiver(
                store: stores.appStore,
                committer: committer,
                allowance: StrangerAllowance(clock: clock.wallClock),
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
            googlePlayNotifications: push.map { [committer, metrics] authentication in
                GooglePlayNotificationReceiver(
                    authentication: authentication,
                    store: purchases,
                    committer: committer,
                    metrics: metrics,
                    log: log
                )
            },
            transactions: TransactionsCall(store: stores.appStore, committer: committer),
            transfers: TransfersCall(committer: committer),
            keys: KeysCall(
                seal: seal,
                current: current,
                ownLastUses: { [committer] in committer.keyUses },
                readers: readers,
                reads: reads,
                refresh: { [current, loaded, ledger] in
                    if let next = try? Self.snapshot(loaded, ledger) { current.swap(next) }
                }
            ),
            seal: SealCall(seal: seal, reads: reads),
            audit: AuditCalls(index: index, readers: readers) { await reads.note($0) },
            reconciliation: ReconciliationCall(reconciler: reconciler, reads: reads),
            logCalls: LogCalls(
                readers: readers,
                reads: reads,
                isPublic: settings.isLogPublic
            ) { checkpoint.value },
            operation: OperationCalls(
                current: current,
                health: health,
                metrics: metrics,
                seals: { [seal] in seal.causes },
                gauges: { [reconciler] in reconciler.gauges }
            ),
            noise: noise,
            metrics: metrics,
            clock: clock.wallClock,
            random: random,
            log: log
        )
        server = wire == .loopback ? try Self.server(api) : nil
        committer.start(on: connection)
        readers.start()
        indexer.start()
        try stores.start()
        reconciler.start()
        try server?.start()
    }

    /// Answers what is in flight and ends every thread; does nothing the second time.
    func stop() async {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        guard isFirst else { return }
        await server?.stop()
        await mayBlock { [committer, stores, readers, indexer, reconciler] in
            stores.stop()
            readers.stop()
            indexer.stop()
            reconciler.stop()
            committer.stop()
        }
    }

    /// Holds the number of services at one time down: each has threads, open files and keys in locked memory.
    static let turnstile = Turnstile(places: 8)

    func path(_ name: String) -> String { directory.path(of: name) }

    // MARK: - Asking

    func send(_ call: Call) async throws -> Reply {
        guard let server else { return Reply(await api.respond(to: call.request)) }
        return try await sendOverLoopback([call], to: server.port)[0]
    }

    /// Sends all of them at the same time.
    func send(_ calls: [Call]) async throws -> [Reply] {
        if let server { return try await sendOverLoopback(calls, to: server.port) }
        return await withTaskGroup(of: (Int, Reply).self) { group in
            for (index, call) in calls.enumerated() {
                group.addTask { [api] in (index, Reply(await api.respond(to: call.request))) }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// A request for a signature, with `body` as it stands.
    func call(as caller: String = "backend", _ body: String) -> Call {
        var call = Call(body: Array(body.utf8)).with("Content-Type", "application/json")
        if let credential = credentials[caller] { call = call.with("Authorization", "Bearer \(credential)") }
        return call
    }

    /// A request for a signature to a customer who has subscribed before; `members` are more of them, without braces.
    func call(as caller: String = "backend", offer: String, _ members: String = "") -> Call {
        call(as: caller, offerBody(offer, members))
    }

    /// Asks as somebody; without a credential if the service knows nobody of that name.
    func get(_ target: String, as caller: String) async throws -> Reply {
        let call = Call.get(target)
        guard let credential = credentials[caller] else { return try await send(call) }
        return try await send(call.with("Authorization", "Bearer \(credential)"))
    }

    func sign(as caller: String = "backend", offer: String, _ members: String = "") async throws -> Reply {
        try await send(call(as: caller, offer: offer, members))
    }

    // MARK: - What is on record

    /// Every entry of the audit log, in order.
    func entries() throws -> [String] {
        var entries: [String] = []
        try AuditReader(connection: try ledger.openForReading()).entries(matching: AuditQuery()) { _, entry in
            entries.append(String(decoding: entry, as: UTF8.self))
        }
        return entries
    }

    /// The entries of that event.
    func entries(_ event: String) throws -> [Tree] {
        try entries().map(Tree.init).filter { $0["ev"] == .text(event) }
    }

    /// Takes callers and key states from the database into force, as the service does once a second.
    func refresh() throws {
        current.swap(try Self.snapshot(loaded, ledger))
    }
}

/// The body of a request for an offer of `com.example.app`, for a customer who has subscribed before.
func offerBody(_ offer: String, _ members: String = "") -> String {
    let more = members.isEmpty ? "" : ", \(members)"
    return """
        {"bundleId": "com.example.app", "productId": "pro.monthly", "offerId": "\(offer)", \
        "facts": {"subscribedBefore": true}\(more)}
        """
}

/// Runs `body` beside a service, and stops the service however `body` ends.
func withService(
    _ wire: Wire = .inProcess,
    _ files: TestFiles = TestFiles(),
    clock: SettableClock = SettableClock(),
    random: (any RandomSource)? = nil,
    maximumWaiting: Int = 4096,
    index: AuditIndexFormat = AuditIndexFormat(),
    portions: GrantPortions = GrantPortions(),
    wrap: @escaping TestService.Wrap = { $0 },
    _ body: (TestService) async throws -> Void
) async throws {
    await TestService.turnstile.enter()
    defer { TestService.turnstile.leave() }
    let service = try TestService(
        wire,
        files,
        clock: clock,
        random: random,
        maximumWaiting: maximumWaiting,
        index: index,
        portions: portions,
        wrap: wrap
    )
    do {
        try await body(service)
    } catch {
        await service.stop()
        throw error
    }
    await service.stop()
}
