// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A value that one thread at a time may use, and that a thread of ours may wait for.
///
/// Its lock is the C library's and not the standard library's `Mutex`, for two reasons: the committer has to wait for
/// work, and the thread sanitizer can follow this lock, but not the other, whose library it does not instrument.
/// `@unchecked Sendable`: the value is reached under the lock only.
@safe
final class Guarded<Value>: @unchecked Sendable {
    private var value: Value
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init(_ value: sending Value) {
        self.value = value
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe changed.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(changed, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    /// Lends the value; what `body` returns must not share state with it.
    func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Lends the value after each ``wakeOne()`` or ``wakeAll()`` until `body` returns something; blocks the thread meanwhile.
    func wait<Result>(until body: (inout Value) -> Result?) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            unsafe pthread_cond_wait(changed, mutex)
        }
    }

    /// Lets a thread that waits look again; costs next to nothing when none does.
    func wakeOne() {
        unsafe pthread_cond_signal(changed)
    }

    /// Lets all threads that wait look again.
    func wakeAll() {
        unsafe pthread_cond_broadcast(changed)
    }
}
