// SPDX-License-Identifier: Apache-2.0
import Configuration
import Dispatch
package import Ledger
import OfferDomain
package import ServiceRuntime
import Storage

/// The thread that reads reconciliations: those that callers request, and every few minutes the one for the metrics.
///
/// It has its own read-only connection, so neither event loops nor the committer wait for it.
package final class Reconciler: Sendable {
    private struct Job: Sendable {
        let query: ReconciliationQuery
        let continuation: CheckedContinuation<Result<ReconciliationReport, LedgerError>, Never>
    }

    private struct State {
        var jobs: [Job] = []
        var isStopping = false
        /// The result of the last look, by app; `nil` before the first.
        var settled: [ReconciliationReport.Settled]?
    }

    /// The maximum number of waiting questions; further ones are refused.
    private static let mostWaiting = 64
    private static let secondsBetweenLooks = 300

    private let ledger: LedgerAccess
    private let clock: WallClock
    private let log: Log
    private let state = Guarded(State())
    private let wake = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    package init(ledger: LedgerAccess, clock: WallClock, log: Log) {
        self.ledger = ledger
        self.clock = clock
        self.log = log
    }

    /// Starts the thread.
    package func start() {
        NamedThread.start(named: "reconciler") { [self] in
            work()
            hasEnded.signal()
        }
    }

    /// Answers the waiting questions and ends the thread; later questions are refused.
    package func stop() {
        state.withLock { $0.isStopping = true }
        wake.signal()
        hasEnded.wait()
    }

    /// Reads a report on the thread.
    package func report(_ query: ReconciliationQuery) async throws(LedgerError) -> ReconciliationReport {
        try await withCheckedContinuation { continuation in
            let refusal: LedgerError? = state.withLock { state in
                if state.isStopping { return .stopped }
                if state.jobs.count >= Self.mostWaiting { return .overloaded }
                state.jobs.append(Job(query: query, continuation: continuation))
                return nil
            }
            if let refusal { continuation.resume(returning: .failure(refusal)) } else { wake.signal() }
        }.get()
    }

    // MARK: - The thread

    private func work() {
        var connection: (any DatabaseConnection)?
        var nextLook = DispatchTime.now()
        while true {
            if DispatchTime.now() >= nextLook {
                look(&connection)
                nextLook = .now() + .seconds(Self.secondsBetweenLooks)
            }
            _ = wake.wait(timeout: nextLook)
            let (jobs, isStopping) = state.withLock { state in
                defer { state.jobs = [] }
                return (state.jobs, state.isStopping)
            }
            for job in jobs { job.continuation.resume(returning: answer(job.query, &connection)) }
            if isStopping { return }
        }
    }

    private func look(_ connection: inout (any DatabaseConnection)?) {
        let now = clock.now()
        let until = now.adding(hours: -ReconciliationReport.settlingHours)
        let from = now.adding(days: -ReconciliationQuery.usualDays)
        switch read(&connection, { reader throws(StorageError) in try reader.settled(from: from, until: until) }) {
        case .success(let settled): state.withLock { $0.settled = settled }
        case .failure(let error):
            log(.warning, "what was redeemed could not be read", with: ["reason": .text(error.description)])
        }
    }

    private func answer(
        _ query: ReconciliationQuery,
        _ connection: inout (any DatabaseConnection)?
    ) -> Result<ReconciliationReport, LedgerError> {
        let now = clock.now()
        return read(&connection) { reader throws(StorageError) in try reader.report(query, at: now) }
    }

    private func read<Value>(
        _ connection: inout (any DatabaseConnection)?,
        _ body: (ReconciliationReader) throws(StorageError) -> Value
    ) -> Result<Value, LedgerError> {
        do throws(StorageError) {
            if connection == nil { connection = try ledger.openForReading() }
            guard let connection else { return .failure(.stopped) }
            return .success(try body(ReconciliationReader(connection: connection)))
        } catch {
            // A connection that failed once may fail for ever.
            connection = nil
            return .failure(.database(error))
        }
    }
}

// MARK: - Metrics

extension Reconciler {
    /// Outcomes of the grants of the last 30 days that have settled, and the share of unused ones.
    package var gauges: [Gauge] {
        let settled = state.withLock { $0.settled } ?? []
        var outcomes: [Gauge.Sample] = []
        var shares: [Gauge.Sample] = []
        for store in Store.allCases {
            let apps = settled.filter { $0.place.store == store.recordName }
            let (redeemed, unused, notReported) = apps.reduce((0, 0, 0)) {
                ($0.0 + $1.redeemed, $0.1 + $1.neverRedeemed, $0.2 + $1.notReported)
            }
            for (outcome, count) in [("redeemed", redeemed), ("never-redeemed", unused), ("not-told", notReported)] {
                outcomes.append(.init(Double(count), labels: [("store", store.recordName), ("outcome", outcome)]))
            }
            guard redeemed + unused > 0 else { continue }
            let share = Double(unused) / Double(redeemed + unused)
            shares.append(.init(share, labels: [("store", store.recordName)]))
        }
        return [
            Gauge(
                "offer_signer_settled_grants",
                help: "Grants of the last 30 days, 72 hours old or more, by what became of them",
                outcomes
            ),
            Gauge(
                "offer_signer_never_redeemed_ratio",
                help: "Share of those grants that were not used, of apps that the store reports about",
                shares
            ),
        ]
    }
}
