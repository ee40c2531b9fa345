// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// Callers that were answered together are committed together again, and no caller waits long for others.
///
/// Where a test says that a caller is not put off, a delay would last a minute.
@Suite(.timeLimit(.minutes(1))) struct GatheringTests {
    @Test(arguments: [(first: 50, wanted: 50), (first: 100, wanted: 64)])
    func `as many as were answered are waited for, up to a limit`(first: Int, wanted: Int) async throws {
        try await withCommitter(after: first) { place async throws in
            place.submit(wanted - 1)
            try await Task.sleep(for: .milliseconds(100))
            #expect(place.batches == [first])
            place.submit(1)
            #expect(try await eventually { place.batches == [first, wanted] })
        }
    }

    @Test func `callers that arrive during a commit count too`() async throws {
        let faults = Faults()
        faults.hold()
        let place = try GatheringPlace(faults)
        place.submit(30)
        try place.start()
        #expect(try await eventually { faults.isCommitting })
        place.submit(20)
        faults.release()
        #expect(try await eventually { place.batches == [30] })
        place.submit(29)
        try await Task.sleep(for: .milliseconds(100))
        #expect(place.batches == [30], "there are 49, and there were 50")
        place.submit(1)
        #expect(try await eventually { place.batches == [30, 50] })
        await place.stop()
    }

    @Test(arguments: [1, 2, 47]) func `few are not waited for`(count: Int) async throws {
        try await withCommitter(after: count) { place async throws in
            place.submit(1)
            #expect(try await eventually { place.batches == [count, 1] })
        }
    }

    @Test func `those who do not come again are not waited for any longer`() async throws {
        try await withCommitter(after: 50, microseconds: 20_000) { place async throws in
            place.submit(3)
            #expect(try await eventually { place.batches == [50, 3] })
            place.submit(1)
            #expect(try await eventually { place.batches == [50, 3, 1] })
        }
    }

    @Test func `one who comes late is not put off`() async throws {
        try await withCommitter(after: 50, microseconds: 1000) { place async throws in
            try await Task.sleep(for: .milliseconds(100))
            place.submit(1)
            #expect(try await eventually { place.batches == [50, 1] })
        }
    }

    @Test func `a direct change is not put off, and takes waiting requests along`() async throws {
        try await withCommitter(after: 50) { place async throws in
            place.submit(3)
            try await place.committer.change { (_) throws(LedgerError) in }
            #expect(place.batches == [50, 4])
        }
    }

    @Test func `work between batches is not put off`() async throws {
        try await withCommitter(after: 50) { place async throws in
            place.submit(3)
            await mayBlock { try? place.committer.doBlocking { _ in } }
            #expect(try await eventually { place.batches == [50, 3] })
        }
    }

    @Test func `waiting callers are answered when the service stops`() async throws {
        try await withCommitter(after: 50) { place async throws in place.submit(3) }
    }

    /// Ends once all who asked are answered.
    private func withCommitter(
        after first: Int,
        microseconds: Int64 = 60_000_000,
        _ body: (GatheringPlace) async throws -> Void
    ) async throws {
        let place = try GatheringPlace(microseconds: microseconds)
        place.submit(first)
        try place.start()
        #expect(try await eventually { place.batches == [first] })
        try await body(place)
        await place.stop()
    }
}

/// A committer that wakes up as the service's committer does.
private final class GatheringPlace: Sendable {
    let committer: Committer
    private let observer = BatchRecorder()
    private let asked = Recorder()
    private let answered = Recorder()
    private let open: ConnectionOpener

    init(_ faults: Faults = Faults(), microseconds: Int64 = 60_000_000) throws {
        let place = try LogPlace()
        open = { () throws(StorageError) in try faults.wrap(try place.ledger.openPatiently()) }
        var groupCommitDelay = GroupCommitDelay()
        groupCommitDelay.microseconds = microseconds
        committer = Committer(
            clock: place.clock.wallClock,
            observer: observer,
            options: CommitterOptions(wakeUp: .onceATurn, groupCommitDelay: groupCommitDelay),
            open: open
        )
    }

    var batches: [Int] { observer.batches }

    func start() throws { committer.start(on: try open()) }

    /// Submits `count` requests, as in one turn of an event loop.
    func submit(_ count: Int) {
        for _ in 0..<count {
            asked.add()
            let refusal = committer.submit(
                .change({ (_) throws(LedgerError) in }, { [answered] _ in answered.add() }),
                wakes: false
            )
            #expect(refusal == nil)
        }
        committer.takeWaiting()
    }

    func stop() async {
        await mayBlock { self.committer.stop() }
        #expect(answered.count == asked.count)
    }
}
