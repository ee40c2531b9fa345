// SPDX-License-Identifier: Apache-2.0
import HTTP
import TestSupport
import Testing

@Suite("Serving over loopback", .mayBlock)
struct ServerTests {
    @Test
    func `hands a request over whole and sends the answer back`() async throws {
        try await withServer { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request("POST", "/a/b%20c?d=e", body: "hello"))
            let answer = try client.readAnswer()
            #expect(answer.status == 200)
            #expect(answer.body == "POST /a/b%20c?d=e hello")
            #expect(answer.headers["content-length"] == "23")
            #expect(answer.headers["content-type"] == "text/plain")
            #expect(answer.headers["date"] != nil)
            #expect(answer.headers["connection"] == nil)
        }
    }

    @Test
    func `keeps a connection for the next request`() async throws {
        try await withServer { server in
            let client = try RawHTTPClient(port: server.port)
            for number in 0..<20 {
                client.send(request("GET", "/\(number)"))
                #expect(try client.readAnswer().body == "GET /\(number) ")
            }
            #expect(server.statistics.acceptedConnections == 1)
            #expect(server.statistics.requests == 20)
        }
    }

    @Test
    func `answers requests that were sent in one piece, in their order`() async throws {
        try await withServer { server in
            let client = try RawHTTPClient(port: server.port)
            client.send((0..<50).map { request("POST", "/\($0)", body: "body \($0)") }.joined())
            for number in 0..<50 {
                #expect(try client.readAnswer().body == "POST /\(number) body \(number)")
            }
        }
    }

    @Test
    func `answers a request that comes byte by byte`() async throws {
        try await withServer { server in
            let client = try RawHTTPClient(port: server.port)
            for byte in request("POST", "/slow", body: "hello").utf8 { client.send([byte]) }
            #expect(try client.readAnswer().body == "POST /slow hello")
        }
    }

    @Test(arguments: ["close", "Close", "keep-alive, close"])
    func `closes when the client asks`(option: String) async throws {
        try await withServer { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request("GET", "/", "Connection: \(option)\r\n"))
            let answer = try client.readAnswer()
            #expect(answer.status == 200)
            #expect(answer.headers["connection"] == "close")
            #expect(client.isClosedByServer())
        }
    }

    @Test
    func `closes when the responder asks`() async throws {
        let responder = RecordingResponder { _ in Response(status: 200, headers: [("Connection", "close")]) }
        try await withServer(ServerConfiguration(loops: 1), responder) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request() + request("GET", "/second"))
            #expect(try client.readAnswer().headers["connection"] == "close")
            #expect(client.isClosedByServer())
            #expect(responder.paths == ["/"])
        }
    }

    @Test
    func `answers HEAD with the length of a body but without it`() async throws {
        try await withServer { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request("HEAD", "/a") + request("GET", "/b"))
            let answer = try client.readAnswer(toHead: true)
            #expect(answer.headers["content-length"] == "8")
            #expect(try client.readAnswer().body == "GET /b ")
        }
    }

    @Test(arguments: [204, 304])
    func `sends no body with a status that has none`(status: Int) async throws {
        let responder = RecordingResponder { _ in Response(status: status, body: Array("left out".utf8)) }
        try await withServer(ServerConfiguration(loops: 1), responder) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request() + request())
            #expect(try client.readAnswer().status == status)
            #expect(try client.readAnswer().status == status)
        }
    }

    @Test
    func `lets no response break its own head apart`() async throws {
        let responder = RecordingResponder { _ in
            Response(
                status: 200,
                headers: [
                    ("X-Split", "a\r\nX-Injected: b"), ("X Bad", "c"), ("Content-Length", "999"),
                    ("transfer-encoding", "chunked"), ("X-Good", "d"),
                ],
                body: Array("body".utf8)
            )
        }
        try await withServer(ServerConfiguration(loops: 1), responder) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request())
            let answer = try client.readAnswer()
            #expect(answer.body == "body")
            #expect(answer.headers.keys.sorted() == ["content-length", "date", "x-good"])
        }
    }

    @Test
    func `turns an impossible status into 500`() async throws {
        let responder = RecordingResponder { _ in Response(status: 99, body: Array("left out".utf8)) }
        try await withServer(ServerConfiguration(loops: 1), responder) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request())
            let answer = try client.readAnswer()
            #expect(answer.status == 500)
            #expect(answer.body.isEmpty)
        }
    }

    @Test
    func `answers a client that has finished sending`() async throws {
        try await withServer { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request("GET", "/a"))
            client.finishSending()
            #expect(try client.readAnswer().body == "GET /a ")
            #expect(client.isClosedByServer())
        }
    }

    @Test
    func `sends a large answer whole to a client that reads late, or has finished sending`() async throws {
        let large = String(repeating: "0123456789abcdef", count: 1 << 18)
        let responder = RecordingResponder { _ in Response(status: 200, body: Array(large.utf8)) }
        try await withServer(ServerConfiguration(loops: 1), responder) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request() + request())
            #expect(try client.readAnswer().body == large)
            #expect(try client.readAnswer().body == large)

            let finished = try RawHTTPClient(port: server.port)
            finished.send(request())
            finished.finishSending()
            #expect(try await eventually { finished.hasInput })
            #expect(try finished.readAnswer().body == large)
        }
    }

    @Test
    func `asks for the body when the client waits to be asked`() async throws {
        try await withServer { server in
            let client = try RawHTTPClient(port: server.port)
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
            #expect(try client.readAnswer().status == 100)
            client.send("hello")
            #expect(try client.readAnswer().body == "POST / hello")
            client.send(request("GET", "/next"))
            #expect(try client.readAnswer().body == "GET /next ")
        }
    }

    @Test
    func `brings a task back to its event loop`() async throws {
        let responder = RecordingResponder { request in
            try? await Task.sleep(for: .milliseconds(1))
            await Task.detached {}.value
            return await RecordingResponder.echo(request)
        }
        try await withServer(ServerConfiguration(loops: 2), responder) { server in
            let clients = try (0..<20).map { _ in try RawHTTPClient(port: server.port) }
            for client in clients { client.send(request("GET", "/a")) }
            for client in clients { #expect(try client.readAnswer().body == "GET /a ") }
        }
    }

    @Test
    func `refuses an address that is already in use`() async throws {
        try await withServer(ServerConfiguration(loops: 2)) { server in
            let taken = ServerError.cannotListen(
                address: "127.0.0.1",
                port: server.port,
                reason: "Address already in use"
            )
            #expect(throws: taken) {
                try Server(ServerConfiguration(port: server.port, loops: 2), responder: RecordingResponder())
            }
        }
    }

    @Test
    func `refuses an address that is none`() {
        #expect(throws: ServerError.addressInvalid("localhost")) {
            try Server(ServerConfiguration(address: "localhost"), responder: RecordingResponder())
        }
    }
}
