// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Verifies signatures and certificates on threads of their own, so that no event loop stands still meanwhile.
///
/// A certificate chain that is not remembered costs two milliseconds, and one body may have dozens of them. The threads yield
/// to those that answer requests, and each party has its turn, so that nobody's forgeries keep others waiting for long.
package final class VerificationPool: Sendable {
    private typealias Job = @Sendable () -> Void

    private struct State {
        var waiting = FairQueue<Party.Kind, Party, Job>(mostOfClass: 1024, mostOfParty: 64)
        var threads = 0
        var idle = 0
    }

    private let state = Guarded(State())
    private let mostThreads: Int

    /// Half as many threads as there are processors, or one; they are started when there is work, and end when there is none.
    package init(threads: Int = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2)) {
        mostThreads = threads
    }

    /// What `body` returns on one of the threads, once it is the party's turn; `nil` if too much waits already.
    func run<Value: Sendable>(for party: Party, _ body: @escaping @Sendable () -> Value) async -> Value? {
        await withCheckedContinuation { continuation in
            let isTaken = add(party) { continuation.resume(returning: body()) }
            if !isTaken { continuation.resume(returning: nil) }
        }
    }

    private func add(_ party: Party, _ job: @escaping Job) -> Bool {
        let (isTaken, needsThread) = state.withLock { state in
            guard state.waiting.add(job, of: party.kind, for: party) else { return (false, false) }
            guard state.idle == 0, state.threads < mostThreads else { return (true, false) }
            state.threads += 1
            return (true, true)
        }
        if needsThread { Worker.start(named: "verification") { [self] in work() } } else { state.wakeOne() }
        return isTaken
    }

    private func work() {
        Worker.yieldToOthers()
        while let job = nextJob() { job() }
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
