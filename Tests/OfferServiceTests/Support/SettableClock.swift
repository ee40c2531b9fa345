// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import ServiceRuntime
import Synchronization

/// A clock that moves only when a test moves it.
final class SettableClock: Sendable {
    private let milliseconds: Mutex<Int64>

    /// Starts at 2026-07-01T12:00:00.123Z, so that no test holds only because a fraction is zero.
    init(milliseconds: Int64 = 1_782_907_200_123) {
        self.milliseconds = Mutex(milliseconds)
    }

    var now: Timestamp { Timestamp(milliseconds: milliseconds.withLock { $0 }) }

    var wallClock: WallClock { WallClock { [self] in now.milliseconds } }

    /// Moves it, back for a negative number.
    func advance(milliseconds amount: Int64) {
        milliseconds.withLock { $0 += amount }
    }

    func advance(days: Int = 0, hours: Int = 0, seconds: Int = 0) {
        advance(milliseconds: Int64((days * 24 + hours) * 3600 + seconds) * 1000)
    }
}
