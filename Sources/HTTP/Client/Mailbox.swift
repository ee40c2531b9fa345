// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What passes between a client's callers and its thread; each order is answered exactly once.
final class Mailbox: Sendable {
    /// What the thread has to do.
    struct Delivery: Sendable {
        var orders: [Order] = []
        var cancelled: [UInt] = []
    }

    private enum Stage {
        case new, open, closed
    }

    /// The phase of an order that has a number but no response yet.
    private enum Phase {
        case reserved, cancelledEarly, accepted
    }

    private struct State {
        var stage = Stage.new
        var delivery = Delivery()
        var phases: [UInt: Phase] = [:]
        /// Orders of each origin that have not ended.
        var inFlight: [Origin: Int] = [:]
        var lastNumber: UInt = 0
        var statistics = ClientStatistics()
    }

    private let state = Mutex(State())
    private let limitPerOrigin: Int

    init(limitPerOrigin: Int) {
        self.limitPerOrigin = limitPerOrigin
    }

    var statistics: ClientStatistics { state.withLock { $0.statistics } }

    /// Takes orders from now on; false if it was open before or is closed.
    func open() -> Bool {
        state.withLock { state in
            guard state.stage == .new else { return false }
            state.stage = .open
            return true
        }
    }

    /// Takes no more orders; those that the thread has not collected are refused.
    func close() {
        let left = state.withLock { state in
            state.stage = .closed
            defer { state.delivery = Delivery() }
            return state.delivery.orders
        }
        for order in left { close(order, with: .failure(.stopped), connectionsOpened: 0) }
    }

    /// Reserves the number of a future order; the caller must then call ``put(_:)`` for it.
    func reserveNumber() -> UInt {
        state.withLock { state in
            state.lastNumber += 1
            state.phases[state.lastNumber] = .reserved
            return state.lastNumber
        }
    }

    /// Accepts an order, or answers it at once.
    func put(_ order: Order) {
        let refusal = state.withLock { state -> ClientError? in
            let refusal = self.refusal(of: order, state)
            state.phases[order.number] = refusal == nil ? .accepted : nil
            guard refusal == nil else { return refusal }
            state.inFlight[order.request.origin, default: 0] += 1
            state.statistics.inFlight += 1
            state.delivery.orders.append(order)
            return nil
        }
        if let refusal { order.continuation.resume(returning: .failure(refusal)) }
    }

    private func refusal(of order: Order, _ state: borrowing State) -> ClientError? {
        guard state.stage == .open else { return .stopped }
        guard state.phases[order.number] == .reserved else { return .cancelled }
        guard state.inFlight[order.request.origin] ?? 0 < limitPerOrigin else {
            return .tooManyWaiting(limit: limitPerOrigin)
        }
        return nil
    }

    /// Requests the cancellation of an order in any phase.
    func cancel(_ number: UInt) {
        state.withLock { state in
            switch state.phases[number] {
            case .reserved: state.phases[number] = .cancelledEarly
            case .accepted: state.delivery.cancelled.append(number)
            case .cancelledEarly, nil: break
            }
        }
    }

    /// All that has come since the last time; `nil` once closed.
    func collect() -> Delivery? {
        state.withLock { state in
            guard state.stage == .open else { return nil }
            defer { state.delivery = Delivery() }
            return state.delivery
        }
    }

    /// Answers an accepted order.
    func close(_ order: Order, with outcome: Result<ClientResponse, ClientError>, connectionsOpened: Int) {
        state.withLock { state in
            state.phases[order.number] = nil
            let left = state.inFlight[order.request.origin, default: 1] - 1
            state.inFlight[order.request.origin] = left > 0 ? left : nil
            state.statistics.inFlight -= 1
            state.statistics.connectionsOpened += connectionsOpened
            if case .success = outcome { state.statistics.answered += 1 } else { state.statistics.failed += 1 }
        }
        order.continuation.resume(returning: outcome)
    }
}
