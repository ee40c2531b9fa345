// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime

/// What is known of the clock beside the time of day; passed in so that tests can set it.
package struct ClockStatus: Sendable {
    /// Milliseconds since the system booted, as `CLOCK_BOOTTIME` counts them: they go on in sleep and cannot be set.
    package let elapsedMilliseconds: @Sendable () -> Int64
    /// Whether a time service synchronizes the system's clock now.
    package let synchronisation: @Sendable () -> ClockSynchronisation

    package init(
        elapsedMilliseconds: @escaping @Sendable () -> Int64,
        synchronisation: @escaping @Sendable () -> ClockSynchronisation
    ) {
        self.elapsedMilliseconds = elapsedMilliseconds
        self.synchronisation = synchronisation
    }

    /// What the system says.
    package static let system = ClockStatus {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    } synchronisation: {
        var state = timex()
        // Only reads, so that it needs no right to set the clock.
        state.modes = 0
        let result = unsafe adjtimex(&state)
        guard result >= 0 else { return .unknown(reason: systemMessage(errno)) }
        return result == TIME_ERROR || state.status & STA_UNSYNC != 0 ? .unsynchronised : .synchronised
    }
}

/// Whether a time service synchronizes the system's clock.
package enum ClockSynchronisation: Hashable, Sendable {
    case synchronised
    /// No time service has set the clock for a long time, or ever.
    case unsynchronised
    /// The system doesn't say, as in some containers.
    case unknown(reason: String)

    /// Why the time of day can't be relied on; nothing if it can.
    package var fault: String? {
        switch self {
        case .synchronised: nil
        case .unsynchronised: "the system's clock is not synchronized with any time service"
        case .unknown(let reason): "the system does not say whether its clock is synchronized: \(reason)"
        }
    }
}

/// Detects jumps of the time of day, by comparison with a clock that cannot be set.
struct StepDetector: Sendable {
    private var last: (wall: Int64, elapsed: Int64)?
    private let thresholdMilliseconds: Int64

    init(thresholdMilliseconds: Int64) {
        self.thresholdMilliseconds = thresholdMilliseconds
    }

    /// Looks at both clocks, in milliseconds.
    ///
    /// - Returns: The expected time of day, if the actual one differs by more than the threshold.
    mutating func step(wall: Int64, elapsed: Int64) -> Int64? {
        defer { last = (wall, elapsed) }
        guard let last else { return nil }
        let expected = last.wall + (elapsed - last.elapsed)
        return abs(wall - expected) > thresholdMilliseconds ? expected : nil
    }
}
