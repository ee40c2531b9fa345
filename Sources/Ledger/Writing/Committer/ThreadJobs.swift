// SPDX-License-Identifier: Apache-2.0

/// A thread whose tasks ask for something to be committed, and are told there what came of it.
package protocol AskingThread: AnyObject, Sendable {
    /// Calls `resume` there, soon; once it has ended, at once on the calling thread.
    func handBack(_ resume: @escaping @Sendable () -> Void)
}

/// The jobs of one thread in a batch; they come from its hands, and go back to them in one piece.
///
/// A job is moved out of its place and back while it is looked at, and never copied: a copy is counted in memory that the
/// other thread's core has, and then has to fetch back.
struct ThreadJobs: Sendable {
    /// `nil` if they are told on the committer's thread.
    let asker: (any AskingThread)?
    /// Each is there but while it is looked at.
    private(set) var jobs: [Committer.Job?]

    init(asker: (any AskingThread)?, jobs: [Committer.Job]) {
        self.asker = asker
        self.jobs = jobs
    }

    mutating func add(_ job: consuming Committer.Job) { jobs.append(job) }

    fileprivate mutating func add(_ more: ThreadJobs) { jobs += more.jobs }

    /// What `body` makes of each job, in their order.
    mutating func map<Failure: Error>(
        _ body: (borrowing Committer.Job) throws(Failure) -> Committer.Outcome
    ) throws(Failure) -> [Committer.Outcome] {
        var outcomes: [Committer.Outcome] = []
        outcomes.reserveCapacity(jobs.count)
        for place in jobs.indices {
            guard let job = jobs[place].take() else { preconditionFailure("a job is in its place") }
            defer { jobs[place] = job }
            outcomes.append(try body(job))
        }
        return outcomes
    }

    /// Tells all what came of them, in their order.
    consuming func resume(_ outcomes: [Committer.Outcome]) {
        let jobs = jobs
        let resume: @Sendable () -> Void = {
            for place in jobs.indices { jobs[place]?.resume(outcomes[place]) }
        }
        guard let asker else { return resume() }
        asker.handBack(resume)
    }
}

extension [ThreadJobs] {
    var requestCount: Int {
        reduce(0) { count, jobsOfThread in jobsOfThread.jobs.reduce(count) { $0 + ($1?.requestCount ?? 0) } }
    }

    /// All jobs, by who asks.
    var jobs: [Committer.Job] { flatMap { $0.jobs.compactMap(\.self) } }

    /// Takes all of them out.
    mutating func take() -> [ThreadJobs] {
        var all: [ThreadJobs] = []
        swap(&all, &self)
        return all
    }

    /// Adds jobs after those that are there, of each thread to its own.
    mutating func add(_ more: [ThreadJobs]) {
        for jobsOfThread in more {
            if let place = firstIndex(where: { $0.asker === jobsOfThread.asker }) {
                self[place].add(jobsOfThread)
            } else {
                append(jobsOfThread)
            }
        }
    }

    /// The same jobs in two batches; `nil` if there is but one.
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
