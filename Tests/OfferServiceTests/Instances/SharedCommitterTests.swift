// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage
import Synchronization
import TestSupport
import Testing

@testable import OfferService

/// A committer that waits for its turn, since another instance writes.
struct SharedCommitterTests {
    /// Keeps how many requests each commit had.
    private final class Batches: CommitObserver {
        private let sizes = Mutex<[Int]>([])

        var all: [Int] { sizes.withLock { $0 } }

        func committed(requests: Int, microseconds: Int64) { sizes.withLock { $0.append(requests) } }
        func learnt(of redemption: RedemptionTable.Entry) {}
        func learnt(of redemption: GooglePlayRedemptionTable.Entry) {}
        func failed(_ error: LedgerError) {}
    }

    @Test(arguments: [true, false])
    func `takes those along who came meanwhile, at the time at which they came`(isShared: Bool) async throws {
        let place = try LogPlace()
        let other = try place.ledger.open(idleTimeoutMilliseconds: 60_000)
        let batches = Batches()
        let committer = Committer(
            clock: place.clock.wallClock,
            observer: batches,
            instance: isShared ? .version7(at: place.clock.now, 1, 1) : nil
        ) { [ledger = place.ledger] () throws(StorageError) in try ledger.open() }
        committer.start(on: try place.ledger.open())
        try other.begin()
        let done = Recorder()
        func record() {
            committer.change({ writer throws(LedgerError) in try writer.append(.serviceStopped) }) { _ in done.add() }
        }
        record()
        #expect(try await eventually { committer.waiting == 0 })
        place.clock.advance(seconds: 2)
        let came = place.clock.now
        record()
        record()
        #expect(done.count == 0 && committer.waiting == 2)
        other.rollback()
        #expect(try await eventually { done.count == 3 })
        await mayBlock { committer.stop() }
        #expect(batches.all == (isShared ? [3] : [1, 2]))
        let newest = try #require(try place.entries().last)
        #expect(try Tree(String(decoding: newest, as: UTF8.self))["t"].integer == came.milliseconds)
    }
}
