// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// A clock that does not jump, for deadlines, and the time of day, for times that others see.
package struct Uptime: Sendable {
    private let clock: WallClock
    private let stopwatch: Stopwatch

    package init(_ clock: WallClock) {
        self.clock = clock
        stopwatch = clock.stopwatch()
    }

    /// Since this was made.
    package var milliseconds: Int64 { stopwatch.microseconds / 1000 }

    /// The time of day.
    package var now: Timestamp { clock.now() }

    /// Measures from now on.
    package func measure() -> Stopwatch { clock.stopwatch() }

    /// The end of a wait that begins now.
    package func deadline(afterMilliseconds wait: Int64) -> Deadline {
        let now = milliseconds
        return Deadline(beganAt: now, endsAt: now + wait)
    }

    /// The time of day at which ``milliseconds`` will be that.
    package func timeOfDay(at milliseconds: Int64) -> Timestamp {
        clock.now().adding(milliseconds: milliseconds - self.milliseconds)
    }
}

/// The time that a question may take with all its pages and attempts, as readings of one ``Uptime``.
package struct Deadline: Hashable, Sendable {
    /// In milliseconds of the uptime.
    package let beganAt: Int64
    /// In milliseconds of the uptime.
    package let endsAt: Int64

    /// How many milliseconds are left; negative once it is over.
    package func left(at now: Int64) -> Int64 { endsAt - now }

    /// Whether most of the time is over.
    package func isNear(at now: Int64) -> Bool { left(at: now) < (endsAt - beganAt) / 2 }
}
