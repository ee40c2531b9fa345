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
@Suite(.mayBlock) struct TurnTests {
    @Test func `gives clients that read late their own answers, whatever others receive meanwhile`() async throws {
        let responder = RecordingResponder { request in
            let path = String(decoding: request.path, as: UTF8.self)
            let size = path.hasPrefix("/small") ? 1 : 400 + path.utf8.count % 7 * 100
            return Response(status: 200, body: Array(String(repeating: path, count: size).utf8))
        }
        try await withServer(ServerConfiguration(loops: 1), responder) { server in
            let late = try (0..<3).map { _ in try RawHTTPClient(port: server.port) }
            let quick = try RawHTTPClient(port: server.port)
            for (number, client) in late.enumerated() {
                let requests = (0..<800).map { "GET /\(number)/\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }
                #expect(client.send(requests.joined()))
            }
            for round in 0..<50 {
                #expect(quick.send("GET /small\(round) HTTP/1.1\r\nHost: a\r\n\r\n"))
                #expect(try quick.readAnswer().body == "/small\(round)")
            }
            #expect(server.statistics.requests < 50 + 3 * 800, "the sockets took all unread answers")
            for round in 0..<800 {
                for (number, client) in late.enumerated() {
                    let path = "/\(number)/\(round)"
                    let body = try client.readAnswer().body
                    #expect(body == String(repeating: path, count: 400 + path.utf8.count % 7 * 100), "\(path)")
                }
            }
        }
    }

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
