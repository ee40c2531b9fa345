// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
import Dispatch
package import HTTP
import Ledger
import OfferDomain
package import ServiceRuntime
import Storage
import TransparencyLog

/// Delivers to every receiver of the events file; a reload of the configuration changes them.
///
/// One thread keeps the lease and follows the configuration; each endpoint has its own thread. No request waits for
/// them: they read the log, and store their position between two batches of the committer.
package final class EventDeliverer: Sendable {
    private struct State {
        /// Of the settings that the threads have.
        var fingerprint: [UInt8]?
        var client: Client?
        var threads: [any EventThread] = []
        /// The settings that no thread could start with, and when to try them again.
        var failed: (fingerprint: [UInt8], until: Timestamp)?
        var isStopping = false
    }

    /// What deliveries work with.
    struct Parts: Sendable {
        let runtime: Runtime
        let ledger: LedgerAccess
        let committer: Committer
        let current: CurrentSnapshot
        /// The files as last read.
        let loaded: @Sendable () -> LoadedConfiguration
        /// `nil` where no other instance uses the database.
        let instance: UniqueID?
    }

    private let parts: Parts
    private let lease: EventLease?
    private let state = Guarded(State())
    private let wake = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    init(_ parts: Parts) {
        self.parts = parts
        lease = parts.instance.map { EventLease($0, clock: parts.runtime.clock) }
    }

    /// New endpoints get the events of all that is recorded from now on.
    package func start() {
        follow()
        NamedThread.start(named: "event-lease") { [self] in
            var connection: (any DatabaseConnection)?
            var ticks = 0
            while !state.withLock({ $0.isStopping }) {
                follow()
                keepLease(&connection)
                ticks += 1
                // Without receivers, what an earlier configuration has left behind: after five minutes, then each hour.
                if isDelivering ? ticks.isMultiple(of: 120) : ticks % 7200 == 600 { removeRelayed() }
                _ = wake.wait(timeout: .now() + .milliseconds(500))
            }
            end()
            if let connection { try? lease?.release(connection) }
            hasEnded.signal()
        }
    }

    /// Waits a moment for what is under way.
    package func stop() {
        state.withLock { $0.isStopping = true }
        wake.signal()
        hasEnded.wait()
    }

    private var isDelivering: Bool { state.withLock { !$0.threads.isEmpty } }

    private func keepLease(_ connection: inout (any DatabaseConnection)?) {
        guard let lease else { return }
        do throws(StorageError) {
            guard isDelivering else {
                if let connection { try lease.release(connection) }
                return connection = nil
            }
            let current: any DatabaseConnection = if let connection { connection } else { try parts.ledger.open() }
            connection = current
            try lease.beat(current)
        } catch {
            connection = nil
            parts.runtime.log(.warning, "who delivers events is not known", with: ["reason": .text(error.description)])
        }
    }

    /// Removes bodies of notifications that every relay has got, and those that are too old.
    func removeRelayed() {
        let relays = (parts.loaded().events?.endpoints ?? []).filter(\.isRelay).map(\.id)
        let isHolder = lease.map { $0.term != nil } ?? true
        let now = parts.runtime.clock.now()
        do throws(LedgerError) {
            if isHolder, !relays.isEmpty {
                // Another instance may already know a relay that this one does not.
                let time = now.adding(minutes: -15)
                _ = try removeRelayed { table throws(StorageError) in
                    let first = try EndpointTable(connection: table.connection).firstEntryToRelay(relays)
                    return try table.remove(before: first, receivedBefore: time)
                }
            }
            let oldest = now.adding(hours: -24 * Self.keptDays)
            let count = try removeRelayed { table throws(StorageError) in try table.removeAll(receivedBefore: oldest) }
            guard isHolder, !relays.isEmpty, count > 0 else { return }
            parts.runtime.log(
                .error,
                "notifications were removed before each relay had them",
                with: ["count": .integer(Int64(count))]
            )
        } catch {
            parts.runtime.log(
                .warning,
                "relayed notifications could not be removed",
                with: ["reason": .text(error.description)]
            )
        }
    }

    /// Removes some at a time, so that signatures wait for no more than that.
    private func removeRelayed(
        _ remove: @escaping @Sendable (RelayTable) throws(StorageError) -> Int
    ) throws(LedgerError) -> Int {
        var total = 0
        while true {
            let removed = Guarded(0)
            try parts.committer.doBlocking { connection throws(StorageError) in
                let count = try remove(RelayTable(connection: connection))
                removed.withLock { $0 = count }
            }
            let count = removed.withLock { $0 }
            total += count
            if count < RelayTable.mostRemoved || state.withLock({ $0.isStopping }) { return total }
        }
    }

    /// No body of a notification is kept for longer.
    private static let keptDays = 7

    /// Starts and ends threads as the configuration has them.
    private func follow() {
        let settings = parts.loaded().events
        let (running, failed) = state.withLock { ($0.fingerprint, $0.failed) }
        guard settings?.fingerprint != running else { return }
        let now = parts.runtime.clock.now()
        if let failed, failed.fingerprint == settings?.fingerprint, now < failed.until { return }
        end()
        guard let settings, !settings.receiverIDs.isEmpty else {
            return state.withLock { $0.fingerprint = settings?.fingerprint }
        }
        register(settings.receiverIDs)
        do throws(ClientError) {
            let client = try Client(Self.clientConfiguration(settings))
            try client.start()
            let context = context(client)
            let threads: [any EventThread] =
                settings.endpoints.map { EndpointThread($0, context) }
                + settings.streams.map { StreamThread($0, context) }
            for thread in threads { thread.start() }
            state.withLock { ($0.fingerprint, $0.client, $0.threads) = (settings.fingerprint, client, threads) }
        } catch {
            state.withLock { $0.failed = (settings.fingerprint, now.adding(milliseconds: 30_000)) }
            parts.runtime.log(.error, "events can't be delivered", with: ["reason": .text(error.description)])
        }
    }

    /// Has endpoints that are new begin at the end of the log as it is now.
    private func register(_ ids: [String]) {
        do throws(LedgerError) {
            let committer = parts.committer
            try committer.doBlocking { connection throws(StorageError) in
                let table = EndpointTable(connection: connection)
                let size = try connection.first(SQL("SELECT size FROM log_head")) { $0.integer(0) } ?? 0
                for id in ids {
                    try table.add(EndpointTable.Row(id: id, nextPosition: EventPosition(index: size).number))
                }
            }
        } catch {
            parts.runtime.log(.error, "endpoints could not be registered", with: ["reason": .text(error.description)])
        }
    }

    /// How receivers are connected to; `EventsFile` admits plain HTTP to this machine alone.
    package static func clientConfiguration(_ settings: EventSettings) -> ClientConfiguration {
        var configuration = ClientConfiguration(
            timeoutMilliseconds: 20_000,
            maximumResponseBytes: 1 << 20,
            trustedCertificatesFile: settings.trustedCertificatesPath,
            allowsPlainHTTP: true
        )
        configuration.connectTimeoutMilliseconds = 10_000
        // All of them may be on one host, and each has requests of an earlier lease under way for a moment.
        configuration.connectionsPerHost = 2 * DeliverySession.mostUnderWay * max(1, settings.endpoints.count)
        configuration.addresses = AddressFilter(listed: settings.privateNetworks)
        return configuration
    }

    private func context(_ client: Client) -> DeliveryContext {
        let committer = parts.committer
        let current = parts.current
        // An instance that has the database to itself knows the size of the log.
        let ownSize: @Sendable () -> Int64 = { committer.treeHead.size }
        return DeliveryContext(
            transport: client,
            runtime: parts.runtime,
            committer: committer,
            open: parts.ledger.openForReading,
            catalog: { current.value.catalog },
            logSize: lease == nil ? ownSize : nil,
            lease: lease,
            origin: parts.loaded().keys.log.origin.text
        )
    }

    private func end() {
        let (client, threads) = state.withLock { state in
            defer { (state.client, state.threads, state.fingerprint) = (nil, [], nil) }
            return (state.client, state.threads)
        }
        Self.end(threads, within: 5_000_000, parts.runtime.clock.stopwatch())
        client?.stop()
    }

    /// Ends all threads and waits for them together: a thread that hangs takes no time from the others.
    static func end(_ threads: [any EventThread], within microseconds: Int64, _ stopwatch: Stopwatch) {
        for thread in threads { thread.stop() }
        for thread in threads { thread.wait(atMost: max(0, microseconds - stopwatch.microseconds)) }
    }
}

// MARK: - Health and metrics

extension EventDeliverer {
    /// By receiver name; empty where another instance delivers, since this one then has no data about them.
    var deliveryStatuses: [String: EndpointThread.Status] {
        Dictionary(ordered.map { ($0.id, $0.deliveryStatus) }) { first, _ in first }
    }

    private var ordered: [(id: String, kind: EndpointReport.Kind, deliveryStatus: EndpointThread.Status)] {
        if let lease, lease.term == nil { return [] }
        return state.withLock { $0.threads }.map { ($0.id, $0.kind, $0.deliveryStatus) }.sorted { $0.id < $1.id }
    }

    /// Problems that the operator should know about.
    package var warnings: [Obstacle] {
        ordered.compactMap { id, _, deliveryStatus in
            if let reason = deliveryStatus.disabledReason {
                return Obstacle("event-endpoint-disabled", "The endpoint \(id) gets no events: \(reason).")
            }
            guard deliveryStatus.isCircuitOpen, let failure = deliveryStatus.failure else { return nil }
            return Obstacle("event-endpoint-failing", "The endpoint \(id) takes no events: \(failure)")
        }
    }

    /// For the metrics.
    package var gauges: [Gauge] {
        let (now, deliveryStatuses) = (parts.runtime.clock.now(), ordered)
        func samples(_ value: (EndpointThread.Status) -> Double) -> [Gauge.Sample] {
            deliveryStatuses.map { .init(value($0.deliveryStatus), labels: [("endpoint", $0.id)]) }
        }
        return [
            Gauge(
                "offer_signer_event_backlog_entries",
                help: "Entries of the log whose events an endpoint has not received yet",
                samples { Double($0.backlog) }
            ),
            Gauge(
                "offer_signer_event_retrying",
                help: "Events that an endpoint has not taken and that are sent again",
                samples { Double($0.retrying) }
            ),
            Gauge(
                "offer_signer_event_oldest_retry_seconds",
                help: "Seconds since the first attempt of the oldest of them",
                samples { deliveryStatus in
                    deliveryStatus.oldestFirstAttemptAt.map { Double(now.milliseconds - $0.milliseconds) / 1000 } ?? 0
                }
            ),
            Gauge(
                "offer_signer_event_endpoint_up",
                help: "1 while an endpoint takes events; 0 while it fails or is disabled",
                samples { $0.disabledReason == nil && !$0.isCircuitOpen ? 1 : 0 }
            ),
            Gauge(
                "offer_signer_event_endpoint_state",
                help: "1 for the state that an endpoint is in, 0 for the others",
                deliveryStatuses.flatMap { id, kind, deliveryStatus in
                    EndpointReport.State.allCases.filter { $0 != .starting }.map { state in
                        let labels = [("endpoint", id), ("kind", kind.rawValue), ("state", state.rawValue)]
                        return .init(deliveryStatus.state == state ? 1 : 0, labels: labels)
                    }
                }
            ),
        ]
    }
}
