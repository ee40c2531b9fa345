// SPDX-License-Identifier: Apache-2.0

/// A thread whose tasks ask for commits, and get the results on the same thread.
package protocol AskingThread: AnyObject, Sendable {
    /// Calls `resume` on this thread soon; if this thread has ended, at once on the calling thread.
    func handBack(_ resume: @escaping @Sendable () -> Void)
}

/// The jobs of one thread in a batch; they come from that thread and go back to it together.
///
/// A job is moved out of its place and back while it is used, and never copied. A copy would change a reference count
/// in memory that the other thread's core has, and that core would have to fetch it back.
struct ThreadJobs: Sendable {
    /// `nil` if they are resumed on the committer's thread.
    let asker: (any AskingThread)?
    /// A job is `nil` only while it is used.
    private(set) var jobs: [Committer.Job?]

    init(asker: (any AskingThread)?, jobs: [Committer.Job]) {
        self.asker = asker
        self.jobs = jobs
    }

    mutating func add(_ job: consuming Committer.Job) { jobs.append(job) }

    fileprivate mutating func add(_ more: ThreadJobs) { jobs += more.jobs }

    /// The results that `body` returns for the jobs, in their order.
    mutating func map<Failure: Error>(
        _ body: (borrowing Committer.Job) throws(Failure) -> Committer.JobResult
    ) throws(Failure) -> [Committer.JobResult] {
        var results: [Committer.JobResult] = []
        results.reserveCapacity(jobs.count)
        for place in jobs.indices {
            guard let job = jobs[place].take() else { preconditionFailure("a job is in its place") }
            defer { jobs[place] = job }
            results.append(try body(job))
        }
        return results
    }

    /// Resumes all jobs with their results, in their order.
    consuming func resume(_ results: [Committer.JobResult]) {
        let jobs = jobs
        let resume: @Sendable () -> Void = {
            for place in jobs.indices { jobs[place]?.resume(results[place]) }
        }
        guard let asker else { return resume() }
        asker.handBack(resume)
    }
}

extension [ThreadJobs] {
    var requestCount: Int {
        reduce(0) { count, jobsOfThread in jobsOfThread.jobs.reduce(count) { $0 + ($1?.requestCount ?? 0) } }
    }

    /// All jobs, grouped by asking thread.
    var jobs: [Committer.Job] { flatMap { $0.jobs.compactMap(\.self) } }

    /// Takes all of them out.
    mutating func take() -> [ThreadJobs] {
        var all: [ThreadJobs] = []
        swap(&all, &self)
        return all
    }

    /// Adds jobs after those that are there, each to the jobs of its thread.
    mutating func add(_ more: [ThreadJobs]) {
        for jobsOfThread in more {
            if let place = firstIndex(where: { $0.asker === jobsOfThread.asker }) {
                self[place].add(jobsOfThread)
            } else {
                append(jobsOfThread)
            }
        }
    }

    /// The same jobs in two batches; `nil` if there is only one job.
    var halves: ([ThreadJobs], [ThreadJobs])? {
        var (first, second): ([ThreadJobs], [ThreadJobs]) = ([], [])
        var left = reduce(0) { $0 + $1.jobs.count } / 2
        guard left > 0 else { return nil }
        for jobsOfThread in self {
            let own = jobsOfThread.jobs.prefix(left).compactMap(\.self)
            let others = jobsOfThread.jobs.dropFirst(own.count).compactMap(\.self)
            if !own.isEmpty { first.append(ThreadJobs(asker: jobsOfThread.asker, jobs: own)) }
            if !others.isEmpty { second.append(ThreadJobs(asker: jobsOfThread.asker, jobs: others)) }
            left -= own.count
        }
        return (first, second)
    }
}
