// SPDX-License-Identifier: Apache-2.0
import HTTP

/// Waits for work for a limited time; then the work is canceled, and ends when it sees that.
struct Patience: Sendable {
    let milliseconds: Int64
    var pause = Pause.system

    /// What `work` comes to, or what `late` says if that takes longer.
    ///
    /// The work stays on the event loop of whoever asks: the end of the loop's turn is what lets the committer begin.
    func value<Value: Sendable>(
        of work: @escaping @Sendable () async -> Value,
        late: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            let waiting = Waiting(continuation)
            let job: @Sendable () async -> Void = {
                let value = await work()
                _ = waiting.end { value }
            }
            let loop = EventLoop.current
            let task = loop.map { Task(executorPreference: $0) { await job() } } ?? Task { await job() }
            Task { [self] in
                await pause(milliseconds: milliseconds)
                if waiting.end(late) { task.cancel() }
            }
        }
    }

    /// Who waits, until the first of both has come.
    private final class Waiting<Value: Sendable>: Sendable {
        private let continuation: Guarded<CheckedContinuation<Value, Never>?>

        init(_ continuation: CheckedContinuation<Value, Never>) { self.continuation = Guarded(continuation) }

        /// Whether this was the first.
        func end(_ value: () -> Value) -> Bool {
            let waiting = continuation.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            waiting?.resume(returning: value())
            return waiting != nil
        }
    }
}
