// SPDX-License-Identifier: Apache-2.0

/// How long a commit is put off so that more can share it.
///
/// Callers that are answered together mostly ask again together. Without the delay, the first would be committed while
/// others are still being answered. From then on there would be two commits, each for half of the callers.
package struct GroupCommitDelay: Sendable {
    /// The fewest expected jobs to wait for; with fewer, the processors are mostly free for more commits.
    package var fewest = 48
    /// The most jobs to wait for; a larger commit gains little.
    package var most = 64
    /// How long to wait, from the end of the last commit; under such load, a request takes longer than this.
    package var microseconds: Int64 = 2000

    /// The figures above, which were measured; tests and benchmarks set others.
    package init() {}

    /// How many jobs to wait for after a commit, if `expected` were in it or have come since; 1 means only the next.
    func wanted(of expected: Int) -> Int { expected < fewest ? 1 : min(expected, most) }
}

/// What waits for the committer, and for how many jobs it waits in turn.
struct CommitQueue {
    /// Work that no request waits for, done between two batches, in a transaction of its own: if it fails, nothing else does.
    struct Chore: Sendable {
        let body: Committer.Derivation
        let done: @Sendable (Result<Void, LedgerError>) -> Void
    }

    /// The jobs by asking thread, each in the order in which they came.
    private(set) var batch: [ThreadJobs] = []
    private(set) var jobs = 0
    /// The number of requests in those jobs.
    private(set) var requests = 0
    /// Whether one of the jobs is a change, such as a seal or a key that is disabled.
    private(set) var hasChange = false
    var chores: [Chore] = []
    var isStopping = false
    /// How many jobs were taken since ``expectMore(_:)``.
    private var taken = 0
    /// The committer begins once this many jobs wait.
    private var wanted = 1

    /// Whether the committer has something to do, apart from its leisure work.
    var isReady: Bool { jobs >= wanted || isStopping || !chores.isEmpty }

    mutating func add(_ job: Committer.Job, from asker: (any AskingThread)?, isUrgent: Bool) {
        requests += job.requestCount
        if let place = batch.firstIndex(where: { $0.asker === asker }) {
            batch[place].add(job)
        } else {
            batch.append(ThreadJobs(asker: asker, jobs: [job]))
        }
        jobs += 1
        if case .change = job { hasChange = true }
        if isUrgent { wanted = 1 }
    }

    /// Takes all jobs.
    mutating func take() -> [ThreadJobs] {
        var batch: [ThreadJobs] = []
        swap(&batch, &self.batch)
        taken += jobs
        (jobs, requests, hasChange) = (0, 0, false)
        return batch
    }

    /// Begins to wait for as many jobs as were in the last batch or have come since; false if the queue is ready.
    mutating func expectMore(_ groupCommitDelay: GroupCommitDelay) -> Bool {
        wanted = groupCommitDelay.wanted(of: taken + jobs)
        taken = 0
        return !isReady
    }

    /// Waits no longer.
    mutating func expectNoMore() { wanted = 1 }
}
