// SPDX-License-Identifier: Apache-2.0

/// A request on its way to the responder, and who sends the answer.
struct Assignment: Sendable {
    let request: Request
    let connection: Connection
}

/// A task that passes one request after the other to the responder; they may come from any connection.
///
/// It reuses the memory that calls of the responder need; one task per request would allocate that memory and itself
/// each time. A cancelled task answers nothing more; tasks are cancelled only when the server stops.
///
/// `@unchecked Sendable`: apart from the responder's own work, touched only on the thread of the event loop.
@safe
final class RequestTask: @unchecked Sendable {
    private var task: Task<Void, Never>?
    private var assignment: Assignment?
    private var waiting: UnsafeContinuation<Void, Never>?

    /// Begins with that request, soon.
    init(_ first: Assignment, on server: ServerLoop) {
        assignment = first
        task = Task(executorPreference: server.loop) { await self.work(for: server) }
    }

    /// Goes on with that request, soon; `nil` ends the task.
    func resume(with next: Assignment?) {
        assignment = next
        let waiting = unsafe waiting
        unsafe self.waiting = nil
        unsafe waiting?.resume()
    }

    /// Asks the responder to give up.
    func cancel() {
        task?.cancel()
    }

    private func work(for server: ServerLoop) async {
        let responder = server.state.responder
        while let assignment = await nextAssignment(server) {
            let response = await responder.respond(to: assignment.request)
            // Then the connection is gone too, and this is not the thread that may look at it.
            guard !server.loop.hasEnded else { return }
            precondition(server.loop.isCurrent, "a task has left its event loop")
            assignment.connection.answer(with: response, answersHead: assignment.request.method == .head)
            server.requestEnds()
        }
    }

    private func nextAssignment(_ server: ServerLoop) async -> Assignment? {
        if assignment == nil {
            guard server.keeps(self) else { return nil }
            await unsafe withUnsafeContinuation { unsafe waiting = $0 }
        }
        defer { assignment = nil }
        return assignment
    }
}
