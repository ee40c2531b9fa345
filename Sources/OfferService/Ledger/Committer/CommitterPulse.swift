// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage
import Synchronization

/// What the committer's thread is at, for those who ask from other threads.
final class CommitterPulse: Sendable {
    /// The start of the current batch, in microseconds of the stopwatch; 0 between two batches.
    private let busySince = Atomic<Int64>(0)
    /// Since when the database is asked for the current batch; 0 while it is not.
    private let askingSince = Atomic<Int64>(0)
    /// Whether the last batch was lost to a server that did not answer.
    private let hasLost = Atomic<Bool>(false)
    private let stopwatch: Stopwatch

    /// A server that takes longer for a batch is taken for one that does not answer.
    static let patienceMilliseconds: Int64 = 4500

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
    func noteAnswer() { hasLost.store(false, ordering: .relaxed) }
    /// The connection is lost; the next batch tries another one.
    ///
    /// A server that refuses at once keeps nobody waiting, and may be back in a moment.
    func noteLoss() { if isLate { hasLost.store(true, ordering: .relaxed) } }

    /// The age of the current batch; 0 between two batches.
    var busyMilliseconds: Int64 { age(busySince) }

    private func age(_ start: borrowing Atomic<Int64>) -> Int64 {
        let since = start.load(ordering: .relaxed)
        return since == 0 ? 0 : max(0, stopwatch.microseconds - since) / 1000
    }

    /// Whether asking has taken so long that asking again would keep those who wait for nothing.
    var isLate: Bool { age(askingSince) >= Self.patienceMilliseconds / 2 }

    /// Whether a server does not answer: more requests would wait for nothing, while one batch tries.
    var isCutOff: Bool {
        let since = askingSince.load(ordering: .relaxed)
        return since != 0 && (hasLost.load(ordering: .relaxed) || age(askingSince) >= Self.patienceMilliseconds)
    }

    static var cutOff: LedgerError {
        .database(.ioFailure(EngineReport("the database server does not answer; it is tried again")))
    }
}
