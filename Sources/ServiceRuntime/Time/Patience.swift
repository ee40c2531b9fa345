// SPDX-License-Identifier: Apache-2.0
import HTTP

/// Waits for work for a limited time; then the work is canceled, and ends when it sees that.
package struct Patience: Sendable {
    /// For how long the work is waited for.
    package let milliseconds: Int64
    private let pause: Pause

    /// `pause` waits for that time.
    package init(milliseconds: Int64, pause: Pause = .system) {
        self.milliseconds = milliseconds
        self.pause = pause
    }

    /// The result of `work`, or of `late` if it takes longer; when the work ends, `missed` then gets `late`'s result.
    ///
    /// The work stays on the caller's event loop: the end of the loop's turn lets the committer begin.
    package func value<Value: Sendable>(
        of work: @escaping @Sendable () async -> Value,
        late: @escaping @Sendable () -> Value,
        missed: @escaping @Sendable (Value) async -> Void = { _ in }
    ) async -> Value {
        await withCheckedContinuation { continuation in
            let waiting = Waiting(continuation)
            let job: @Sendable () async -> Void = {
                let value = await work()
                if let sent = waiting.end({ value }) { await missed(sent) }
            }
            let loop = EventLoop.current
            let task = loop.map { Task(executorPreference: $0) { await job() } } ?? Task { await job() }
            Task { [self] in
                await pause(milliseconds: milliseconds)
                if waiting.end(late) == nil { task.cancel() }
            }
        }
    }

    /// The waiting caller, until the first of both results has come.
    private final class Waiting<Value: Sendable>: Sendable {
        private enum State {
            case waiting(CheckedContinuation<Value, Never>)
            case ended(Value)
        }

        private let state: Guarded<State>

        init(_ continuation: CheckedContinuation<Value, Never>) { state = Guarded(.waiting(continuation)) }

        /// The value that came before this one; `nil` if this is the first.
        func end(_ value: () -> Value) -> Value? {
            let (continuation, first): (CheckedContinuation<Value, Never>?, Value) = state.withLock { state in
                switch state {
                case .ended(let first): return (nil, first)
                case .waiting(let continuation):
                    // Made within the lock, so that the other one finds it.
                    let first = value()
                    state = .ended(first)
                    return (continuation, first)
                }
            }
            guard let continuation else { return first }
            continuation.resume(returning: first)
            return nil
        }
    }
}
