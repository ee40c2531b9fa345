// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import ServiceRuntime
import Storage
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// A committer has lost its connection to a shared server, and the server can't be reached.
struct LostServerTests {
    /// Lets a committer connect, or not, as a test says.
    private final class Gate: Sendable {
        enum State { case open, shut, silent }

        private let state = Guarded((state: State.shut, attempts: 0))

        var attempts: Int { state.withLock { $0.attempts } }

        func become(_ new: State) {
            state.withLock { $0.state = new }
            state.wakeOne()
        }

        func pass() throws(StorageError) {
            state.withLock { $0.attempts += 1 }
            let isOpen = state.wait { $0.state == .silent ? nil : $0.state == .open }
            if !isOpen { throw .cannotOpen(EngineReport("no connection")) }
        }
    }

    private let place: LogPlace
    private let gate = Gate()
    private let committer: Committer

    init() throws {
        place = try LogPlace()
        var options = CommitterOptions(instance: .version7(at: place.clock.now, 1, 1))
        options.stopwatch = place.clock.wallClock.stopwatch()
        committer = Committer(clock: place.clock.wallClock, observer: BatchRecorder(), options: options) {
            [ledger = place.ledger, gate] () throws(StorageError) in
            try gate.pass()
            return try ledger.openPatiently()
        }
        committer.start(on: try place.ledger.openPatiently())
    }

    /// Whether something could be recorded.
    private func records() async -> Bool {
        do { try await committer.append([.serviceStopped]) } catch { return false }
        return true
    }

    /// Has a batch fail in such a way that the connection counts as lost.
    private func loseConnection() async {
        await #expect(throws: LedgerError.self) {
            try await committer.change { _ throws(LedgerError) in throw .database(.ioFailure(EngineReport("lost"))) }
        }
    }

    @Test func `asks a server that refuses for one connection in a quarter of a second, however many requests come`()
        async throws
    {
        await loseConnection()
        for _ in 0..<20 { #expect(await !records()) }
        #expect(gate.attempts == 1)
        place.clock.advance(milliseconds: 251)
        for _ in 0..<20 { #expect(await !records()) }
        #expect(gate.attempts == 2)
        gate.become(.open)
        place.clock.advance(milliseconds: 251)
        #expect(await records())
        await mayBlock { [committer] in committer.stop() }
    }

    @Test func `has nothing wait for a second attempt to reach a server that is silent`() async throws {
        gate.become(.silent)
        async let lost: Void = loseConnection()
        #expect(try await eventually { gate.attempts == 1 })
        async let queued = records()
        #expect(try await eventually { committer.waiting == 1 })
        place.clock.advance(seconds: 4)
        gate.become(.shut)
        await lost
        #expect(await !queued)
        #expect(gate.attempts == 1)

        gate.become(.silent)
        place.clock.advance(seconds: 1)
        // One may still be refused before it has anything tried.
        let isTried = try await eventually {
            #expect(await !records(), "before the attempt has ended")
            return gate.attempts == 2
        }
        gate.become(.open)
        #expect(try await eventually { await records() } && isTried && gate.attempts == 2)
        await mayBlock { [committer] in committer.stop() }
    }
}
