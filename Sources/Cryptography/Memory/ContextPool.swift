// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Synchronization

/// OpenSSL contexts of one kind, prepared once and used by one call at a time.
///
/// Preparing a context costs about as much as a tenth of a signature, and two threads can't share a context.
/// The pool grows to as many contexts as there are calls at the same time.
@safe
final class ContextPool: Sendable {
    /// A context out of the pool.
    ///
    /// `@unchecked`: only the call that holds it uses it.
    @safe
    private struct Context: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// What the lock guards.
    ///
    /// `@unchecked`: the template is read under the lock only.
    private struct State: ~Copyable, @unchecked Sendable {
        let template: Owned
        var idle: [Context] = []
    }

    private let state: Mutex<State>
    private let duplicate: @Sendable (OpaquePointer) -> OpaquePointer?
    private let free: @Sendable (OpaquePointer) -> Void

    /// A pool of copies of a prepared context.
    init(
        template: consuming Owned,
        duplicatedBy duplicate: @escaping @Sendable (OpaquePointer) -> OpaquePointer?,
        freedBy free: @escaping @Sendable (OpaquePointer) -> Void
    ) {
        state = Mutex(State(template: template))
        unsafe self.duplicate = duplicate
        unsafe self.free = free
    }

    deinit {
        let idle = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        for context in idle { unsafe free(context.pointer) }
    }

    /// Passes a context to `body`, which returns nil when the context failed and must not be used again.
    ///
    /// - Returns: What `body` returned; nil, with OpenSSL's reason still in this thread's queue, also when no context
    ///   could be made.
    func withContext<Result>(_ body: (OpaquePointer) -> Result?) -> Result? {
        guard let context = take() else { return nil }
        guard let result = unsafe body(context.pointer) else {
            unsafe free(context.pointer)
            return nil
        }
        state.withLock { $0.idle.append(context) }
        return result
    }

    private func take() -> Context? {
        state.withLock { state in
            if let context = state.idle.popLast() { return context }
            return unsafe duplicate(state.template.pointer).map { unsafe Context(pointer: $0) }
        }
    }
}
