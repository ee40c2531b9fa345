// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// Lets so many tasks in at one time.
final class Turnstile: Sendable {
    private struct State {
        var places: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(places: Int) {
        state = Mutex(State(places: places))
    }

    func enter() async {
        await withCheckedContinuation { continuation in
            let mayEnter = state.withLock { state in
                guard state.places > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.places -= 1
                return true
            }
            if mayEnter { continuation.resume() }
        }
    }

    func leave() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.places += 1
            return nil
        }
        next?.resume()
    }
}

/// Runs `body` on a thread that may block, unlike those of Swift's shared pool.
func mayBlock<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: body()) }
    }
}

/// Waits until something is so, at most 60 seconds.
func eventually(_ isSo: () throws -> Bool) async throws -> Bool {
    for _ in 0..<6000 {
        if try isSo() { return true }
        try await Task.sleep(for: .milliseconds(10))
    }
    return false
}

/// Counts on many threads.
final class Recorder: Sendable {
    private let counted = Mutex(0)

    var count: Int { counted.withLock { $0 } }

    func add() {
        counted.withLock { $0 += 1 }
    }
}
