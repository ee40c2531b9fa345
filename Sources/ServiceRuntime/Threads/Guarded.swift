// SPDX-License-Identifier: Apache-2.0
package import Glibc

/// A value that one thread at a time may use, and that a thread of ours may wait for.
///
/// It uses the C library's lock, not the standard library's `Mutex`, for two reasons: the committer has to wait for
/// work, and the thread sanitizer can follow this lock, but not `Mutex`, because it does not instrument its library.
/// `@unchecked Sendable`: the value is reached under the lock only. Inlinable, so that other targets get it compiled for their
/// own types: each request takes such locks.
@safe
package final class Guarded<Value>: @unchecked Sendable {
    @usableFromInline var value: Value
    @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    @usableFromInline let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// Guards a value that nothing else refers to.
    package init(_ value: sending Value) {
        self.value = value
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe changed.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        // Otherwise, a change of the system time could make a wait longer.
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(changed, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    /// Calls `body` with the value; what `body` returns must not share state with it.
    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Calls `body` now and after each ``wakeOne()`` or ``wakeAll()`` until it returns something; blocks the thread.
    @inlinable
    package func wait<Result>(until body: (inout Value) -> Result?) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            unsafe pthread_cond_wait(changed, mutex)
        }
    }

    /// Calls `isReached` now and after each ``wakeOne()`` or ``wakeAll()`` until it returns true or the time is over.
    package func wait(atMost microseconds: Int64, until isReached: (inout Value) -> Bool) {
        var end = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &end)
        end.add(microseconds: microseconds)
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while !isReached(&value), unsafe pthread_cond_timedwait(changed, mutex, &end) == 0 {}
    }

    /// Lets one waiting thread look again; costs next to nothing if no thread waits.
    package func wakeOne() {
        unsafe pthread_cond_signal(changed)
    }

    /// Lets all waiting threads look again.
    package func wakeAll() {
        unsafe pthread_cond_broadcast(changed)
    }
}

extension timespec {
    fileprivate mutating func add(microseconds: Int64) {
        let nanoseconds = Int64(tv_nsec) + microseconds % 1_000_000 * 1000
        tv_sec += Int(microseconds / 1_000_000 + nanoseconds / 1_000_000_000)
        tv_nsec = Int(nanoseconds % 1_000_000_000)
    }
}
