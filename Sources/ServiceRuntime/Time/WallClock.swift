// SPDX-License-Identifier: Apache-2.0
import Glibc
package import OfferDomain

/// The time of day, passed in so that tests can set it.
package struct WallClock: Sendable {
    private let milliseconds: @Sendable () -> Int64
    private let monotonicMicroseconds: @Sendable () -> Int64

    /// - Parameter now: Milliseconds since 1970 UTC.
    package init(now: @escaping @Sendable () -> Int64) {
        milliseconds = now
        monotonicMicroseconds = { now() * 1000 }
    }

    private init(
        _ milliseconds: @escaping @Sendable () -> Int64,
        _ monotonicMicroseconds: @escaping @Sendable () -> Int64
    ) {
        self.milliseconds = milliseconds
        self.monotonicMicroseconds = monotonicMicroseconds
    }

    /// The system's clocks.
    package static let system = WallClock(
        { microseconds(of: CLOCK_REALTIME) / 1000 },
        { microseconds(of: CLOCK_BOOTTIME) }
    )

    /// The time of day in UTC, to the millisecond; it may jump.
    package func now() -> Timestamp { Timestamp(milliseconds: milliseconds()) }

    /// A reading for measuring how long something takes; it does not jump when the time of day is set, and goes on while the
    /// machine sleeps.
    package func stopwatch() -> Stopwatch {
        Stopwatch(started: monotonicMicroseconds(), read: monotonicMicroseconds)
    }
}

/// Measures an interval.
package struct Stopwatch: Sendable {
    fileprivate let started: Int64
    fileprivate let read: @Sendable () -> Int64

    /// How long it has been since the reading was taken.
    package var microseconds: Int64 { read() - started }
}

private func microseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
}
