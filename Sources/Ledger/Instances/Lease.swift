// SPDX-License-Identifier: Apache-2.0
package import ServiceRuntime
import Synchronization

/// For how long this process may use keys without asking the others that share its database.
///
/// An instance that says nothing for longer than ``lifetimeMilliseconds`` is taken for gone by the others a while later, and
/// then what was switched off is said to be obeyed without it. So one that was held up, or can't reach the database,
/// must stop by itself before that.
package final class Lease: Sendable {
    /// Less than ``InstanceTable/patienceMilliseconds``, by more than a signature takes.
    package static let lifetimeMilliseconds: Int64 = 2_000

    private let clock: WallClock
    /// Microseconds since ``started``.
    private let endsAt = Atomic<Int64>(0)
    private let started: Stopwatch

    /// Not held before the first renewal.
    package init(clock: WallClock) {
        self.clock = clock
        started = clock.stopwatch()
    }

    /// Whether it still holds.
    package var isHeld: Bool { started.microseconds < endsAt.load(ordering: .acquiring) }

    /// The time from which a renewal counts: to be taken before the others are told.
    package var now: Int64 { started.microseconds }

    /// Renews it, for a time that began at `start`.
    package func renew(from start: Int64) {
        endsAt.store(start + Self.lifetimeMilliseconds * 1000, ordering: .releasing)
    }

    /// Gives it up.
    package func end() { endsAt.store(0, ordering: .releasing) }
}
