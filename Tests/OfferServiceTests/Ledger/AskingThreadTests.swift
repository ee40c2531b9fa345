// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import ServiceRuntime
import Storage
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// A request from a task thread is answered on that thread, in one call with the others from there.
@Suite(.timeLimit(.minutes(1))) struct AskingThreadTests {
    @Test func `requests from one thread are answered on it, in one call and in order`() async throws {
        let place = try AskingPlace()
        let (one, other) = (Asker(), Asker())
        for number in 0..<6 { place.ask(number, on: [one, other, nil][number % 3]) }
        try await place.settle()
        #expect((one.pieces, one.answered) == (1, [0, 3]))
        #expect((other.pieces, other.answered) == (1, [1, 4]))
        #expect(place.answeredElsewhere == [2, 5])
        #expect(place.batches == [6])
    }

    @Test func `a failing request fails no other request, whatever their threads`() async throws {
        let place = try AskingPlace()
        let (one, other) = (Asker(), Asker())
        for number in 0..<9 { place.ask(number, on: [one, other, nil][number % 3], fails: [4, 8].contains(number)) }
        try await place.settle()
        #expect(one.answered.sorted() == [0, 3, 6])
        #expect((other.answered.sorted(), other.failed) == ([1, 7], [4]))
        #expect((place.answeredElsewhere.sorted(), place.failedElsewhere) == ([2, 5], [8]))
    }

    @Test func `if nothing can be recorded, each request gets the error on its own thread`() async throws {
        let faults = Faults()
        let place = try AskingPlace(faults)
        let asker = Asker()
        for number in 0..<4 { place.ask(number, on: number % 2 == 0 ? asker : nil) }
        faults.failCommits(Faults.diskFull)
        try await place.settle()
        #expect((asker.answered, asker.failed) == ([], [0, 2]))
        #expect((place.answeredElsewhere, place.failedElsewhere) == ([], [1, 3]))
    }

    @Test(arguments: 1...7) func `a batch falls into halves that have each job once`(count: Int) throws {
        let askers = [Asker(), Asker()]
        var queue = CommitQueue()
        for number in 0..<count {
            let job = Committer.Job.append([.secretVersionBegun("\(number)")], { _ in })
            queue.add(job, from: askers[number % 2], isUrgent: true)
        }
        #expect((queue.jobs, queue.requests, queue.isReady) == (count, count, true))
        let batch = queue.take()
        #expect((queue.jobs, queue.requests, queue.isReady) == (0, 0, false))
        guard let (first, second) = batch.halves else {
            #expect(count == 1)
            return
        }
        #expect((first.requestCount, second.requestCount) == (count / 2, count - count / 2))
        #expect((first + second).jobs.map(Self.secretVersion) == batch.jobs.map(Self.secretVersion))
    }

    private static func secretVersion(_ job: Committer.Job) -> String {
        guard case .append(let events, _) = job, case .secretVersionBegun(let name) = events.first else { return "" }
        return name
    }
}

/// A fake asking thread: it counts the calls that it gets, and notes the requests answered within them.
private final class Asker: AskingThread {
    private struct State {
        var pieces = 0
        var isCalling = false
        var answered: [Int] = []
        var failed: [Int] = []
    }

    private let state = Guarded(State())

    var pieces: Int { state.withLock { $0.pieces } }
    var answered: [Int] { state.withLock { $0.answered } }
    var failed: [Int] { state.withLock { $0.failed } }

    func handBack(_ resume: @escaping @Sendable () -> Void) {
        state.withLock { ($0.pieces, $0.isCalling) = ($0.pieces + 1, true) }
        resume()
        state.withLock { $0.isCalling = false }
    }

    func note(_ number: Int, _ result: Result<Void, LedgerError>) {
        state.withLock { state in
            #expect(state.isCalling, "the request is answered on its own thread")
            if case .success = result { state.answered.append(number) } else { state.failed.append(number) }
        }
    }
}

/// A committer that starts only when the test calls `settle()`.
private final class AskingPlace: Sendable {
    private let committer: Committer
    private let observer = BatchRecorder()
    private let open: ConnectionOpener
    private let elsewhere = Guarded<(answered: [Int], failed: [Int])>(([], []))

    init(_ faults: Faults = Faults()) throws {
        let place = try LogPlace()
        open = { () throws(StorageError) in try faults.wrap(try place.ledger.openPatiently()) }
        committer = Committer(clock: place.clock.wallClock, observer: observer, open: open)
    }

    var batches: [Int] { observer.batches }
    var answeredElsewhere: [Int] { elsewhere.withLock { $0.answered } }
    var failedElsewhere: [Int] { elsewhere.withLock { $0.failed } }

    func ask(_ number: Int, on asker: Asker?, fails: Bool = false) {
        let change: Committer.Change = { writer throws(LedgerError) in
            if fails { throw .unbuildable(.ambiguous) }
            try writer.append(.secretVersionBegun("\(number)"))
        }
        let job = Committer.Job.change(change) { [elsewhere] result in
            guard let asker else {
                elsewhere.withLock { lists in
                    if case .success = result { lists.answered.append(number) } else { lists.failed.append(number) }
                }
                return
            }
            asker.note(number, result)
        }
        #expect(committer.submit(job, from: asker, wakes: true) == nil)
    }

    /// Commits what was asked, and ends.
    func settle() async throws {
        committer.start(on: try open())
        await mayBlock { self.committer.stop() }
    }
}
