// SPDX-License-Identifier: Apache-2.0
package import ServiceRuntime
import Synchronization

/// How long this process may use keys without asking the other instances that share its database.
///
/// If an instance is silent for longer than ``lifetimeMilliseconds``, the others consider it gone a while later. They
/// then acknowledge stops for all, without it. So an instance that was delayed, or can't reach the database, must stop
/// by itself before that.
package final class Lease: Sendable {
    /// Less than ``InstanceTable/patienceMilliseconds``, by more than a signature takes.
    package static let lifetimeMilliseconds: Int64 = 2_000

    private let clock: WallClock
    /// Microseconds since ``started``.
    private let endsAt = Atomic<Int64>(0)
    private let started: Stopwatch

    /// A lease that is not held before the first renewal.
    package init(clock: WallClock) {
        self.clock = clock
        started = clock.stopwatch()
    }

    /// Whether it still holds.
    package var isHeld: Bool { started.microseconds < endsAt.load(ordering: .acquiring) }

    /// The time from which a renewal counts; read it before the heartbeat is sent.
    package var now: Int64 { started.microseconds }

    /// Renews it, for a time that began at `start`.
    package func renew(from start: Int64) {
        endsAt.store(start + Self.lifetimeMilliseconds * 1000, ordering: .releasing)
    }

    /// Gives it up.
    package func end() { endsAt.store(0, ordering: .releasing) }
}
