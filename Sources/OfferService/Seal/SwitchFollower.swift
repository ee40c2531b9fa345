// SPDX-License-Identifier: Apache-2.0
import Glibc
package import Ledger
import OfferDomain
package import ServiceRuntime
import Storage

/// Waits, beside a service, until it has said that it obeys what was switched off.
package struct SwitchFollower {
    /// What came of it.
    package enum Outcome: Hashable, Sendable {
        case noService
        case acknowledged
        /// The service has not acknowledged within `seconds`.
        case silent(seconds: Int)
    }

    private let ledger: LedgerAccess
    private let clock: WallClock
    private let patienceSeconds: Int

    /// Gives up after `patienceSeconds`.
    package init(ledger: LedgerAccess, clock: WallClock, patienceSeconds: Int = 15) {
        self.ledger = ledger
        self.clock = clock
        self.patienceSeconds = patienceSeconds
    }

    /// Blocks the thread meanwhile; that must not be one of Swift's shared pool.
    package func wait() -> Outcome {
        guard isServed else { return .noService }
        let stopwatch = clock.stopwatch()
        let store = try? ledger.openForReading()
        while stopwatch.microseconds < Int64(patienceSeconds) * 1_000_000 {
            let switches = store.flatMap { try? SealStore(connection: $0).switches() }
            if let switches, !switches.awaitsAcknowledgement { return .acknowledged }
            usleep(20_000)
        }
        return .silent(seconds: patienceSeconds)
    }

    /// Whether a service uses the database; taking its lock for a moment is the only way to know, or, where several may use
    /// it, that one of them is listed: who is gone without a word is taken from the list by the next that looks.
    private var isServed: Bool {
        if ledger.isShared {
            // Who can't be asked for may be there.
            guard let listed = try? InstanceTable(connection: ledger.openForReading()).all() else { return true }
            return !listed.isEmpty
        }
        do throws(StorageError) {
            try ledger.lockInstance()?.release()
            return false
        } catch {
            return true
        }
    }
}
