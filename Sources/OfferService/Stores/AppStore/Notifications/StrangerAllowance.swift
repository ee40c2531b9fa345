// SPDX-License-Identifier: Apache-2.0

/// How much work strangers may cause: so many verifications at once, and so many a second from then on.
///
/// Apple proves itself by nothing but its signature, so whoever reaches the port can make us verify one. Under
/// certificates that are remembered this takes one signature check; under others the path is checked too, which takes
/// milliseconds. Only failures under such others use the allowance up.
package final class StrangerAllowance: Sendable {
    private struct State {
        var left: Double
        var microseconds: Int64 = 0
    }

    private let burst: Double
    private let perSecond: Double
    private let stopwatch: Stopwatch
    private let state: Guarded<State>

    /// An allowance that is whole.
    package init(clock: WallClock, burst: Int = 50, perSecond: Int = 10) {
        self.burst = Double(burst)
        self.perSecond = Double(perSecond)
        stopwatch = clock.stopwatch()
        state = Guarded(State(left: Double(burst)))
    }

    /// Takes one, if there is one.
    package func take() -> Bool {
        let now = stopwatch.microseconds
        return state.withLock { state in
            let passed = Double(max(0, now - state.microseconds)) / 1_000_000
            state.left = min(burst, state.left + passed * perSecond)
            state.microseconds = now
            guard state.left >= 1 else { return false }
            state.left -= 1
            return true
        }
    }

    /// Gives one back: it was no stranger.
    package func giveBack() {
        state.withLock { $0.left = min(burst, $0.left + 1) }
    }
}
