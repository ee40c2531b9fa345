// SPDX-License-Identifier: Apache-2.0
// How long a cache line takes from one core to another and back, in nanoseconds.
import Synchronization

/// A line that two threads write by turns.
private final class Ball: Sendable {
    private static let roundTrips = 100_000
    private let turn = Atomic<Int>(0)

    /// Waits for each second number, from `first` on, and writes the next.
    func play(from first: Int) {
        for number in stride(from: first, to: 2 * Self.roundTrips, by: 2) {
            while turn.load(ordering: .acquiring) != number {}
            turn.store(number + 1, ordering: .releasing)
        }
    }

    static func roundTrip() async -> Duration {
        let ball = Ball()
        async let other: Void = ball.play(from: 1)
        let time = ContinuousClock().measure { ball.play(from: 0) }
        await other
        return time / roundTrips
    }
}

@main
private struct CoreDistance {
    static func main() async {
        var times: [Duration] = []
        for _ in 0..<15 { times.append(await Ball.roundTrip()) }
        print(Int(times.sorted()[7] / .nanoseconds(1)))
    }
}
