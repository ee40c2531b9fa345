// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import ServiceRuntime
import Testing

@testable import OfferService

/// A thread that never ends; a wait for it takes all the time that is left.
private final class HungThread: EventThread {
    private let clock: SettableClock
    private let steps: Guarded<[String]>
    let id: String

    init(_ id: String, _ clock: SettableClock, _ steps: Guarded<[String]>) {
        (self.id, self.clock, self.steps) = (id, clock, steps)
    }

    var kind: EndpointReport.Kind { .webhook }
    var deliveryStatus: EndpointThread.Status { .init() }
    func start() {}
    func stop() { steps.withLock { $0.append("stop \(id)") } }

    func wait(atMost microseconds: Int64) {
        clock.advance(milliseconds: microseconds / 1000)
        steps.withLock { $0.append("wait \(id) \(microseconds)") }
    }
}

/// How the threads that deliver are ended.
struct EventDelivererTests {
    @Test func `waits for all threads at once, however many hang`() {
        let (clock, steps) = (SettableClock(), Guarded<[String]>([]))
        let threads = ["a", "b", "c"].map { HungThread($0, clock, steps) }
        let begin = clock.now.milliseconds
        EventDeliverer.end(threads, within: 5_000_000, clock.wallClock.stopwatch())
        #expect(clock.now.milliseconds - begin == 5000)
        let expected = ["stop a", "stop b", "stop c", "wait a 5000000", "wait b 0", "wait c 0"]
        #expect(steps.withLock { $0 } == expected)
    }
}
