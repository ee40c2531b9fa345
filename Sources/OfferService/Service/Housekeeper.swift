// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Ledger
import ServiceRuntime
import Storage
import TransparencyLog

/// Looks once a second, or twice, whether callers, key states or seals have changed in the database, and whether records that
/// could not be written can be written again; records once a minute what is only counted.
final class Housekeeper: Sendable {
    private let configuration: ActiveConfiguration
    private let counts: CountRecorder
    private let ledger: LedgerAccess
    private let committer: Committer
    private let health: Health
    private let reserve: DiskReserve?
    private let log: Log
    private let turn = Guarded(Turn())
    private let wakeUp = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// What the next look is to do, and who waits for it.
    private struct Turn {
        var isStopping = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    init(_ writing: WritingParts, counts: CountRecorder) {
        self.counts = counts
        configuration = writing.configuration
        ledger = writing.ledger
        committer = writing.committer
        health = writing.health
        reserve = writing.reserve
        log = writing.runtime.log
    }

    /// Looks every `interval` milliseconds.
    ///
    /// `nil`: once a second, or twice where several share the database, since what is changed at one must hold at the others
    /// within a second.
    func start(every interval: Int? = nil) {
        let interval = interval ?? (ledger.isShared ? 500 : 1000)
        NamedThread.start(named: "housekeeper") { [self] in
            var connection: (any DatabaseConnection)?
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
                if isRegular, elapsed.isMultiple(of: 60_000) { counts.record() }
            }
            counts.record()
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

    /// Tries whether records can be written again, which the committer then records: there may be no request that would.
    private func resume() {
        if health.failingSince != nil { try? committer.appendBlocking([]) }
    }

    private func look(_ connection: any DatabaseConnection) -> Bool {
        reserve?.look()
        resume()
        do {
            try configuration.refresh(from: connection)
            // Without requests nothing else makes the committer look, and only the committer applies seals and disabled keys.
            if try SealStore(connection: connection).stops() != committer.keyUseGuard.stored || hasGrown(connection) {
                committer.change({ _ in }, { _ in })
            }
            return true
        } catch {
            log(.warning, "callers and key states could not be read", with: ["reason": .text("\(error)")])
            return false
        }
    }

    /// Whether commands have added entries that the committer has not seen: until it has, no checkpoint covers them.
    ///
    /// If instances share the database, the instance that signs checkpoints asks the database itself.
    private func hasGrown(_ connection: any DatabaseConnection) throws(AuditReadError) -> Bool {
        guard !ledger.isShared else { return false }
        return try LogReader(connection: connection).head().size > committer.treeHead.size
    }
}
