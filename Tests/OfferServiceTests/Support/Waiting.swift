// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

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
