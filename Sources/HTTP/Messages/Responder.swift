// SPDX-License-Identifier: Apache-2.0

/// Answers requests.
///
/// Called on the event loop that owns the connection, in a task that prefers that loop: what is awaited may run elsewhere,
/// and the task comes back to the loop. While the loop is in `respond`, it serves nobody else, so never block in it.
package protocol Responder: Sendable {
    /// Answers one request. Called for many requests at once; the task is cancelled when a stopping server's time is up.
    func respond(to request: Request) async -> Response

    /// Is told that a turn of an event loop is over: every request that had arrived was given to ``respond(to:)`` and
    /// went as far as it could without waiting.
    ///
    /// Called on the loop's thread. Who hands work on to another thread can do so here, once for all of a turn.
    func turnEnded()
}

extension Responder {
    /// Does nothing: most responders hand on no work.
    package func turnEnded() {}
}
