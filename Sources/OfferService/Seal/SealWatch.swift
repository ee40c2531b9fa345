// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Dispatch
import Glibc
package import Ledger
package import OfferDomain
package import ServiceRuntime

/// Checks once a second what seals the service automatically: the file and the clock.
///
/// It waits for no disk, so that a file seals within a second whatever the database does.
package final class SealWatch: Sendable {
    private struct State {
        var steps: StepDetector
        /// What is wrong with the clock and only warned of.
        var warnings: [Obstacle] = []
    }

    private let settings: SealSettings
    private let seal: Seal
    private let committer: Committer
    private let clock: WallClock
    private let status: ClockStatus
    private let log: Log
    private let state: Guarded<State>
    private let stopping = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    package init(
        _ settings: SealSettings,
        seal: Seal,
        committer: Committer,
        status: ClockStatus,
        runtime: Runtime
    ) {
        self.settings = settings
        self.seal = seal
        self.committer = committer
        clock = runtime.clock
        self.status = status
        log = runtime.log
        state = Guarded(State(steps: StepDetector(thresholdMilliseconds: Int64(settings.clockStepSeconds) * 1000)))
        seal.keep(.clockStepped) { [clock = runtime.clock, committer] in
            settings.lag(of: clock.now(), behind: committer.lastRecordedAt)
        }
        seal.keep(.file) { settings.fileObstacle }
    }

    /// Looks for the first time, before anything is signed, then every second on a thread of its own.
    ///
    /// `lastRecordedAt` is the time of the newest entry of the log as it was found.
    package func start(lastRecordedAt: Timestamp?) {
        if let lastRecordedAt { compare(with: lastRecordedAt) }
        look()
        NamedThread.start(named: "seal-watch") { [self] in
            while stopping.wait(timeout: .now() + .seconds(1)) == .timedOut { look() }
            hasEnded.signal()
        }
    }

    /// Ends the thread, and returns once it has ended.
    package func stop() {
        stopping.signal()
        hasEnded.wait()
    }

    /// What is wrong with the clock, where that is only warned of.
    package var warnings: [Obstacle] { state.withLock { $0.warnings } }

    /// Looks once.
    package func look() {
        lookAtFile()
        lookAtClock()
        seal.recordWhatIsHeld()
    }

    // MARK: - The file

    private func lookAtFile() {
        seal.set(.file, holds: settings.fileObstacle, by: .file)
    }

    // MARK: - The clock

    private func lookAtClock() {
        guard settings.clockCheck != .off else { return }
        let now = clock.now()
        let elapsed = status.elapsedMilliseconds()
        if let expected = state.withLock({ $0.steps.step(wall: now.milliseconds, elapsed: elapsed) }) {
            stepped(from: Timestamp(milliseconds: expected), to: now)
        }
        let fault = status.synchronisation().fault
        if settings.clockCheck == .seal {
            seal.set(.clockUnsynchronised, holds: fault)
        } else {
            warn("clock-unsynchronised", fault)
        }
    }

    private func compare(with last: Timestamp) {
        guard settings.clockCheck != .off else { return }
        let now = clock.now()
        let lag = last.milliseconds - now.milliseconds
        if lag > Int64(settings.clockStepSeconds) * 1000 { stepped(from: last, to: now) }
    }

    private func stepped(from expected: Timestamp, to now: Timestamp) {
        let detail = "the time of day jumped from \(expected.rfc3339) to \(now.rfc3339)"
        log(.error, "the clock was stepped", with: ["from": .text(expected.rfc3339), "to": .text(now.rfc3339)])
        if settings.clockCheck == .seal {
            seal.seal(.clockStepped, detail: detail)
        } else {
            warn("clock-stepped", detail)
        }
        committer.change { writer throws(LedgerError) in
            try writer.append(.clockStepped(from: expected, to: now))
        } _: { _ in
        }
    }

    private func warn(_ name: String, _ fault: String?) {
        let isNew = state.withLock { state in
            let known = state.warnings.contains { $0.name == name }
            state.warnings.removeAll { $0.name == name }
            if let fault { state.warnings.append(Obstacle(name, fault)) }
            state.warnings.sort { $0.name < $1.name }
            return fault != nil && !known
        }
        if isNew, let fault { log(.warning, "the clock can't be relied on", with: ["reason": .text(fault)]) }
    }
}
