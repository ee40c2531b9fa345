// SPDX-License-Identifier: Apache-2.0
import Dispatch
package import OfferDomain
package import ServiceRuntime
package import Storage

/// Verifies the whole log while the service runs, slowly, soon after its start and then once a day.
package final class LogWatch: Sendable {
    /// What a verification found.
    package struct Result: Hashable, Sendable {
        /// When the verification ended.
        package let at: Timestamp
        /// How many entries the log has; with damage, how many were verified before.
        package let size: Int64
        /// `nil` for a log that is whole.
        package let damage: LogDamage?
    }

    private static let secondsBetween = 86_400
    /// After each page of 256 entries, so that a million of them take a minute more.
    private static let pauseMilliseconds = 15

    private let key: NoteVerifierKey
    private let file: CheckpointFile
    private let open: ConnectionOpener
    private let clock: WallClock
    private let log: Log
    private let result = Guarded<Result?>(nil)
    private let isStopping = Guarded(false)
    private let isRunning = Guarded(false)
    private let wake = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Verifies nothing before ``start(damaged:)``.
    package init(
        key: NoteVerifierKey,
        file: CheckpointFile,
        open: @escaping ConnectionOpener,
        clock: WallClock,
        log: Log
    ) {
        self.key = key
        self.file = file
        self.open = open
        self.clock = clock
        self.log = log
    }

    /// What the last one found; `nil` before the first has ended.
    package var latest: Result? { result.withLock { $0 } }

    /// Starts the thread, which begins at once; `damaged` is called with what differs from what was written.
    package func start(damaged: @escaping @Sendable (String) -> Void) {
        isRunning.withLock { $0 = true }
        NamedThread.start(named: "log-verifier") { [self] in
            repeat { verify(damaged) } while wake.wait(timeout: .now() + .seconds(Self.secondsBetween)) == .timedOut
            hasEnded.signal()
        }
    }

    /// Ends the thread; does nothing if it was not started.
    package func stop() {
        isStopping.withLock { $0 = true }
        guard isRunning.withLock({ $0 }) else { return }
        wake.signal()
        hasEnded.wait()
    }

    private func verify(_ damaged: (String) -> Void) {
        var size: Int64 = 0
        do throws(LogDamage) {
            let report = try evidenced { [self] done, _ in
                size = done
                guard !isStopping.withLock({ $0 }) else { return false }
                _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(Self.pauseMilliseconds))
                return true
            }
            settle(Result(at: clock.now(), size: report.head.size, damage: nil), damaged)
        } catch {
            if error == .stopped { return }
            settle(Result(at: clock.now(), size: size, damage: error), damaged)
        }
    }

    private func evidenced(_ goesOn: (Int64, Int64) -> Bool) throws(LogDamage) -> LogVerifier.Report {
        let connection: any DatabaseConnection
        do { connection = try open() } catch { throw .unreadable(error.description) }
        var evidence = LogEvidence(key: key)
        try evidence.add(CheckpointTable(connection: connection))
        let note: [UInt8]?
        do { note = try file.read() } catch { throw .unreadable(error.description) }
        if let note { try evidence.add(note, as: "The checkpoint in \(file.path)") }
        return try LogVerifier(DatabaseLog(connection: connection), promises: evidence.promises).run(goesOn)
    }

    private func settle(_ found: Result, _ damaged: (String) -> Void) {
        result.withLock { $0 = found }
        guard let damage = found.damage else {
            log(.info, "the audit log was verified", with: ["entries": .integer(found.size)])
            return
        }
        if case .unreadable = damage {
            log(
                .error,
                "the audit log cannot be read and was not verified",
                with: ["reason": .text(damage.description)]
            )
            return
        }
        log(.error, "the audit log is damaged", with: ["reason": .text(damage.description)])
        damaged(damage.description)
    }

    /// For the metrics.
    package var gauges: [Gauge] {
        // Without samples before the first verification: neither 0 nor 1 would be true.
        let latest = latest
        return [
            Gauge(
                "offer_signer_log_verified_timestamp_seconds",
                help: "When the audit log was last verified, in seconds since 1970",
                latest.map { [.init(Double($0.at.seconds))] } ?? []
            ),
            Gauge(
                "offer_signer_log_intact",
                help: "1 if the last verification found the audit log whole",
                latest.map { [.init($0.damage == nil ? 1 : 0)] } ?? []
            ),
        ]
    }
}
