// SPDX-License-Identifier: Apache-2.0
import Glibc
package import Ledger
import OfferDomain
package import ServiceRuntime
import Storage

/// A command's wait for the running service to acknowledge what the command sealed or disabled.
package struct AcknowledgementWait {
    /// How the wait ended.
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

    /// Waits, and blocks the thread meanwhile; that must not be one of Swift's shared pool.
    package func outcome() -> Outcome {
        guard isServed else { return .noService }
        let stopwatch = clock.stopwatch()
        let store = try? ledger.openForReading()
        while stopwatch.microseconds < Int64(patienceSeconds) * 1_000_000 {
            let stops = store.flatMap { try? SealStore(connection: $0).stops() }
            if let stops, !stops.awaitsAcknowledgement { return .acknowledged }
            usleep(20_000)
        }
        return .silent(seconds: patienceSeconds)
    }

    /// Whether a service uses the database.
    ///
    /// A service has the database's lock, unless several may use it: then they are listed. An instance that crashed is
    /// listed until another one looks.
    private var isServed: Bool {
        if ledger.isShared {
            // If the list can't be read, an instance may still run.
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
