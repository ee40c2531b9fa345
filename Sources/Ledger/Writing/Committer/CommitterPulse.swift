// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import ServiceRuntime
import Storage
import Synchronization

/// What the committer's thread is doing, for other threads to read.
final class CommitterPulse: Sendable {
    /// The start of the current batch, in microseconds of the stopwatch; 0 between two batches.
    private let busySince = Atomic<Int64>(0)
    /// Since when the database is asked for the current batch; 0 while it is not.
    private let askingSince = Atomic<Int64>(0)
    /// When a batch was last lost to a server that did not answer; 0 once it answers.
    private let lostAt = Atomic<Int64>(0)
    /// When an attempt to connect last failed; 0 once one succeeds.
    private let failedAt = Atomic<Int64>(0)
    private let stopwatch: Stopwatch

    /// A server that takes longer for a batch counts as one that does not answer.
    static let patienceMilliseconds: Int64 = 4500

    /// The pause before a server that has refused a connection is asked for another one.
    static let pauseMilliseconds: Int64 = 250
    /// How long after a loss no request waits while a connection is tried.
    static let silenceMilliseconds: Int64 = 10_000

    init(_ stopwatch: Stopwatch) {
        self.stopwatch = stopwatch
    }

    func begin() { busySince.store(max(1, stopwatch.microseconds), ordering: .relaxed) }
    func end() { busySince.store(0, ordering: .relaxed) }

    /// Begins to ask the database for a batch, and measures by a clock how long that takes.
    func beginAsking(_ clock: WallClock) -> Stopwatch {
        askingSince.store(max(1, stopwatch.microseconds), ordering: .relaxed)
        return clock.stopwatch()
    }

    func endAsking() { askingSince.store(0, ordering: .relaxed) }

    /// The database has answered.
    func noteAnswer() { lostAt.store(0, ordering: .relaxed) }
    /// The connection is lost; the next batch tries another one.
    ///
    /// A server that refuses at once makes no request wait, and may be back in a moment.
    func noteLoss() { if isLate { lostAt.store(max(1, stopwatch.microseconds), ordering: .relaxed) } }

    /// A connection was tried; a server that accepts one is there again.
    func noteAttempt(hasFailed: Bool) {
        failedAt.store(hasFailed ? max(1, stopwatch.microseconds) : 0, ordering: .relaxed)
        if !hasFailed { noteAnswer() }
    }

    /// Whether the last attempt to connect failed so recently that another one would be useless.
    var pausesAttempts: Bool { isSet(failedAt) && age(failedAt) < Self.pauseMilliseconds }

    /// Whether a batch was lost a moment ago to a server that did not answer.
    var isSilent: Bool { isSet(lostAt) && age(lostAt) < Self.silenceMilliseconds }

    /// The age of the current batch; 0 between two batches.
    var busyMilliseconds: Int64 { age(busySince) }

    private func age(_ start: borrowing Atomic<Int64>) -> Int64 {
        let since = start.load(ordering: .relaxed)
        return since == 0 ? 0 : max(0, stopwatch.microseconds - since) / 1000
    }

    private func isSet(_ time: borrowing Atomic<Int64>) -> Bool { time.load(ordering: .relaxed) != 0 }

    /// Whether asking has taken so long that asking again would make callers wait in vain.
    var isLate: Bool { age(askingSince) >= Self.patienceMilliseconds / 2 }

    /// Whether a server does not answer; more requests would wait in vain while one batch tries.
    var isCutOff: Bool {
        let since = askingSince.load(ordering: .relaxed)
        return since != 0 && (isSet(lostAt) || age(askingSince) >= Self.patienceMilliseconds)
    }

    static var refused: LedgerError {
        .database(.cannotOpen(EngineReport("the database server refused a connection; it is tried again")))
    }

    static var cutOff: LedgerError {
        .database(.ioFailure(EngineReport("the database server does not answer; it is tried again")))
    }
}
