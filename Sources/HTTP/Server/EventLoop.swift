// SPDX-License-Identifier: Apache-2.0
import CLibEvent
import CLinux
import Glibc
import Synchronization

/// One thread's event loop: libevent's `event_base`, and a Swift task executor (SE-0417) that runs jobs between its events.
///
/// What the loop's own thread enqueues goes into a list without a lock and runs in the same turn of the loop. What other
/// threads enqueue goes into a locked list, and the loop is woken by an eventfd, once for all that gathers until it wakes.
/// Code that works for many tasks of a loop hands the results back together with ``handBack(_:)``.
///
/// `@unchecked Sendable`: the C objects and the unlocked list are touched only by the thread that is in `run()`, or
/// before it starts, or after it ended; other threads see only the locked list, the eventfd and `thread`.
@safe
package final class EventLoop: TaskExecutor, @unchecked Sendable {
    private enum Work {
        case job(UnownedJob)
        case closure(@Sendable () -> Void)
        /// Never dropped.
        case answers(@Sendable () -> Void)
    }

    /// What other threads see.
    private struct Remote {
        var work: [Work] = []
        var hasEnded = false
    }

    /// Objects on the loop use it; only this class frees it.
    let base: OpaquePointer
    private let wakeUp: Int32
    private var localEvent: OpaquePointer?
    private var remoteEvent: OpaquePointer?
    private var localWork: [Work] = []
    private var isDraining = false
    private let remote = Mutex(Remote())
    /// As in ``Remote``, for a look without the lock.
    private let ended = Atomic(false)
    /// Called on the loop's thread whenever it has run all the jobs that waited; to be set before ``run()``.
    var turnEnded: () -> Void = {}
    /// The thread that is in ``run()``; 0 while none is.
    private let thread = Atomic<UInt>(0)

    /// A loop that does not run yet.
    init() throws(ServerError) {
        guard let base = unsafe Self.makeBase() else { throw .lastSystemError("create an event loop") }
        unsafe self.base = base
        wakeUp = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard wakeUp >= 0 else { throw .lastSystemError("create an eventfd") }

        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe localEvent = event_new(base, -1, 0, localWorkWaits, context)
        unsafe remoteEvent = event_new(base, wakeUp, Int16(EV_READ | EV_ET | EV_PERSIST), remoteWorkWaits, context)
        guard unsafe localEvent != nil, unsafe remoteEvent != nil, unsafe event_add(remoteEvent, nil) == 0 else {
            throw .lastSystemError("watch an eventfd")
        }
    }

    deinit {
        if let localEvent = unsafe localEvent { unsafe event_free(localEvent) }
        if let remoteEvent = unsafe remoteEvent { unsafe event_free(remoteEvent) }
        if wakeUp >= 0 { close(wakeUp) }
        unsafe event_base_free(base)
    }

    /// Makes a base without libevent's locks that is edge-triggered and reports the end of input separately.
    private static func makeBase() -> OpaquePointer? {
        let configuration = unsafe event_config_new()
        defer { unsafe event_config_free(configuration) }
        let features = EV_FEATURE_ET.rawValue | EV_FEATURE_EARLY_CLOSE.rawValue
        guard unsafe configuration != nil,
            unsafe event_config_set_flag(configuration, Int32(EVENT_BASE_FLAG_NOLOCK.rawValue)) == 0,
            unsafe event_config_require_features(configuration, Int32(features)) == 0
        else { return nil }
        return unsafe event_base_new_with_config(configuration)
    }

    /// The loop that the calling thread serves; `nil` for any other thread.
    package static var current: EventLoop? {
        guard let loop = unsafe pthread_getspecific(ownLoop) else { return nil }
        return unsafe Unmanaged<EventLoop>.fromOpaque(loop).takeUnretainedValue()
    }

    /// Where a loop's thread finds its loop.
    private static let ownLoop: pthread_key_t = {
        var key = pthread_key_t()
        let result = unsafe pthread_key_create(&key, nil)
        precondition(result == 0, "there is a key left for the event loops")
        return key
    }()

    /// Whether the caller is on the loop's thread.
    var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Serves events and jobs on the calling thread until ``finish()``.
    func run() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        unsafe pthread_setspecific(Self.ownLoop, Unmanaged.passUnretained(self).toOpaque())
        _ = unsafe event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY)
        runLocalWork()
        var late: [Work] = []
        remote.withLock { remote in
            remote.hasEnded = true
            ended.store(true, ordering: .releasing)
            swap(&late, &remote.work)
        }
        pthread_setspecific(Self.ownLoop, nil)
        thread.store(0, ordering: .relaxed)
        for work in late { runElsewhere(work) }
    }

    /// Whether ``run()`` has returned; work that arrives now runs on Swift's own threads, so that no task hangs.
    var hasEnded: Bool { ended.load(ordering: .acquiring) }

    private func runElsewhere(_ work: Work) {
        switch work {
        case .job(let job): globalConcurrentExecutor.enqueue(ExecutorJob(job))
        case .closure: break
        case .answers(let resume): resume()
        }
    }

    /// Ends ``run()`` at the end of this turn.
    ///
    /// Only on the loop's thread.
    func finish() {
        unsafe event_base_loopexit(base, nil)
    }

    /// Runs a job of Swift's concurrency on the loop's thread, from any thread.
    package func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    /// Runs `work` on the loop's thread, soon.
    ///
    /// From any thread. Dropped once the loop has ended.
    func perform(_ work: @escaping @Sendable () -> Void) {
        add(.closure(work))
    }

    /// Runs `resume` on the loop's thread, soon, to give tasks of the loop the results that they wait for.
    ///
    /// Call it from any thread. The tasks and the code that resumes them then share a processor's cache. Resumed from
    /// another thread, each task would move about a dozen cache lines to that thread and back. Once the loop has ended,
    /// `resume` runs on the calling thread.
    package func handBack(_ resume: @escaping @Sendable () -> Void) {
        add(.answers(resume))
    }

    private func add(_ work: Work) {
        guard !isCurrent else {
            localWork.append(work)
            if localWork.count == 1, !isDraining { unsafe event_active(localEvent, 0, 0) }
            return
        }
        let (hasEnded, isFirst) = remote.withLock { remote in
            if !remote.hasEnded { remote.work.append(work) }
            return (remote.hasEnded, remote.work.count == 1)
        }
        if hasEnded { runElsewhere(work) } else if isFirst { wake() }
    }

    /// Wakes the loop's thread; if that fails, the work waits for the next call of ``takeRemoteWork()``.
    private func wake() {
        var one: UInt64 = 1
        while unsafe write(wakeUp, &one, MemoryLayout<UInt64>.size) < 0, errno == EINTR {}
    }

    fileprivate func runLocalWork() {
        isDraining = true
        while !localWork.isEmpty {
            var batch: [Work] = []
            swap(&batch, &localWork)
            for work in batch { run(work) }
            // Given back so that the usual turn allocates nothing.
            batch.removeAll(keepingCapacity: true)
            if localWork.isEmpty { swap(&batch, &localWork) }
        }
        isDraining = false
        turnEnded()
    }

    /// Runs what other threads have enqueued.
    ///
    /// Only the loop's thread calls it: when it is woken, and also now and then. A wake-up that the system refused
    /// therefore delays work but does not lose it. The eventfd's counter is not read, because every write to it causes
    /// an event.
    func takeRemoteWork() {
        var batch: [Work] = []
        remote.withLock { swap(&batch, &$0.work) }
        for work in batch { run(work) }
        if localWork.isEmpty { turnEnded() }
    }

    private func run(_ work: Work) {
        switch work {
        case .job(let job): unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        case .closure(let closure), .answers(let closure): closure()
        }
    }
}

private let localWorkWaits: event_callback_fn = { _, _, context in
    guard let context = unsafe context else { return }
    unsafe Unmanaged<EventLoop>.fromOpaque(context).takeUnretainedValue().runLocalWork()
}

private let remoteWorkWaits: event_callback_fn = { _, _, context in
    guard let context = unsafe context else { return }
    unsafe Unmanaged<EventLoop>.fromOpaque(context).takeUnretainedValue().takeRemoteWork()
}

extension ServerError {
    /// What `errno` says of a call that just failed.
    static func lastSystemError(_ operation: String) -> ServerError {
        .cannotPrepare(operation: operation, reason: systemErrorText())
    }
}

/// The system's own words for `errno`.
func systemErrorText() -> String {
    unsafe String(cString: strerror(errno))
}
