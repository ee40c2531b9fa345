// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime

/// Verifies signatures and certificates on threads of their own, so that no event loop is blocked meanwhile.
///
/// A certificate chain that is not cached costs two milliseconds, and one body may have dozens. The threads yield to
/// those that answer requests. Parties take turns, so that one party's forgeries do not delay others for long.
package final class VerificationPool: Sendable {
    private struct Job: Sendable {
        let run: @Sendable () -> Void
        /// Resumes the waiting task if the job will not run.
        let drop: @Sendable () -> Void
    }

    private struct State {
        var waiting: FairQueue<Party.Kind, Party, Job>
        var threads = 0
        var idle = 0
    }

    private let state: Guarded<State>
    private let mostOfClass: Int
    private let mostThreads: Int
    private let onlyWhenIdle: Bool

    /// By default half as many threads as processors, at least one; threads start when there is work and end when not.
    ///
    /// At most `mostOfClass` jobs wait for each kind of party. With `onlyWhenIdle`, jobs run only while the processors
    /// are idle, which may be never on a busy machine.
    package init(
        threads: Int = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2),
        mostOfClass: Int = 1024,
        onlyWhenIdle: Bool = false
    ) {
        state = Guarded(State(waiting: FairQueue(mostOfClass: mostOfClass)))
        self.mostOfClass = mostOfClass
        mostThreads = threads
        self.onlyWhenIdle = onlyWhenIdle
    }

    /// What `body` returns on one of the threads, once it is the party's turn; `nil` if too much waits already.
    package func run<Value: Sendable>(for party: Party, _ body: @escaping @Sendable () -> Value) async -> Value? {
        await withCheckedContinuation { continuation in
            add(
                Job(
                    run: { continuation.resume(returning: body()) },
                    drop: { continuation.resume(returning: nil) }
                ),
                for: party
            )
        }
    }

    private func add(_ job: Job, for party: Party) {
        let (dropped, needsThread): (Job?, Bool) = state.withLock { state in
            switch state.waiting.add(job, of: party.kind, for: party, atMost: mostWaiting(of: party)) {
            case .refused: return (job, false)
            case .displaced(let other): return (other, false)
            case .added: break
            }
            guard state.idle == 0, state.threads < mostThreads else { return (nil, false) }
            state.threads += 1
            return (nil, true)
        }
        dropped?.drop()
        if needsThread { NamedThread.start(named: "verification") { [self] in work() } } else { state.wakeOne() }
    }

    /// A backend asks for all its customers, and the store has answered already.
    private func mostWaiting(of party: Party) -> Int { party.kind == .callers ? mostOfClass : min(mostOfClass, 64) }

    private func work() {
        if onlyWhenIdle { NamedThread.runOnlyWhenIdle() } else { NamedThread.yieldToOthers() }
        while let job = nextJob() { job.run() }
    }

    /// `nil` once nothing has come for a second.
    private func nextJob() -> Job? {
        var job: Job?
        state.withLock { $0.idle += 1 }
        state.wait(atMost: 1_000_000) { state in
            job = state.waiting.next()
            return job != nil
        }
        state.withLock { state in
            state.idle -= 1
            // What came just now has found a thread idle that is about to end.
            if job == nil { job = state.waiting.next() }
            if job == nil { state.threads -= 1 }
        }
        return job
    }
}
