// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage

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
        _ batch: inout [Portion],
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
            do { _ = try join(&batch, writer, ifAtLeast: count) } catch { throw .database(error) }
            writer.goOn(at: clock.now())
        }
        return mayHaveChanged
    }

    /// Adds what has come to a batch, if that is so much or can't wait; answers how many requests have joined.
    private func join(
        _ batch: inout [Portion],
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
