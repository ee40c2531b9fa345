// SPDX-License-Identifier: Apache-2.0
import Glibc
package import OfferDomain
package import ServiceRuntime
package import Storage
package import TransparencyLog

/// The one thread that writes: it takes everything that arrived while the last commit ran, and commits it together.
///
/// Each answer leaves after the commit of its record. If a commit fails, its whole batch fails and none of it is on disk.
package final class Committer: Sendable {
    /// A change within the transaction; an error that it throws undoes the whole batch.
    package typealias Change = @Sendable (LedgerWriter) throws(LedgerError) -> Void
    /// A change to data that is only derived from the log, such as an index over it.
    package typealias Derivation = @Sendable (any DatabaseConnection) throws(StorageError) -> Void

    let queue = Guarded(CommitQueue())
    private let hasEnded = Guarded(false)
    let pulse: CommitterPulse
    private let newestHead = Guarded(TreeHead.empty)
    private let newest = Guarded((recordedAt: Timestamp?.none, keyUses: KeyUses()))
    /// Where the database must still be for a commit to count; `nil` for one that can't be moved away.
    let place: DatabaseFiles?
    let open: ConnectionOpener
    let clock: WallClock
    let observer: any CommitObserver
    /// Whether the next connection must look every customer up, because the grant filter could not be read.
    let looksForAll: Guarded<Bool>
    /// Can block all grants and all uses of keys.
    package let keyUseGuard: KeyUseGuard
    private let acknowledges: Bool
    let instance: UniqueID?
    private let maximumWaiting: Int
    private let wakeUp: WakeUp
    private let askingThread: @Sendable () -> (any AskingThread)?
    private let groupCommitDelay: GroupCommitDelay
    let compaction: CompactionOptions
    let appRefusals: AppRefusals?
    let logKeeper: WALCheckpointer?
    /// What this committer has recorded, for the follower of the log.
    package let newEntryFeed = NewEntryFeed()

    /// When the thread is woken for requests.
    package enum WakeUp: Sendable {
        /// For each one, as it comes.
        case forEachRequest
        /// When the caller calls ``takeWaiting()``, once for all requests of a turn; ``GroupCommitDelay`` may delay the commit.
        case onceATurn
    }

    /// A committer that is not yet running.
    package init(
        clock: WallClock,
        observer: any CommitObserver,
        keyUseGuard: KeyUseGuard = KeyUseGuard(),
        options: CommitterOptions = CommitterOptions(),
        database: CommitterDatabase
    ) {
        self.clock = clock
        pulse = CommitterPulse(options.stopwatch)
        self.observer = observer
        self.keyUseGuard = keyUseGuard
        acknowledges = options.acknowledges
        looksForAll = Guarded(!options.acknowledges)
        instance = options.instance
        maximumWaiting = options.maximumWaiting
        wakeUp = options.wakeUp
        askingThread = options.askingThread
        groupCommitDelay = options.groupCommitDelay
        compaction = options.compaction
        appRefusals = options.appRefusals
        place = database.place
        logKeeper = database.logKeeper
        open = database.open
    }

    /// The same, for a database that is given by its opener alone.
    package convenience init(
        clock: WallClock,
        observer: any CommitObserver,
        keyUseGuard: KeyUseGuard = KeyUseGuard(),
        options: CommitterOptions = CommitterOptions(),
        open: @escaping ConnectionOpener
    ) {
        self.init(
            clock: clock,
            observer: observer,
            keyUseGuard: keyUseGuard,
            options: options,
            database: CommitterDatabase(open: open)
        )
    }

    /// Starts the thread on a connection that is already open; `head` is the head of its log.
    package func start(on connection: sending any DatabaseConnection, at head: TreeHead? = nil) {
        start(on: Handover(connection), at: head)
    }

    /// The same, for a connection that another thread has opened.
    package func start(on first: Handover<any DatabaseConnection>, at head: TreeHead?) {
        if let head { newestHead.withLock { $0 = head } }
        logKeeper?.start()
        NamedThread.start(named: "committer") { [self] in run(first) }
    }

    /// Writes what still waits, closes the connection and ends the thread; what comes later is refused.
    package func stop() {
        queue.withLock { $0.isStopping = true }
        queue.wakeOne()
        _ = hasEnded.wait { hasEnded in hasEnded ? true : nil }
    }

    /// The age of the current batch; 0 between two batches.
    package var busyMilliseconds: Int64 { pulse.busyMilliseconds }

    /// Decides and records; returns when the record is durable.
    package func decide(_ request: DecisionRequest) async throws(LedgerError) -> Verdict {
        try await ask { .decide(AskedDecision(request, $0)) }
    }

    /// Decides and records many requests in one transaction; returns when all of the records are durable.
    package func decide(_ batch: DecisionBatch) async throws(LedgerError) -> BatchVerdict {
        try await ask { .decideAll(batch, $0) }
    }

    /// Decides without granting or recording; store data in the preview is durable when it returns.
    package func preview(_ preview: OfferPreview) async throws(LedgerError) -> [PreviewedOffer] {
        try await ask { .preview(preview, $0) }
    }

    /// Merges a store's report into the ledger; returns when it is durable.
    package func absorb(_ report: SubscriptionReport) async throws(LedgerError) -> Absorption {
        try await ask { .absorb(report, $0) }
    }

    /// Links an anonymous customer to a known one; returns when that is durable.
    package func transfer(_ transfer: CustomerTransfer) async throws(LedgerError) -> TransferOutcome {
        try await ask { .transfer(transfer, $0) }
    }

    @inline(__always)
    private func ask<Answer>(
        _ job: (CheckedContinuation<Result<Answer, LedgerError>, Never>) -> Job
    ) async throws(LedgerError) -> Answer {
        try await withCheckedContinuation { continuation in
            if let refusal = submit(job(continuation), from: askingThread(), wakes: wakeUp == .forEachRequest) {
                continuation.resume(returning: .failure(refusal))
            }
        }.get()
    }

    /// Records events; returns when they are durable.
    package func append(_ events: [AuditEvent]) async throws(LedgerError) {
        try await withCheckedContinuation { continuation in
            append(events) { continuation.resume(returning: $0) }
        }.get()
    }

    /// Like ``append(_:)`` for a thread that may block: one of our own, never one of Swift's shared pool.
    package func appendBlocking(_ events: [AuditEvent]) throws(LedgerError) {
        let outcome = Guarded<Result<Void, LedgerError>?>(nil)
        append(events) { result in
            outcome.withLock { $0 = result }
            outcome.wakeOne()
        }
        try outcome.wait { $0 }.get()
    }

    /// Stores a signature on the log, unless there is another checkpoint that must not be replaced.
    ///
    /// For a thread that may block, like ``appendBlocking(_:)``.
    package func keepBlocking(_ signature: LogSignature) throws(LedgerError) -> CheckpointTable.Keeping {
        let outcome = Guarded<Result<CheckpointTable.Keeping, LedgerError>?>(nil)
        let done: @Sendable (Result<CheckpointTable.Keeping, LedgerError>) -> Void = { result in
            outcome.withLock { $0 = result }
            outcome.wakeOne()
        }
        if let refusal = submit(.keep(signature, done), wakes: true) { throw refusal }
        return try outcome.wait { $0 }.get()
    }

    /// Changes something within a transaction; calls `done` on the committer's thread when that is durable.
    ///
    /// A full queue does not refuse it: a change that stops signatures must get in even if too many requests wait.
    package func change(_ change: @escaping Change, _ done: @escaping @Sendable (Result<Void, LedgerError>) -> Void) {
        if let refusal = submit(.change(change, done), wakes: true, isLimited: false) { done(.failure(refusal)) }
    }

    /// The same for a task, which continues when the change is durable.
    package func change(_ body: @escaping Change) async throws(LedgerError) {
        try await withCheckedContinuation { continuation in
            change(body) { continuation.resume(returning: $0) }
        }.get()
    }

    /// Reads or changes something within a transaction, unless too many requests wait; returns when it is durable.
    package func look(_ body: @escaping Change) async throws(LedgerError) {
        try await withCheckedContinuation { continuation in
            if let refusal = submit(.change(body) { continuation.resume(returning: $0) }, wakes: true) {
                continuation.resume(returning: .failure(refusal))
            }
        }.get()
    }

    /// Records the use of a key before it happens.
    ///
    /// - Returns: What keeps the key from being used; then nothing is recorded.
    package func append(_ events: [AuditEvent], using key: KeyID?) async throws(LedgerError) -> KeyStop? {
        let found = Guarded<KeyStop?>(nil)
        try await change { [keyUseGuard] writer throws(LedgerError) in
            let stop = keyUseGuard.stop(of: key)
            found.withLock { $0 = stop }
            if stop == nil { for event in events { try writer.append(event) } }
        }
        return found.withLock { $0 }
    }

    private func append(_ events: [AuditEvent], _ done: @escaping @Sendable (Result<Void, LedgerError>) -> Void) {
        if let refusal = submit(.append(events, done), wakes: true) { done(.failure(refusal)) }
    }

    /// The newest tree of the log that is durable; any thread may ask.
    package var treeHead: TreeHead { newestHead.withLock { $0 } }
    /// The time of the newest entry; the next entry is never earlier.
    package var lastRecordedAt: Timestamp? { newest.withLock { $0.recordedAt } }

    /// When the use of each key was recorded last.
    package var keyUses: [KeyID: Timestamp] { newest.withLock { $0.keyUses.last } }
    /// Changes data that is only derived from the log; returns when that is durable.
    ///
    /// For a thread that may block: one of our own, never one of Swift's shared pool.
    package func doBlocking(_ body: @escaping Derivation) throws(LedgerError) {
        let outcome = Guarded<Result<Void, LedgerError>?>(nil)
        let chore = CommitQueue.Chore(body: body) { result in
            outcome.withLock { $0 = result }
            outcome.wakeOne()
        }
        let isRefused = queue.withLock { queue in
            if !queue.isStopping { queue.chores.append(chore) }
            return queue.isStopping
        }
        if isRefused { throw .stopped }
        queue.wakeOne()
        try outcome.wait { $0 }.get()
    }

    /// How many requests wait now.
    package var waiting: Int { queue.withLock { $0.requests } }

    /// Lets the thread begin with the waiting jobs, unless more are expected soon.
    package func takeWaiting() {
        if queue.withLock({ $0.isReady }) { queue.wakeOne() }
    }

    /// Adds a job to the queue; returns the error if it is refused.
    ///
    /// A job that `wakes` is not delayed; ``takeWaiting()`` begins any other.
    func submit(
        _ job: Job,
        from asker: (any AskingThread)? = nil,
        wakes: Bool,
        isLimited: Bool = true
    ) -> LedgerError? {
        let refusal: LedgerError? = queue.withLock { queue in
            if queue.isStopping { return .stopped }
            if isLimited, instance != nil, pulse.isCutOff { return CommitterPulse.cutOff }
            // Previews leave room in the queue for requests that may be granted something.
            let most = job.isPreview ? maximumWaiting / 2 : maximumWaiting
            if isLimited, queue.requests >= most { return .overloaded }
            queue.add(job, from: asker, isUrgent: wakes)
            return nil
        }
        if wakes { queue.wakeOne() }
        return refusal
    }

    /// The waiting jobs, in order; empty if a chore is next, nil once the committer must end.
    ///
    /// If nothing waits, it sleeps, or returns an empty batch if there is leisure work.
    private func nextBatch(hasLeisureWork: Bool) -> [ThreadJobs]? {
        queue.wait { queue -> [ThreadJobs]?? in
            if !queue.chores.isEmpty { return [] }
            guard queue.jobs == 0 else { return queue.take() }
            if queue.isStopping { return .some(nil) }
            return hasLeisureWork ? [] : .none
        }
    }

    /// Waits after a batch until its callers have most likely asked again.
    private func gather() {
        guard wakeUp == .onceATurn, queue.withLock({ $0.expectMore(groupCommitDelay) }) else { return }
        queue.wait(atMost: groupCommitDelay.microseconds) { $0.isReady }
        queue.withLock { $0.expectNoMore() }
    }
}

// MARK: - The thread

extension Committer {
    private func run(_ first: Handover<any DatabaseConnection>) {
        work(first)
        hasEnded.withLock { $0 = true }
        hasEnded.wakeOne()
    }

    /// Writes until the committer is stopped; when it returns, no connection is open.
    private func work(_ first: Handover<any DatabaseConnection>) {
        var writer = first.take().map { makeWriter(on: $0) }
        var cleaning = Cleaning()
        while let batch = nextBatch(hasLeisureWork: writer?.hasLeisureWork ?? false) {
            let hasJobs = !batch.isEmpty
            pulse.begin()
            defer { pulse.end() }
            // Consumed: with a second owner, each job would be copied at each access.
            if hasJobs { settle(consume batch, with: &writer, &cleaning, takesMore: instance != nil) }
            if hasJobs || !doChore(with: &writer) { fillFilter(of: &writer) }
            if hasJobs { compactGrants(of: &writer) }
            if let writer { logKeeper?.look(writer.connection) }
            if hasJobs { gather() }
        }
        // Stopped before the committing connection closes: the last to close checkpoints the whole log and removes it.
        logKeeper?.stop()
        writer = nil
    }

    /// Writes a batch and answers every caller in it; an error of one job fails that job alone.
    ///
    /// If other instances write to the same database, it `takesMore`: jobs that came while it waited for its turn.
    private func settle(
        _ taken: consuming [ThreadJobs],
        with writer: inout LedgerWriter?,
        _ cleaning: inout Cleaning,
        attempt: Int = 1,
        takesMore: Bool = false
    ) {
        var batch = taken
        let stopwatch = pulse.beginAsking(clock)
        defer { pulse.endAsking() }
        do throws(LedgerError) {
            guard let current = try connected(&writer, for: &batch) else { return }
            if try begin(&batch, with: current, takesMore: takesMore) { try applyStops(current) }
            var results = try write(&batch, with: current, &cleaning)
            pulse.noteAnswer()
            keyUseGuard.follow(current.stops)
            newest.withLock { $0 = (current.recordedAt, current.keyUses) }
            observer.committed(requests: batch.requestCount, microseconds: stopwatch.microseconds)
            current.report(to: observer)
            // No reference is kept here: each job is freed on the thread that made it.
            while let jobsOfThread = batch.popLast(), let own = results.popLast() { jobsOfThread.resume(own) }
            newEntryFeed.add(current.newEntries)
        } catch {
            let mayTryAgain = attempt < Self.mostAttempts && isUndone(error, writer) && !pulse.isLate
            undo(&writer, after: error)
            if mayTryAgain {
                usleep(UInt32(attempt) * 50_000)
                settle(batch, with: &writer, &cleaning, attempt: attempt + 1)
            } else if error.isOfOneRequest, let (first, second) = batch.halves {
                settle(first, with: &writer, &cleaning)
                settle(second, with: &writer, &cleaning)
            } else {
                observer.failed(error)
                refuse(batch, error)
            }
        }
    }

    /// Undoes a batch, and closes the connection if its state is unknown.
    private func undo(_ writer: inout LedgerWriter?, after error: LedgerError) {
        writer?.rollback()
        guard error.needsNewConnection else { return }
        writer = nil
        pulse.noteLoss()
        if isSilent { refuse(queue.withLock { $0.take() }, error) }
    }

    /// How often the committer tries a batch that a server has not taken.
    private static let mostAttempts = 3

    /// Whether a shared server has undone the batch, or never had it, so that it may be tried again.
    ///
    /// False if the commit was sent and no answer came: the server may have committed.
    private func isUndone(_ error: LedgerError, _ writer: LedgerWriter?) -> Bool {
        guard instance != nil else { return false }
        return switch error {
        case .database(.busy): true
        case .database(.ioFailure(let report)): writer?.isCommitting != true || report.hasEndedTransaction
        default: false
        }
    }

    /// Does the next chore; returns whether there was one.
    private func doChore(with writer: inout LedgerWriter?) -> Bool {
        guard let chore = queue.withLock({ $0.chores.isEmpty ? nil : $0.chores.removeFirst() }) else { return false }
        do throws(LedgerError) {
            if writer == nil { writer = try reopened() }
            try writer?.derive(chore.body)
            chore.done(.success(()))
        } catch {
            // The next batch begins on a new connection, whose state is known.
            writer = nil
            chore.done(.failure(error))
        }
        return true
    }

    /// Applies what other processes have sealed or disabled, before anything is decided and before keys are used again.
    private func applyStops(_ writer: LedgerWriter) throws(LedgerError) {
        let lifted = keyUseGuard.follow(writer.stops)
        guard acknowledges else { return }
        if lifted != SigningStops() { observer.lifted(lifted) }
        guard writer.stops.awaitsAcknowledgement else { return }
        keyUseGuard.waitUntilUnused()
        observer.acknowledges(writer.stops)
        try writer.acknowledgeStops()
    }

    /// Writes a batch in the open transaction; returns the results in its order once all of it is durable.
    private func write(
        _ batch: inout [ThreadJobs],
        with writer: LedgerWriter,
        _ cleaning: inout Cleaning
    ) throws(LedgerError) -> [[JobResult]] {
        try writer.readLinks()
        try writer.readAhead()
        var results: [[JobResult]] = []
        results.reserveCapacity(batch.count)
        for place in batch.indices {
            results.append(try batch[place].map { job throws(LedgerError) in try result(of: job, writer) })
        }
        let now = clock.now()
        if let atMost = cleaning.due(at: now, after: batch.requestCount) {
            try writer.forgetIdempotencyKeys(at: now, atMost: atMost)
        }
        let resumes = try recordResumption(after: batch, writer)
        try writer.commit()
        // Checked after the commit: if the file is removed later, a record is lost, but nothing was signed without one.
        guard place?.holdsLastCommit() ?? true else { throw .databaseGone }
        if let head = writer.durableHead { newestHead.withLock { $0 = head } }
        if resumes { observer.resumed() }
        return results
    }

    private func result(of job: borrowing Job, _ writer: LedgerWriter) throws(LedgerError) -> JobResult {
        if job.isUnder(writer.outdatedVersions) { return .refused(.outdatedSecret) }
        switch job {
        case .decide(let asked): return .decided(try verdict(on: asked.request, writer))
        case .decideAll(let batch, _): return .allDecided(try verdict(on: batch, writer))
        case .absorb(let report, _): return .absorbed(try writer.absorb(report))
        case .transfer(let transfer, _): return .transferred(try writer.transfer(transfer))
        case .preview(let preview, _): return .previewed(try writer.preview(preview))
        case .append(let events, _):
            for event in events { try writer.append(event) }
            return .done
        case .keep(let signature, _): return .kept(try writer.keep(signature))
        case .change(let change, _):
            try change(writer)
            return .done
        }
    }

    /// Records that records can be written again, if they could not be; returns whether it did.
    ///
    /// Does nothing for a batch that records nothing else. Such a batch is no test: it also commits on a full disk,
    /// where requests that only read must still be answered.
    private func recordResumption(after batch: [ThreadJobs], _ writer: LedgerWriter) throws(LedgerError) -> Bool {
        guard let since = observer.failingSince, writer.addsEntries || batch.jobs.contains(where: \.isAppend) else {
            return false
        }
        try writer.append(.records(.resumed(since: since)))
        return true
    }
}
