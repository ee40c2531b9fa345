// SPDX-License-Identifier: Apache-2.0
import Glibc
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// A committer that waits for its turn, since another instance writes.
@Suite(.overBothEngines) struct SharedCommitterTests {
    @Test(arguments: [true, false])
    func `takes those along who came meanwhile, at the time at which they came`(isShared: Bool) async throws {
        let place = try LogPlace()
        let observer = BatchRecorder()
        let committer = Committer(
            clock: place.clock.wallClock,
            observer: observer,
            options: CommitterOptions(instance: isShared ? .version7(at: place.clock.now, 1, 1) : nil)
        ) { [ledger = place.ledger] () throws(StorageError) in try ledger.openPatiently() }
        committer.start(on: try place.ledger.openPatiently())
        let done = Recorder()
        // On a thread of its own: where tests take turns on few, the committer would have waited for too long.
        let came = try await mayBlock { [ledger = place.ledger, clock = place.clock] in
            Result {
                try Self.record(three: committer, done, while: ledger.openPatiently(), clock)
            }
        }.get()
        #expect(try await eventually { done.count == 3 })
        await mayBlock { committer.stop() }
        #expect(observer.batches == (isShared ? [3] : [1, 2]))
        let newest = try #require(try place.entries().last)
        #expect(try Tree(String(decoding: newest, as: UTF8.self))["t"].integer == came.milliseconds)
    }

    /// Has the committer wait with one entry, and two come meanwhile; answers when these came.
    private static func record(
        three committer: Committer,
        _ done: Recorder,
        while other: any DatabaseConnection,
        _ clock: SettableClock
    ) throws -> Timestamp {
        func record() {
            committer.change({ writer throws(LedgerError) in try writer.append(.serviceStopped) }) { _ in done.add() }
        }
        try other.begin()
        defer { other.rollback() }
        record()
        while committer.waiting > 0 { usleep(1000) }
        clock.advance(seconds: 2)
        record()
        record()
        #expect(done.count == 0)
        return clock.now
    }
}
