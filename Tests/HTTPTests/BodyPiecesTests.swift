// SPDX-License-Identifier: Apache-2.0
import HTTP
import Synchronization
import TestSupport
import Testing

/// Answers that are made while they are sent.
@Suite("Bodies in pieces", .mayBlock)
struct BodyPiecesTests {
    /// Answers with `first` and those pieces, and says how many were made.
    private final class Maker: Sendable {
        let made = Mutex(0)
        let pieces: [[UInt8]]
        let isInterrupted: Bool

        init(_ pieces: [[UInt8]], isInterrupted: Bool = false) {
            (self.pieces, self.isInterrupted) = (pieces, isInterrupted)
        }

        var responder: RecordingResponder {
            RecordingResponder { [self] request in
                guard String(decoding: request.path, as: UTF8.self) == "/pieces" else {
                    return await RecordingResponder.echo(request)
                }
                made.withLock { $0 = 0 }
                var response = Response(status: 200, headers: [("Content-Length", "5")], body: Array("first|".utf8))
                response.rest = BodyPieces { [self] () async throws(BodyPieces.Interruption) in
                    let place = made.withLock { made in
                        made += 1
                        return made - 1
                    }
                    if place == pieces.count, isInterrupted { throw BodyPieces.Interruption() }
                    return place < pieces.count ? pieces[place] : nil
                }
                return response
            }
        }
    }

    @Test func `arrive whole and in order, in chunks, and leave the connection for the next request`() async throws {
        let pieces = [Array("second|".utf8), [], [UInt8](repeating: 0x78, count: 300_000), Array("|end".utf8)]
        let maker = Maker(pieces)
        try await withServer(ServerConfiguration(loops: 1), maker.responder) { server in
            let client = try RawHTTPClient(port: server.port)
            // The next request comes before the answer has ended.
            client.send(request("GET", "/pieces") + request("GET", "/next"))
            let answer = try client.readAnswer()
            #expect(answer.status == 200 && answer.headers["transfer-encoding"] == "chunked")
            #expect(answer.headers["content-length"] == nil)
            #expect(answer.body == "first|" + String(decoding: pieces.joined(), as: UTF8.self))
            #expect(try client.readAnswer().body == "GET /next ")
        }
    }

    @Test func `end the connection without an end of the body where a piece can't be had`() async throws {
        let maker = Maker([Array("second".utf8)], isInterrupted: true)
        try await withServer(ServerConfiguration(loops: 1), maker.responder) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request("GET", "/pieces"))
            let received = String(decoding: try #require(client.readToEnd()), as: UTF8.self)
            #expect(received.hasSuffix("6\r\nsecond\r\n"), "\(received)")
        }
    }

    @Test func `are made no faster than the client takes them`() async throws {
        let maker = Maker(Array(repeating: [UInt8](repeating: 0x78, count: 1 << 20), count: 64))
        try await withServer(ServerConfiguration(loops: 1), maker.responder) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request("GET", "/pieces"))
            #expect(try await eventually { maker.made.withLock { $0 > 0 } })
            try await Task.sleep(for: .milliseconds(300))
            let made = maker.made.withLock { $0 }
            #expect(made < 32, "what the socket does not take must not pile up")
            #expect(try client.readAnswer().body.utf8.count == 6 + 64 << 20)
        }
    }

    @Test func `are left out of an answer to HEAD`() async throws {
        let maker = Maker([Array("second".utf8)])
        try await withServer(ServerConfiguration(loops: 1), maker.responder) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request("HEAD", "/pieces") + request("GET", "/next"))
            let answer = try client.readAnswer(toHead: true)
            #expect(answer.headers["transfer-encoding"] == "chunked" && answer.body.isEmpty)
            #expect(try client.readAnswer().body == "GET /next ")
            #expect(maker.made.withLock { $0 } == 0)
        }
    }
}
