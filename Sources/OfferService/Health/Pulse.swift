// SPDX-License-Identifier: Apache-2.0
import HTTP
import Ledger
import ServiceRuntime

/// Checks once a second that every event loop and the committer make progress.
///
/// If one does not, readiness reports `stuck` and the systemd watchdog is no longer fed, so systemd restarts the service.
final class Pulse: Sendable {
    private struct State {
        /// When each loop turned last, in milliseconds of the stopwatch; empty before the start.
        var turns: [Int64] = []
        var isStopping = false
        var hasEnded = false
    }

    private let servers: [Server]
    private let committer: Committer
    private let stopwatch: Stopwatch
    private let state = Guarded(State())
    private let alive = Guarded<@Sendable () -> Void>({})

    /// After so long something is stuck: longer than any database is waited for.
    static let patienceMilliseconds: Int64 = 30_000

    /// The clock must be monotonic.
    init(_ servers: [Server], _ committer: Committer, clock: WallClock) {
        self.servers = servers
        self.committer = committer
        stopwatch = clock.stopwatch()
    }

    /// Has `tell` called each second in which nothing is stuck.
    func whileAlive(_ tell: @escaping @Sendable () -> Void) { alive.withLock { $0 = tell } }

    func start() {
        let now = milliseconds
        let counts = servers.map(\.loopCount)
        state.withLock { $0.turns = [Int64](repeating: now, count: counts.reduce(0, +)) }
        NamedThread.start(named: "pulse") { [self] in
            while !waitASecond() {
                for (index, server) in servers.enumerated() {
                    let first = counts[..<index].reduce(0, +)
                    server.askLoops { [self] loop in state.withLock { $0.turns[first + loop] = milliseconds } }
                }
                if obstacles.isEmpty { alive.withLock { $0 }() }
            }
            state.withLock { $0.hasEnded = true }
            state.wakeAll()
        }
    }

    func stop() {
        state.withLock { $0.isStopping = true }
        state.wakeAll()
        state.wait(atMost: 2_000_000) { $0.hasEnded }
    }

    /// Whether it is to stop.
    private func waitASecond() -> Bool {
        state.wait(atMost: 1_000_000) { $0.isStopping }
        return state.withLock { $0.isStopping }
    }

    private var milliseconds: Int64 { stopwatch.microseconds / 1000 }

    /// What has stood still for too long.
    var obstacles: [Obstacle] {
        let (now, turns) = (milliseconds, state.withLock { $0.turns })
        var obstacles = turns.enumerated().filter { now - $0.element > Self.patienceMilliseconds }.map { loop, turn in
            Obstacle("stuck", "event loop \(loop + 1) has not turned for \((now - turn) / 1000) s")
        }
        let busy = committer.busyMilliseconds
        if busy > Self.patienceMilliseconds {
            obstacles.append(Obstacle("stuck", "the committer has been at one batch for \(busy / 1000) s"))
        }
        return obstacles
    }
}
