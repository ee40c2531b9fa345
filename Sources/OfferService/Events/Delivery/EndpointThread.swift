// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import OfferDomain
import ServiceRuntime
import Storage
import TransparencyLog

/// Delivers to one endpoint, on a thread of its own.
final class EndpointThread: EventThread {
    /// What is known of the endpoint, for health, metrics and the console.
    struct Status: Sendable {
        /// Entries of the log that were not examined yet, or that have waiting events.
        var backlog: Int64 = 0
        /// Messages that failed and are tried again.
        var retrying = 0
        var oldestFirstAttemptAt: Timestamp?
        var disabledReason: String?
        /// The last failure; `nil` once it has taken a message.
        var failure: String?
        var isCircuitOpen = false
        var deliveredAt: Timestamp?

        /// As metrics call it.
        var state: EndpointReport.State {
            if disabledReason != nil { return .disabled }
            return isCircuitOpen ? .paused : retrying > 0 ? .waiting : .delivering
        }
    }

    private struct Inbox {
        var results: [(position: Int64, outcome: DeliveryOutcome)] = []
        var isStopping = false
    }

    let endpoint: EventEndpoint
    private let context: DeliveryContext
    private let inbox = Guarded(Inbox())
    private let hasEnded = Guarded(false)
    private let state = Guarded(Status())

    init(_ endpoint: EventEndpoint, _ context: DeliveryContext) {
        self.endpoint = endpoint
        self.context = context
    }

    var id: String { endpoint.id }
    var kind: EndpointReport.Kind { endpoint.kind }
    var deliveryStatus: Status { state.withLock { $0 } }

    func start() {
        NamedThread.start(named: "events") { [self] in
            NamedThread.yieldToOthers()
            run()
            hasEnded.withLock { $0 = true }
            hasEnded.wakeAll()
        }
    }

    /// Begins no more.
    func stop() {
        inbox.withLock { $0.isStopping = true }
        inbox.wakeAll()
    }

    func wait(atMost microseconds: Int64) { hasEnded.wait(atMost: microseconds) { $0 } }

    // MARK: - The thread

    private func run() {
        var session: DeliverySession?
        var pause = Self.longestPause
        while !inbox.withLock({ $0.isStopping }) {
            if let current = session, current.term != context.term { session = nil }
            if session == nil, let term = context.term { session = begin(term) }
            if let current = session {
                do throws(AuditReadError) {
                    pause = try step(current)
                } catch {
                    noteUnreadable("events could not be read", error)
                    (session, pause) = (nil, 1_000_000)
                }
            } else {
                // Answers to what another session has sent.
                _ = drained()
                pause = 500_000
            }
            inbox.wait(atMost: pause) { $0.isStopping || !$0.results.isEmpty }
        }
        if let session, session.term == context.term { end(session) }
    }

    /// Waits a moment for answers in flight: a message that the endpoint took need not be sent again.
    private func end(_ session: DeliverySession) {
        let stopwatch = context.runtime.clock.stopwatch()
        session.take(drained())
        for _ in 0..<30 where !session.isIdle && stopwatch.microseconds < 3_000_000 {
            inbox.wait(atMost: 100_000) { !$0.results.isEmpty }
            session.take(drained())
        }
        session.store()
    }

    /// The maximum delay in microseconds before new events are seen.
    private static let longestPause: Int64 = 200_000

    private func begin(_ term: Int) -> DeliverySession? {
        do throws(AuditReadError) {
            return try DeliverySession(endpoint, context, term: term)
        } catch {
            noteUnreadable("the position of an endpoint could not be read", error)
            return nil
        }
    }

    private func noteUnreadable(_ message: StaticString, _ error: AuditReadError) {
        let isKnown = state.withLock { state in
            defer { (state.failure, state.isCircuitOpen) = (error.description, true) }
            return state.isCircuitOpen && state.failure == error.description
        }
        if isKnown { return }
        context.runtime.log(
            .warning,
            message,
            with: ["endpoint": .text(endpoint.id), "reason": .text(error.description)]
        )
    }

    private func drained() -> [(position: Int64, outcome: DeliveryOutcome)] {
        inbox.withLock { inbox in
            defer { inbox.results = [] }
            return inbox.results
        }
    }

    /// - Returns: The time in microseconds without anything to do.
    private func step(_ session: DeliverySession) throws(AuditReadError) -> Int64 {
        session.take(drained())
        try session.follow()
        while let (delivery, request) = session.start() { send(request, of: delivery) }
        session.storeIfDue()
        let deliveryStatus = session.deliveryStatus
        state.withLock { $0 = deliveryStatus }
        return min(Self.longestPause, session.hasMore ? 1_000 : Self.longestPause)
    }

    private func send(_ request: ClientRequest, of delivery: Delivery) {
        let position = delivery.position.number
        Task { [transport = context.transport, inbox] in
            let outcome: DeliveryOutcome
            do throws(ClientError) {
                outcome = .answered(try await transport.send(request))
            } catch {
                outcome = .failed(error)
            }
            inbox.withLock { $0.results.append((position, outcome)) }
            inbox.wakeOne()
        }
    }
}

/// What came of one attempt.
enum DeliveryOutcome: Sendable {
    case answered(ClientResponse)
    case failed(ClientError)
}
