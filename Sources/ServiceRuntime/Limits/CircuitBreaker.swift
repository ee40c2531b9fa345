// SPDX-License-Identifier: Apache-2.0

/// Stops requests to a server that does not answer: while open, it refuses all; after a while it lets one through to
/// test the server.
///
/// Pure: the caller passes times, in milliseconds of any clock that does not jump. Results of requests from before the
/// last change of state do not count, so a request that hung for long does not open a breaker that has closed again.
package struct CircuitBreaker: Sendable {
    /// When it opens, and for how long.
    package struct Policy: Hashable, Sendable {
        /// Failures in a row that open it.
        package let failures: Int
        package let firstOpenMilliseconds: Int64
        /// Each failed attempt to close doubles the time, up to this.
        package let longestOpenMilliseconds: Int64
        /// Requests under way at once; one more is refused.
        package let concurrent: Int

        package init(
            failures: Int = 5,
            firstOpenMilliseconds: Int64 = 2000,
            longestOpenMilliseconds: Int64 = 60_000,
            concurrent: Int = 128
        ) {
            self.failures = failures
            self.firstOpenMilliseconds = firstOpenMilliseconds
            self.longestOpenMilliseconds = longestOpenMilliseconds
            self.concurrent = concurrent
        }
    }

    /// The state, as gauges report it.
    package enum State: String, CaseIterable, Hashable, Sendable {
        case closed, open, halfOpen = "half-open"
    }

    /// Whether a request may be sent.
    package enum Passage: Hashable, Sendable {
        case admitted(Permit)
        /// Not before that time.
        case refused(until: Int64)
        case tooManyAtOnce
    }

    /// To be given back by ``settle(_:_:at:)``, once.
    package struct Permit: Hashable, Sendable {
        fileprivate let generation: Int
    }

    /// The outcome of a request.
    package enum Result: Hashable, Sendable {
        case succeeded, failed
        /// The server would not take any other request either, so that no further failure is needed.
        case refusedAll
        /// Says nothing about the server: the request was cancelled, or not sent.
        case abandoned
    }

    private let policy: Policy
    private var generation = 0
    private var underWay = 0
    private var failuresInARow = 0
    /// How often it has opened since it was last closed.
    private var openings = 0
    private var openUntil: Int64?
    private var isProbing = false

    package init(_ policy: Policy = Policy()) {
        self.policy = policy
    }

    /// The state at that time.
    package func state(at now: Int64) -> State {
        guard let openUntil else { return .closed }
        return isProbing || now >= openUntil ? .halfOpen : .open
    }

    /// Whether a request may be sent now.
    package mutating func admit(at now: Int64) -> Passage {
        if let openUntil {
            guard now >= openUntil else { return .refused(until: openUntil) }
            guard !isProbing else { return .refused(until: now + policy.firstOpenMilliseconds) }
            isProbing = true
            generation += 1
        } else if underWay >= policy.concurrent {
            return .tooManyAtOnce
        }
        underWay += 1
        return .admitted(Permit(generation: generation))
    }

    /// Takes in how a request ended.
    ///
    /// - Returns: The new state, if it changed.
    @discardableResult
    package mutating func settle(_ permit: Permit, _ result: Result, at now: Int64) -> State? {
        underWay -= 1
        guard permit.generation == generation else { return nil }
        let wasProbing = isProbing
        isProbing = false
        switch result {
        case .abandoned: return nil
        case .succeeded:
            failuresInARow = 0
            return wasProbing ? close() : nil
        case .failed, .refusedAll:
            failuresInARow += 1
            guard wasProbing || result == .refusedAll || failuresInARow >= policy.failures else { return nil }
            return open(at: now)
        }
    }

    private mutating func close() -> State {
        openUntil = nil
        openings = 0
        generation += 1
        return .closed
    }

    private mutating func open(at now: Int64) -> State {
        let doublings = Int64(min(openings, 20))
        openUntil = now + min(policy.longestOpenMilliseconds, policy.firstOpenMilliseconds << doublings)
        openings += 1
        failuresInARow = 0
        generation += 1
        return .open
    }
}
