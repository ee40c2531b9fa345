// SPDX-License-Identifier: Apache-2.0

/// Answers requests.
///
/// The server calls it on the event loop that owns the connection, in a task that prefers that loop. Awaited work may
/// run elsewhere; then the task returns to the loop. Never block in `respond`: the loop serves nothing else meanwhile.
package protocol Responder: Sendable {
    /// Answers one request. Called for many requests at once; the task is cancelled when a stopping server's time is up.
    func respond(to request: Request) async -> Response

    /// Called when a turn of an event loop is over: every request that had arrived was given to ``respond(to:)`` and
    /// went as far as it could without waiting.
    ///
    /// Called on the loop's thread. A responder that passes work to another thread can do so here, once per turn.
    func turnEnded()
}

extension Responder {
    /// Does nothing: most responders hand on no work.
    package func turnEnded() {}
}
