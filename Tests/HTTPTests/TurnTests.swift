// SPDX-License-Identifier: Apache-2.0
import HTTP
import Synchronization
import TestSupport
import Testing

/// Answers no request of a turn before the turn is over.
private final class TurnResponder: Responder {
    private let waiting = Mutex<[CheckedContinuation<Int, Never>]>([])

    func respond(to request: Request) async -> Response {
        let count = await withCheckedContinuation { answer in waiting.withLock { $0.append(answer) } }
        return Response(status: 200, headers: [], body: Array("\(count)".utf8))
    }

    func turnEnded() {
        let answers = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for answer in answers { answer.resume(returning: answers.count) }
    }
}

/// What arrives together can be handed on together.
struct TurnTests {
    @Test func `tells the responder when all requests of a turn have gone as far as they can`() async throws {
        try await withServer(ServerConfiguration(loops: 1), TurnResponder()) { server in
            let clients = try (0..<8).map { _ in try RawHTTPClient(port: server.port) }
            for round in 0..<20 {
                for client in clients { #expect(client.send("GET /\(round) HTTP/1.1\r\nHost: a\r\n\r\n")) }
                for client in clients { #expect(try client.readAnswer().status == 200) }
            }
        }
    }
}
