// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import ServiceRuntime
import TransparencyLog

/// A thread that sends to one receiver.
protocol EventThread: Sendable {
    var id: String { get }
    var kind: EndpointReport.Kind { get }
    var deliveryStatus: EndpointThread.Status { get }
    func start()
    /// Begins no more.
    func stop()
    /// Waits until the thread has ended, but not for longer.
    func wait(atMost microseconds: Int64)
}

/// Sends entries of the log to one receiver, on a thread of its own.
final class StreamThread: EventThread {
    private let stream: LogStream
    private let context: DeliveryContext
    private let isStopping = Guarded(false)
    private let hasEnded = Guarded(false)
    private let state = Guarded(EndpointThread.Status())

    init(_ stream: LogStream, _ context: DeliveryContext) {
        self.stream = stream
        self.context = context
    }

    var id: String { stream.id }
    var kind: EndpointReport.Kind { stream.kind }
    var deliveryStatus: EndpointThread.Status { state.withLock { $0 } }

    func start() {
        NamedThread.start(named: "log-stream") { [self] in
            NamedThread.yieldToOthers()
            run()
            hasEnded.withLock { $0 = true }
            hasEnded.wakeAll()
        }
    }

    func stop() {
        isStopping.withLock { $0 = true }
        isStopping.wakeAll()
    }

    func wait(atMost microseconds: Int64) { hasEnded.wait(atMost: microseconds) { $0 } }

    private func run() {
        var session: StreamSession?
        while !isStopping.withLock({ $0 }) {
            if let current = session, current.term != context.term { session = nil }
            var pause: Int64 = 500_000
            if let term = context.term {
                do throws(AuditReadError) {
                    let current = if let session { session } else { try begin(term) }
                    session = current
                    try current.step()
                    let deliveryStatus = current.deliveryStatus
                    state.withLock { $0 = deliveryStatus }
                    pause = current.hasMore ? 0 : 200_000
                } catch {
                    noteUnreadable(error)
                    (session, pause) = (nil, 1_000_000)
                }
            }
            if pause > 0 { isStopping.wait(atMost: pause) { $0 } }
        }
        if let session, session.term == context.term { session.end() }
    }

    private func begin(_ term: Int) throws(AuditReadError) -> StreamSession {
        let (isStopping, context) = (isStopping, context)
        return try StreamSession(stream, context, term: term) {
            isStopping.withLock { $0 } || context.term != term
        }
    }

    private func noteUnreadable(_ error: AuditReadError) {
        let isKnown = state.withLock { state in
            defer { (state.failure, state.isCircuitOpen) = (error.description, true) }
            return state.isCircuitOpen && state.failure == error.description
        }
        if isKnown { return }
        context.runtime.log(
            .warning,
            "entries could not be read for a stream",
            with: ["endpoint": .text(stream.id), "reason": .text(error.description)]
        )
    }
}
