// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import ServiceRuntime
import Storage
import TransparencyLog

// MARK: - Opening a connection

extension Committer {
    /// Whether a server that several share did not answer a moment ago: nothing is to wait while it is tried.
    var isSilent: Bool { instance != nil && pulse.isSilent }

    /// Tells all in a batch that nothing of it is done.
    func refuse(_ batch: [ThreadJobs], _ error: LedgerError) {
        for jobsOfThread in batch { jobsOfThread.resume(jobsOfThread.jobs.map { _ in .refused(error) }) }
    }

    /// What writes a batch, on a connection that is opened if there is none; `nil` if the batch was refused meanwhile.
    func connected(_ writer: inout LedgerWriter?, for batch: inout [ThreadJobs]) throws(LedgerError) -> LedgerWriter? {
        if writer == nil {
            if isSilent { refuse(batch.take(), CommitterPulse.cutOff) }
            writer = try reopened()
        }
        return batch.isEmpty ? nil : writer
    }

    /// Another connection in place of one that is lost; a server that several share is not asked for one again and again.
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
        return LedgerWriter(
            connection: connection,
            after: knownHead,
            compaction: compaction,
            instance: instance,
            appRefusals: appRefusals,
            looksForAll: looksForAll.withLock { $0 }
        )
    }

    /// What a log that is opened must go on from.
    private var knownHead: TreeHead? { treeHead == .empty ? nil : treeHead }
}

// MARK: - Waiting for the turn to write

extension Committer {
    /// While others write, no more requests than this join a batch; the rest waits for the next.
    private static let mostJoining = 256

    /// Begins a transaction for a batch, and asks with it what its requests need.
    ///
    /// With `takesMore`, requests join that come while others write. What they need is asked at once, so most of them cost
    /// no round trip of their own while others wait. Where no others write, it is too late when the answer is on its way.
    ///
    /// - Returns: Whether others may have written.
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
            // Another round trip, for which others wait, is worth it if as many gain by it as lose.
            _ = try database(join(&batch, writer, ifAtLeast: count))
            writer.goOn(at: clock.now())
        }
        return mayHaveChanged
    }

    /// Adds what has come to a batch, if that is so much or can't wait; answers how many requests have joined.
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
