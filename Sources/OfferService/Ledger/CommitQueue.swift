// SPDX-License-Identifier: Apache-2.0

/// How long a commit is put off so that more can share it.
///
/// Callers who were answered together mostly ask again together. Those who come while the others are being answered would
/// otherwise be committed first, and from then on there would be two commits, each for half of them, where one would do.
package struct Gathering: Sendable {
    /// Jobs are waited for only if so many are expected: where fewer come, the processors are mostly free for more commits.
    package var fewest = 48
    /// A commit of so many gains little by more.
    package var most = 64
    /// From the end of the last commit on; less than a request takes where so many come.
    package var microseconds: Int64 = 2000

    package init() {}

    /// How many jobs to wait for after a commit, if so many were in it or have come since; 1 for none but the next.
    func wanted(of expected: Int) -> Int { expected < fewest ? 1 : min(expected, most) }
}

/// A thread whose tasks ask for something to be committed, and are told there what came of it.
package protocol AskingThread: AnyObject, Sendable {
    /// Calls `resume` there, soon; once it has ended, at once on the calling thread.
    func handBack(_ resume: @escaping @Sendable () -> Void)
}

/// The jobs of one thread in a batch; they come from its hands, and go back to them in one piece.
///
/// A job is moved out of its place and back while it is looked at, and never copied: a copy is counted in memory that the
/// other thread's core has, and then has to fetch back.
struct Portion: Sendable {
    /// `nil` if they are told on the committer's thread.
    let asker: (any AskingThread)?
    /// Each is there but while it is looked at.
    private(set) var jobs: [Committer.Job?]

    init(asker: (any AskingThread)?, jobs: [Committer.Job]) {
        self.asker = asker
        self.jobs = jobs
    }

    mutating func add(_ job: consuming Committer.Job) { jobs.append(job) }

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

extension [Portion] {
    var requestCount: Int {
        reduce(0) { count, portion in portion.jobs.reduce(count) { $0 + ($1?.requestCount ?? 0) } }
    }

    /// All jobs, by who asks.
    var jobs: [Committer.Job] { flatMap { $0.jobs.compactMap(\.self) } }

    /// The same jobs in two batches; `nil` if there is but one.
    var halves: ([Portion], [Portion])? {
        var (first, second): ([Portion], [Portion]) = ([], [])
        var left = reduce(0) { $0 + $1.jobs.count } / 2
        guard left > 0 else { return nil }
        for portion in self {
            let own = portion.jobs.prefix(left).compactMap(\.self)
            let others = portion.jobs.dropFirst(own.count).compactMap(\.self)
            if !own.isEmpty { first.append(Portion(asker: portion.asker, jobs: own)) }
            if !others.isEmpty { second.append(Portion(asker: portion.asker, jobs: others)) }
            left -= own.count
        }
        return (first, second)
    }
}

/// What waits for the committer, and for how many jobs it waits in turn.
struct CommitQueue {
    /// Work that no request waits for, done between two batches, in a transaction of its own: if it fails, nothing else does.
    struct Chore: Sendable {
        let body: Committer.Derivation
        let done: @Sendable (Result<Void, LedgerError>) -> Void
    }

    /// By who asks, each in the order in which they came.
    private(set) var portions: [Portion] = []
    private(set) var jobs = 0
    /// In those jobs.
    private(set) var requests = 0
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
        if let place = portions.firstIndex(where: { $0.asker === asker }) {
            portions[place].add(job)
        } else {
            portions.append(Portion(asker: asker, jobs: [job]))
        }
        jobs += 1
        if isUrgent { wanted = 1 }
    }

    /// Takes all jobs.
    mutating func take() -> [Portion] {
        var portions: [Portion] = []
        swap(&portions, &self.portions)
        taken += jobs
        (jobs, requests) = (0, 0)
        return portions
    }

    /// Begins to wait for as many jobs as were in the last batch or have come since; false if not for more than one.
    mutating func expectMore(_ gathering: Gathering) -> Bool {
        wanted = gathering.wanted(of: taken + jobs)
        taken = 0
        return !isReady
    }

    /// Waits no longer.
    mutating func expectNoMore() { wanted = 1 }
}
