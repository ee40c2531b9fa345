// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import ServiceRuntime

/// A clock that does not jump, for deadlines, and the time of day, for times that others see.
struct Uptime: Sendable {
    private let clock: WallClock
    private let stopwatch: Stopwatch

    init(_ clock: WallClock) {
        self.clock = clock
        stopwatch = clock.stopwatch()
    }

    /// Since this was made.
    var milliseconds: Int64 { stopwatch.microseconds / 1000 }

    var now: Timestamp { clock.now() }

    /// Measures from now on.
    func measure() -> Stopwatch { clock.stopwatch() }

    func deadline(afterMilliseconds wait: Int64) -> Deadline {
        let now = milliseconds
        return Deadline(beganAt: now, endsAt: now + wait)
    }

    /// The time of day at which ``milliseconds`` will be that.
    func timeOfDay(at milliseconds: Int64) -> Timestamp {
        clock.now().adding(milliseconds: milliseconds - self.milliseconds)
    }
}

/// The time that a question may take with all its pages and attempts, as readings of one ``Uptime``.
struct Deadline: Hashable, Sendable {
    let beganAt: Int64
    let endsAt: Int64

    func left(at now: Int64) -> Int64 { endsAt - now }

    /// Whether most of the time is over.
    func isNear(at now: Int64) -> Bool { left(at: now) < (endsAt - beganAt) / 2 }
}
