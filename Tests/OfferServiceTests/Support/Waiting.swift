// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport

/// Runs `body` on a thread that may block, unlike those of Swift's shared pool.
func mayBlock<Value: Sendable>(_ body: @Sendable () -> Value) async -> Value {
    await withTaskExecutorPreference(BlockingThreads.shared) { await run(body) }
}

/// Runs `body` where the task prefers to run: a concurrent function moves there, a closure stays where it is called.
@concurrent private func run<Value: Sendable>(_ body: @Sendable () -> Value) async -> Value { body() }

/// Waits until something is so, at most 60 seconds.
func eventually(_ isSo: () async throws -> Bool) async throws -> Bool {
    for _ in 0..<6000 {
        if try await isSo() { return true }
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
