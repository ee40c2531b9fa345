// SPDX-License-Identifier: Apache-2.0
import Configuration
import ServiceRuntime

/// The parts of the service, put together; nothing runs yet.
struct Assembly: Sendable {
    let writing: WritingParts
    let records: RecordParts
    let stores: StoreClients
    let providers: ProviderConnection
    let sessions: ConsoleSessions
    let watch: SealWatch
    /// `nil` where no other service may use the database.
    let membership: Membership?
    let events: EventDeliverer
    let serverGauges = ServerGauges()
    private let process: ProcessGauges
    private let trustsFurtherRoots: Bool

    /// `reload` is called when another instance reloads its files.
    init(
        _ opened: OpenedDatabase,
        settings: Settings,
        dependencies: Dependencies,
        reload: @escaping @Sendable () -> Void
    ) throws(ServiceError) {
        process = ProcessGauges(startedAt: dependencies.clock.now())
        writing = WritingParts(opened, settings: settings, dependencies: dependencies)
        trustsFurtherRoots = settings.appStoreRootsPath != nil
        watch = SealWatch(
            settings.sealWatch,
            seal: writing.seal,
            committer: writing.committer,
            status: dependencies.clockStatus,
            runtime: writing.runtime
        )
        stores = try StoreClients(
            settings,
            current: writing.current,
            committer: writing.committer,
            runtime: writing.runtime,
            retries: dependencies.storeRetries
        )
        providers = try ProviderConnection(writing.admission.tokens.keys, of: writing.current, settings)
        sessions = ConsoleSessions(committer: writing.committer, ledger: writing.ledger, runtime: writing.runtime)
        records = try RecordParts(writing, after: opened.log, dependencies)
        membership = writing.membership(opened.reloads, reload: reload)
        events = EventDeliverer(writing.deliveryParts)
    }

    /// Problems that the operator should know, but that do not stop any work.
    var warnings: [Obstacle] {
        furtherRoots + stores.warnings + writing.admission.tokens.keys.warnings + watch.warnings
            + records.signedLog.warnings + events.warnings + (membership?.warnings ?? [])
    }

    /// The warning about additional roots: the holder of such a root's key can forge any fact about any customer.
    var furtherRoots: [Obstacle] {
        guard trustsFurtherRoots else { return [] }
        return [
            Obstacle(
                "app-store-roots",
                "\(Setting.appStoreRoots.flag) adds roots to Apple's: the owners of their keys can forge what the App Store "
                    + "signs and what App Attest attests. Use it for tests only."
            )
        ]
    }

    /// For the metrics.
    var gauges: [Gauge] {
        serverGauges.read(writing.committer) + stores.gauges + writing.admission.tokens.keys.gauges
            + records.signedLog.gauges + records.reconciler.gauges
            + events.gauges + (membership?.gauges ?? []) + process.gauges + [
                writing.current.value.callers.expiryGauge(at: writing.runtime.clock.now()),
                Gauge(
                    "offer_signer_further_roots",
                    help: "Whether roots are trusted beside Apple's own: 1 if so, which is for tests only",
                    [.init(trustsFurtherRoots ? 1 : 0)]
                ),
                Gauge(
                    "offer_signer_log_lines_dropped_total",
                    help: "Log lines that were left out because they were not read",
                    type: "counter",
                    [.init(Double(writing.runtime.log.droppedLines))]
                ),
            ]
    }
}

extension APICalls {
    init(_ parts: Assembly, settings: Settings, dependencies: Dependencies) {
        let (writing, records, stores) = (parts.writing, parts.records, parts.stores)
        let play =
            dependencies.googlePlay ?? GooglePlaySources(purchases: stores.googlePlayAPI, push: stores.googlePush)
        let deciding = OfferParts(writing, stores: stores, play: play, settings: settings, verify: dependencies.verify)
        offers = OfferCalls(
            deciding,
            writing.admission,
            traffic: records.traffic,
            patience: Patience(
                milliseconds: dependencies.retentionMilliseconds,
                pause: dependencies.retentionPause
            ),
            runtime: writing.runtime
        )
        evidence = EvidenceCalls(writing, stores: stores, play: play)
        self.records = RecordCalls(parts, isLogPublic: settings.isLogPublic)
        stops = StopCalls(writing, records)
        signIn = ConsoleSignInCall(
            writing.admission,
            sessions: parts.sessions,
            exchange: CodeExchange(
                transport: parts.providers.client,
                timeoutMilliseconds: dependencies.signInMilliseconds
            ),
            traffic: records.traffic,
            writing.runtime
        )
        operation = OperationCalls(
            current: writing.current,
            health: writing.health,
            counters: writing.runtime.metrics,
            seal: writing.seal,
            warnings: { parts.warnings },
            gauges: { parts.gauges }
        )
    }
}
