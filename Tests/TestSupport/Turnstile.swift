// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A semaphore for tasks: admits some at once, the others in the order in which they came.
package final class Turnstile: Sendable {
    private struct Waiter {
        let places: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var free: Int
        var waiters: [Waiter] = []

        /// Takes places for those who wait longest, and returns the waiters to resume.
        mutating func admitted() -> [Waiter] {
            var admitted: [Waiter] = []
            while let next = waiters.first, next.places <= free {
                free -= next.places
                admitted.append(waiters.removeFirst())
            }
            return admitted
        }
    }

    package let places: Int
    private let state: Mutex<State>

    package init(places: Int) {
        self.places = places
        state = Mutex(State(free: places))
    }

    /// Waits until `places` are free, and takes them.
    package func enter(places: Int = 1) async {
        precondition(places <= self.places)
        await withCheckedContinuation { continuation in
            resume(
                state.withLock { state in
                    state.waiters.append(Waiter(places: places, continuation: continuation))
                    return state.admitted()
                }
            )
        }
    }

    package func leave(places: Int = 1) {
        resume(
            state.withLock { state in
                state.free += places
                return state.admitted()
            }
        )
    }

    private func resume(_ waiters: [Waiter]) {
        for waiter in waiters { waiter.continuation.resume() }
    }
}
