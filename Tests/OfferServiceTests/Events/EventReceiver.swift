// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP
import ServiceRuntime
import TestSupport

@testable import Ledger
@testable import OfferService

/// A receiver of events and relayed notifications: an HTTP server on 127.0.0.1 that keeps what it took.
final class EventReceiver: Responder {
    struct Message: Sendable {
        let path: String
        /// `webhook-id`: the same in each attempt; `nil` of a relayed notification.
        let id: String?
        /// The value of the field Authorization.
        let authorization: String?
        let body: [UInt8]

        var json: Tree { (try? Tree(String(decoding: body, as: UTF8.self))) ?? .null }
    }

    /// What it answers, by the path and the number of earlier attempts there.
    typealias Answer = @Sendable (_ path: String, _ earlier: Int) async -> Response

    private let answer: Answer
    private let state = Guarded((taken: [Message](), attempts: [String: Int]()))

    init(_ answer: @escaping Answer = { _, _ in Response(status: 204) }) { self.answer = answer }

    func respond(to request: Request) async -> Response {
        let path = String(decoding: request.path, as: UTF8.self)
        func field(_ name: StaticString) -> String? {
            request.headers.only(name).map { String(decoding: $0, as: UTF8.self) }
        }
        let message = Message(
            path: path,
            id: field("webhook-id"),
            authorization: field("Authorization"),
            body: Array(request.body)
        )
        let earlier = state.withLock { state in
            defer { state.attempts[path, default: 0] += 1 }
            return state.attempts[path] ?? 0
        }
        let response = await answer(path, earlier)
        if (200..<300).contains(response.status) { state.withLock { $0.taken.append(message) } }
        return response
    }

    /// What was taken at a path, in the order of arrival, each message once.
    func taken(at path: String) -> [Message] {
        var seen: Set<String> = []
        return state.withLock { $0.taken }.filter { message in
            message.path == path && message.id.map { seen.insert($0).inserted } ?? true
        }
    }

    /// The bodies that were taken at a path, also those that came again.
    func bodies(at path: String) -> [[UInt8]] {
        state.withLock { $0.taken }.filter { $0.path == path }.map(\.body)
    }

    /// How many messages came to a path.
    func attempts(at path: String) -> Int { state.withLock { $0.attempts[path] ?? 0 } }
}

/// Runs `body` beside a receiver and a folder with an events file that `members` makes of the receiver's address.
///
/// The folder also has `events.secret` and `relay.token`.
func withEventReceiver(
    _ receiver: EventReceiver = EventReceiver(),
    events members: (_ origin: String) -> String,
    _ body: (_ eventsPath: String) async throws -> Void
) async throws {
    let folder = try TemporaryDirectory()
    try folder.write(Array("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".utf8), to: "events.secret")
    try folder.write(Array("a-token-of-16-or-more".utf8), to: "relay.token")
    let server = try Server(ServerConfiguration(loops: 1), responder: receiver)
    try server.start()
    let text = #"{privateNetworks: ["127.0.0.1"], \#(members("http://127.0.0.1:\(server.port)"))}"#
    let path = try folder.write(Array(text.utf8), to: "events")
    do {
        try await body(path)
    } catch {
        await server.stop()
        throw error
    }
    await server.stop()
}

extension TestService {
    /// Waits until a receiver of the events file has all that the log has for it.
    func hasDelivered(to id: String) async throws -> Bool {
        let connection = try ledger.openForReading()
        return try await eventually {
            // What was delivered is stored, and what failed is sent again, by the clock of this service.
            clock.advance(seconds: 1)
            let size = EventPosition(index: try EventReader(connection: connection).size()).number
            let table = EndpointTable(connection: connection)
            return try table.row(id)?.nextPosition == size && table.heldUp(id).isEmpty
        }
    }
}
