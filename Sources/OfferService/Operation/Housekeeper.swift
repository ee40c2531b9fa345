// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Dispatch
import OfferDomain
import Storage

/// Looks once a second, or twice, whether callers, key states or seals have changed in the database, and whether records that
/// could not be written can be written again; records once a minute what is only counted.
final class Housekeeper: Sendable {
    private let ledger: LedgerAccess
    private let committer: Committer
    private let health: Health
    private let current: CurrentSnapshot
    private let reads: AuditReads
    private let noise: MinuteCounter<Noise>
    private let clock: WallClock
    private let log: Log
    /// Locked for as long as a snapshot is made, so that a reload and a look can't undo each other.
    private let loaded: Guarded<LoadedConfiguration>
    private let turn = Guarded(Turn())
    private let wakeUp = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// What the next look is to do, and who waits for it.
    private struct Turn {
        var isStopping = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    init(
        ledger: LedgerAccess,
        committer: Committer,
        health: Health,
        current: CurrentSnapshot,
        loaded: LoadedConfiguration,
        reads: AuditReads,
        noise: MinuteCounter<Noise>,
        clock: WallClock,
        log: Log
    ) {
        self.ledger = ledger
        self.committer = committer
        self.health = health
        self.current = current
        self.loaded = Guarded(loaded)
        self.reads = reads
        self.noise = noise
        self.clock = clock
        self.log = log
    }

    func start() {
        Worker.start(named: "housekeeper") { [self] in
            var connection: (any DatabaseConnection)?
            // Where several share the database, what is changed at one must hold at the others within a second.
            let interval = ledger.isShared ? 500 : 1000
            var elapsed = 0
            while true {
                let isRegular = wakeUp.wait(timeout: .now() + .milliseconds(interval)) == .timedOut
                let (isStopping, waiting) = turn.withLock { turn in
                    defer { turn.waiting = [] }
                    return (turn.isStopping, turn.waiting)
                }
                defer { for task in waiting { task.resume() } }
                if isStopping { break }
                connection = connection ?? (try? ledger.openForReading())
                let isRead = connection.map(look) ?? false
                // A connection that failed once may fail for ever; what it would say must not be missed.
                if !isRead { connection = nil }
                health.noteStates(areRead: isRead)
                elapsed += isRegular ? interval : 0
                if isRegular, elapsed.isMultiple(of: 60_000) { recordCounts() }
            }
            recordCounts()
            hasEnded.signal()
        }
    }

    func stop() {
        turn.withLock { $0.isStopping = true }
        wakeUp.signal()
        hasEnded.wait()
    }

    /// Looks now; returns when what the database has is in force.
    func lookNow() async {
        await withCheckedContinuation { continuation in
            let isLate = turn.withLock { turn in
                if !turn.isStopping { turn.waiting.append(continuation) }
                return turn.isStopping
            }
            if isLate { continuation.resume() }
            wakeUp.signal()
        }
    }

    /// What is to be on record before `snapshot` comes into force.
    func events(of snapshot: Snapshot) -> [AuditEvent] {
        events(of: snapshot, loaded.withLock { $0 })
    }

    /// Keys that an administrator has disabled are loaded too, and may be enabled later.
    private func events(of snapshot: Snapshot, _ loaded: LoadedConfiguration) -> [AuditEvent] {
        let keys = loaded.keys.ring.keys.compactMap { key in
            key.publicKeyDigest.map { AuditEvent.keyLoaded(keyID: key.id, publicKeyDigest: $0, status: key.status) }
        }
        let accounts = loaded.keys.ring.serviceAccounts.map { account in
            AuditEvent.serviceAccountLoaded(account.name, publicKeyDigest: account.publicKeyDigest)
        }
        let configuration = AuditEvent.configurationLoaded(
            policyName: snapshot.catalog.policyName,
            keysDigest: loaded.keys.digest.hex,
            settingsDigest: loaded.settingsDigest.hex
        )
        let logKey = loaded.keys.logKey
        return [configuration] + keys + accounts
            + [.logKeyLoaded(origin: logKey.origin.text, publicKeyDigest: logKey.publicKeyDigest)]
    }

    /// Puts a new configuration into force, once that is on record.
    func adopt(_ next: LoadedConfiguration) throws {
        try loaded.withLock { loaded in
            try next.requireSameLog(as: loaded)
            // All that can fail comes before the record: an epoch that has begun makes all others outdated.
            let snapshot = try next.snapshot(try ledger.openForReading())
            let events = events(of: snapshot, next)
            if try !next.adoptEpochs(in: ledger, with: events) { try committer.appendBlocking(events) }
            loaded = next
            current.swap(snapshot)
        }
    }

    /// Records what was counted since the last time; what can't be recorded is counted on.
    private func recordCounts() {
        let now = clock.now()
        if let fetches = reads.fetches.take(until: now) {
            do { try committer.appendBlocking([.recordsFetched(fetches)]) } catch { reads.fetches.restore(fetches) }
        }
        if let noise = noise.take(until: now) {
            do { try committer.appendBlocking([.noise(noise)]) } catch { self.noise.restore(noise) }
        }
    }

    /// Tries whether records can be written again, which the committer then records: there may be no request that would.
    private func resume() {
        if health.failingSince != nil { try? committer.appendBlocking([]) }
    }

    private func look(_ connection: any DatabaseConnection) -> Bool {
        resume()
        do {
            try loaded.withLock { loaded in
                let epochs = try EpochTable(connection: connection).all()
                loaded.forget(Set(epochs.filter { $0.destroyedAt != nil }.map(\.name)))
                let epoch = loaded.keys.pseudonyms.epoch
                health.noteSecret(isOutdated: epochs.dropLast().contains { $0.name == epoch })
                current.swap(try loaded.snapshot(connection))
            }
            // Without requests nothing else makes the committer look, and it alone says what was switched off.
            if try SealStore(connection: connection).switches() != committer.gate.stored || hasGrown(connection) {
                committer.change({ _ in }, { _ in })
            }
            return true
        } catch {
            log(.warning, "callers and key states could not be read", ["reason": .text("\(error)")])
            return false
        }
    }

    /// Whether commands have added entries that the committer has not seen: until it has, no checkpoint covers them.
    ///
    /// Where several share the database, whoever signs checkpoints asks the database itself.
    private func hasGrown(_ connection: any DatabaseConnection) throws(AuditReadError) -> Bool {
        guard !ledger.isShared else { return false }
        return try LogReader(connection: connection).head().size > committer.treeHead.size
    }
}
