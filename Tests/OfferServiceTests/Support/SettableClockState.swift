// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import Synchronization

/// What a test says of the clock beside the time of day.
final class SettableClockState: Sendable {
    private let state = Mutex((set: Int64(0), synchronisation: ClockSynchronisation.synchronised))

    /// By how many milliseconds the clock was set, not counting the time that passed.
    var set: Int64 { state.withLock { $0.set } }

    var synchronisation: ClockSynchronisation {
        get { state.withLock { $0.synchronisation } }
        set { state.withLock { $0.synchronisation = newValue } }
    }

    /// Both clocks as the service is given them: time that passes is seen on both, and what is set on one.
    func status(_ clock: SettableClock) -> ClockStatus {
        ClockStatus { [self] in
            clock.now.milliseconds - set
        } synchronisation: { [self] in
            synchronisation
        }
    }

    /// Sets the clock, as an administrator can set the system's; a negative number sets it back.
    func step(_ clock: SettableClock, seconds: Int64) {
        state.withLock { $0.set += seconds * 1000 }
        clock.advance(milliseconds: seconds * 1000)
    }
}
