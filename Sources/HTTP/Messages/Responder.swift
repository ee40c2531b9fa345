// SPDX-License-Identifier: Apache-2.0

/// Answers requests.
///
/// Called on the event loop that owns the connection, in a task that prefers that loop: what is awaited may run elsewhere,
/// and the task comes back to the loop. While the loop is in `respond`, it serves nobody else, so never block in it.
package protocol Responder: Sendable {
    /// Answers one request. Called for many requests at once; the task is cancelled when a stopping server's time is up.
    func respond(to request: Request) async -> Response
}
