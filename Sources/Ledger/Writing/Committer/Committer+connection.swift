// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import ServiceRuntime
import Storage
import TransparencyLog

// MARK: - Opening a connection

extension Committer {
    /// Whether a shared server did not answer a moment ago; then no request waits while the committer tries it.
    var isSilent: Bool { instance != nil && pulse.isSilent }

    /// Refuses every job of a batch; none of it is done.
    func refuse(_ batch: [ThreadJobs], _ error: LedgerError) {
        for jobsOfThread in batch { jobsOfThread.resume(jobsOfThread.jobs.map { _ in .refused(error) }) }
    }

    /// The writer for a batch, on a new connection if there is none; `nil` if the batch was refused meanwhile.
    func connected(_ writer: inout LedgerWriter?, for batch: inout [ThreadJobs]) throws(LedgerError) -> LedgerWriter? {
        if writer == nil {
            if isSilent { refuse(batch.take(), CommitterPulse.cutOff) }
            writer = try reopened()
        }
        return batch.isEmpty ? nil : writer
    }

    /// A new connection in place of a lost one; after a failure, a shared server is not asked again at once.
    func reopened() throws(LedgerError) -> LedgerWriter {
        // A new and empty database would forget every cap.
        guard place?.leadsToSameDatabase() ?? true else { throw .databaseGone }
        guard instance == nil || !pulse.pausesAttempts else { throw CommitterPulse.refused }
        do {
            let writer = makeWriter(on: try open())
            pulse.noteAttempt(hasFailed: false)
            return writer
        } catch {
            pulse.noteAttempt(hasFailed: true)
            throw .database(error)
        }
    }

    func makeWriter(on connection: any DatabaseConnection) -> LedgerWriter {
        logKeeper?.adopt(connection)
        var compaction = compaction
        if looksForAll.withLock({ $0 }) { compaction.filterRoom = nil }
        return LedgerWriter(
            connection: connection,
            after: knownHead,
            compaction: compaction,
            instance: instance,
            appRefusals: appRefusals
        )
    }

    /// The head that an opened log must continue from.
    private var knownHead: TreeHead? { treeHead == .empty ? nil : treeHead }
}

// MARK: - Waiting for the turn to write

extension Committer {
    /// While others write, no more requests than this join a batch; the rest waits for the next.
    private static let mostJoining = 256

    /// Begins a transaction for a batch, and sends the queries that its requests need.
    ///
    /// With `takesMore`, requests that come while other instances write join the batch. Their queries are sent at once,
    /// so most cost no extra round trip. If no other instance writes, it is too late once the answer is on its way.
    ///
    /// - Returns: Whether other instances may have written.
    func begin(
        _ batch: inout [ThreadJobs],
        with writer: LedgerWriter,
        takesMore: Bool
    ) throws(LedgerError) -> Bool {
        let isRemote = writer.connection.isRemote
        let waits = takesMore && (writer.expectsOthers || !isRemote)
        var count = isRemote ? batch.requestCount : 0
        let jobs = isRemote ? batch.jobs : []
        let mayHaveChanged = try writer.begin(at: clock.now(), for: jobs) { () throws(StorageError) in
            guard waits, count < Self.mostJoining else { return }
            count += try join(&batch, writer, ifAtLeast: count / 4)
        }
        if takesMore {
            // Another round trip makes other instances wait; it is worth it if as many requests gain by it as lose.
            _ = try database(join(&batch, writer, ifAtLeast: count))
            writer.goOn(at: clock.now())
        }
        return mayHaveChanged
    }

    /// Adds waiting jobs to a batch if they are enough or can't wait; returns how many requests have joined.
    private func join(
        _ batch: inout [ThreadJobs],
        _ writer: LedgerWriter,
        ifAtLeast fewest: Int
    ) throws(StorageError) -> Int {
        let more = queue.withLock { $0.requests >= fewest || $0.hasChange ? $0.take() : [] }
        guard !more.isEmpty else { return 0 }
        batch.add(more)
        if writer.connection.isRemote { try writer.ask(for: more.jobs) }
        return more.requestCount
    }
}
