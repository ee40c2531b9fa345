// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What a server has done since it was made; the numbers are read one after the other, not at one instant.
package struct ServerStatistics: Hashable, Sendable {
    /// Connections that are open now.
    package var openConnections = 0
    /// All connections that ever were.
    package var acceptedConnections = 0
    /// Requests handed to the responder.
    package var requests = 0
    /// Connections that ended because they were late, with or without a response (408).
    package var timedOutConnections = 0
    /// Connections closed to make room for others.
    package var evictedConnections = 0
    /// What the server answered by itself, by ``Rejection/kind``; a kind that did not occur is absent.
    package var rejections: [String: Int] = [:]
}

/// The counts of one event loop: written by its thread only, so the cache line stays with one core, and read by any.
final class LoopCounters: Sendable {
    let openConnections = Atomic(0)
    let acceptedConnections = Atomic(0)
    let requests = Atomic(0)
    let timedOutConnections = Atomic(0)
    let evictedConnections = Atomic(0)
    private let rejections = Mutex<[String: Int]>([:])

    func count(_ rejection: Rejection) {
        rejections.withLock { $0[rejection.kind, default: 0] += 1 }
    }

    func add(to statistics: inout ServerStatistics) {
        statistics.openConnections += openConnections.load(ordering: .relaxed)
        statistics.acceptedConnections += acceptedConnections.load(ordering: .relaxed)
        statistics.requests += requests.load(ordering: .relaxed)
        statistics.timedOutConnections += timedOutConnections.load(ordering: .relaxed)
        statistics.evictedConnections += evictedConnections.load(ordering: .relaxed)
        statistics.rejections.merge(rejections.withLock { $0 }, uniquingKeysWith: +)
    }
}

extension Atomic where Value == Int {
    /// Adds to a number that only this thread writes: a plain load and store, without the bus lock.
    func increase(by amount: Int = 1) {
        store(load(ordering: .relaxed) &+ amount, ordering: .relaxed)
    }
}
