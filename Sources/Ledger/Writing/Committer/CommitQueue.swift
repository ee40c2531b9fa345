// SPDX-License-Identifier: Apache-2.0

/// How long a commit is put off so that more can share it.
///
/// Callers who were answered together mostly ask again together. Those who come while the others are being answered would
/// otherwise be committed first, and from then on there would be two commits, each for half of them, where one would do.
package struct GroupCommitDelay: Sendable {
    /// Jobs are waited for only if so many are expected: where fewer come, the processors are mostly free for more commits.
    package var fewest = 48
    /// A commit of so many gains little by more.
    package var most = 64
    /// From the end of the last commit on; less than a request takes where so many come.
    package var microseconds: Int64 = 2000

    /// The figures above, which were measured; tests and benchmarks set others.
    package init() {}

    /// How many jobs to wait for after a commit, if so many were in it or have come since; 1 for none but the next.
    func wanted(of expected: Int) -> Int { expected < fewest ? 1 : min(expected, most) }
}

/// What waits for the committer, and for how many jobs it waits in turn.
struct CommitQueue {
    /// Work that no request waits for, done between two batches, in a transaction of its own: if it fails, nothing else does.
    struct Chore: Sendable {
        let body: Committer.Derivation
        let done: @Sendable (Result<Void, LedgerError>) -> Void
    }

    /// By who asks, each in the order in which they came.
    private(set) var batch: [ThreadJobs] = []
    private(set) var jobs = 0
    /// In those jobs.
    private(set) var requests = 0
    /// Whether one of the jobs is a change, such as a seal or a key that is disabled.
    private(set) var hasChange = false
    var chores: [Chore] = []
    var isStopping = false
    /// How many jobs were taken since ``expectMore(_:)``.
    private var taken = 0
    /// The committer begins once so many jobs wait.
    private var wanted = 1

    /// Whether the committer has something to do, but for what it does at leisure.
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

    /// Begins to wait for as many jobs as were in the last batch or have come since; false if not for more than one.
    mutating func expectMore(_ groupCommitDelay: GroupCommitDelay) -> Bool {
        wanted = groupCommitDelay.wanted(of: taken + jobs)
        taken = 0
        return !isReady
    }

    /// Waits no longer.
    mutating func expectNoMore() { wanted = 1 }
}
