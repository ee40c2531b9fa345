// SPDX-License-Identifier: Apache-2.0
import Configuration
import Dispatch
import OfferService
import ServiceRuntime
import Synchronization
import Testing

@testable import Stores

/// Searches, which wait for an idle processor, but not for ever.
struct SearchPoolTests {
    private let party: Party

    init() throws { party = .caller(try #require(CallerID("backend"))) }

    @Test func `runs while a processor is idle`() async {
        let pool = SearchPool(pause: Pause { _ in try? await Task.sleep(for: .seconds(3600)) })
        #expect(await pool.run(for: party) { ThreadScheduling.current } == .whenIdle)
    }

    @Test func `runs a search beside other work that did not end while a processor was idle`() async {
        let entered = AsyncStream<Void>.makeStream()
        let gate = DispatchSemaphore(value: 0)
        let pool = SearchPool(
            pause: Pause { milliseconds in
                #expect(milliseconds == 1_000)
                for await _ in entered.stream { return }
            }
        )
        let found = await pool.run(for: party) {
            let scheduling = ThreadScheduling.current
            if scheduling == .whenIdle {
                entered.continuation.yield()
                gate.wait()
            }
            return scheduling
        }
        #expect(found == .yielding)
        gate.signal()
    }

    @Test func `leaves out what was given up before it began`() async {
        let pauses = (1...3).map { _ in AsyncStream<Void>.makeStream() }
        let waiting = Mutex(pauses.map(\.stream))
        let gate = DispatchSemaphore(value: 0)
        let pool = SearchPool(pause: Pause { _ in for await _ in waiting.withLock({ $0.removeFirst() }) { return } })
        let (blocked, given) = (AsyncStream<Void>.makeStream(), AsyncStream<ThreadScheduling>.makeStream())
        async let first = pool.run(for: party) {
            guard ThreadScheduling.current == .whenIdle else { return }
            blocked.continuation.yield()
            gate.wait()
        }
        for await _ in blocked.stream { break }
        async let second: Void? = pool.run(for: party) { _ = given.continuation.yield(ThreadScheduling.current) }
        for pause in pauses.prefix(2) { pause.continuation.yield() }
        _ = await (first, second)
        gate.signal()
        // The idle thread takes its jobs in turn, so the second one is behind it.
        _ = await pool.run(for: party) {}
        for pause in pauses { pause.continuation.finish() }
        given.continuation.finish()
        #expect(await given.stream.reduce(into: []) { $0.append($1) } == [.yielding])
    }
}
