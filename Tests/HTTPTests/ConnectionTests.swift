// SPDX-License-Identifier: Apache-2.0
import HTTP
import TestSupport
import Testing

/// What a connection does with bytes as they come, whenever they come.
///
/// No deadline ends anything here.
@Suite("Connections", .mayBlock, .timeLimit(.minutes(1)))
struct ConnectionTests {
    static let patient = DeadlineTests.configuration { _ in }

    @Test
    func `answers two requests wherever the first piece ends`() async throws {
        try await withServer(Self.patient) { server in
            let stream = Array((request("POST", "/a", body: "hello") + request("GET", "/b")).utf8)
            for cut in 1..<stream.count {
                let client = try RawHTTPClient(port: server.port)
                client.send(stream[..<cut])
                try await Task.sleep(for: .milliseconds(1))
                client.send(stream[cut...])
                #expect(try client.readAnswer().body == "POST /a hello", "cut at \(cut)")
                #expect(try client.readAnswer().body == "GET /b ", "cut at \(cut)")
            }
        }
    }

    @Test
    func `passes on no request before the earlier one is answered`() async throws {
        let gate = Gate()
        let responder = RecordingResponder { request in
            await gate.pass()
            return await RecordingResponder.echo(request)
        }
        try await withServer(Self.patient, responder) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request("GET", "/first") + request("GET", "/second"))
            #expect(try await eventually { responder.paths == ["/first"] })
            // These come while nothing is read.
            client.send(request("GET", "/third"))
            client.finishSending()
            let other = try RawHTTPClient(port: server.port)
            other.send(request("GET", "/other"))
            #expect(try await eventually { responder.paths == ["/first", "/other"] })
            gate.open()
            for path in ["/first", "/second", "/third"] { #expect(try client.readAnswer().body == "GET \(path) ") }
            #expect(client.isClosedByServer())
        }
    }

    @Test(arguments: [
        "GET", "GET / HTTP/1.1\r\nHost", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc",
    ])
    func `closes without a word when the client finishes midway`(sent: String) async throws {
        try await withServer(Self.patient) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request("GET", "/whole") + sent)
            client.finishSending()
            #expect(try client.readAnswer().body == "GET /whole ")
            #expect(client.isClosedByServer())
            #expect(server.statistics.requests == 1)
        }
    }

    @Test
    func `reads no further while a client does not take its answers`() async throws {
        let large = String(repeating: "x", count: 16 << 20)
        let responder = RecordingResponder { _ in Response(status: 200, body: Array(large.utf8)) }
        try await withServer(Self.patient, responder) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request("GET", "/0"))
            #expect(try await eventually { client.hasInput })
            for number in 1..<4 { client.send(request("GET", "/\(number)")) }
            // Others are served meanwhile.
            let other = try RawHTTPClient(port: server.port)
            other.send(request("GET", "/other"))
            #expect(try other.readAnswer().body == large)
            #expect(responder.paths.sorted() == ["/0", "/other"])
            for _ in 0..<4 { #expect(try client.readAnswer().body == large) }
        }
    }

    @Test
    func `forgets a client that is reset while its answer waits`() async throws {
        let large = [UInt8](repeating: 0x78, count: 64 << 20)
        let responder = RecordingResponder { _ in Response(status: 200, body: large) }
        try await withServer(Self.patient, responder) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request())
            #expect(try await eventually { client.hasInput })
            client.reset()
            #expect(try await eventually { server.statistics.openConnections == 0 })
        }
    }

    @Test(arguments: ["GET /more HTTP/1.1\r\n", String(repeating: "x", count: 1 << 20)])
    func `lets a client that sent too much read its last answer`(more: String) async throws {
        let responder = RecordingResponder()
        try await withServer(Self.patient, responder) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request("GET", "/last", "Connection: close\r\n") + more)
            #expect(!client.isReset(within: 100))
            #expect(try client.readAnswer().body == "GET /last ")
            #expect(client.isClosedByServer())
            client.close()
            #expect(try await eventually { server.statistics.openConnections == 0 })
            #expect(responder.paths == ["/last"])
        }
    }

    @Test
    func `asks for no body that has begun to come`() async throws {
        try await withServer(Self.patient) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhe")
            // When this is answered, the server has read that.
            let other = try RawHTTPClient(port: server.port)
            other.send(request())
            #expect(try other.readAnswer().status == 200)
            client.send("llo")
            let answer = try client.readAnswer()
            #expect(answer.status == 200)
            #expect(answer.body == "POST / hello")
        }
    }

    @Test
    func `serves more clients at once than it keeps tasks for, again and again`() async throws {
        let gate = Gate()
        let responder = RecordingResponder { request in
            await gate.pass()
            return await RecordingResponder.echo(request)
        }
        try await withServer(Self.patient, responder) { server in
            let clients = try (0..<200).map { _ in try RawHTTPClient(port: server.port) }
            for client in clients { client.send(request("GET", "/first")) }
            #expect(try await eventually { responder.paths.count == clients.count })
            gate.open()
            for client in clients { #expect(try client.readAnswer().body == "GET /first ") }
            for client in clients { client.send(request("GET", "/again")) }
            for client in clients { #expect(try client.readAnswer().body == "GET /again ") }
        }
    }
}
