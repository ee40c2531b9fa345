// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTP
import TestSupport
import Testing

/// What ends a connection and how; nothing here says how fast.
@Suite("Deadlines", .mayBlock, .timeLimit(.minutes(1)))
struct DeadlineTests {
    /// Everything may take as long as it likes but what `change` says.
    static func configuration(_ change: (inout Deadlines) -> Void) -> ServerConfiguration {
        let long = Duration.seconds(600)
        var configuration = ServerConfiguration(loops: 1)
        let deadlines: [WritableKeyPath<Deadlines, Duration>] = [
            \.handshake, \.head, \.body, \.idle, \.answer, \.rejection,
        ]
        for deadline in deadlines { configuration.deadlines[keyPath: deadline] = long }
        change(&configuration.deadlines)
        return configuration
    }

    /// Sends a byte at a time until the server has had enough, at most for 20 seconds.
    static func drip(_ client: RawHTTPClient, _ byte: UInt8) async throws -> Bool {
        for _ in 0..<2000 {
            guard client.send([byte]), !client.hasInput else { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    @Test
    func `tells a client that drips its head`() async throws {
        try await withServer(Self.configuration { $0.head = .milliseconds(200) }) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send("GET / HTTP/1.1\r\nX: ")
            #expect(try await Self.drip(client, 0x78), "the server waits for more")
            #expect(try client.readAnswer().status == 408)
            #expect(server.statistics.rejections == ["head-timeout": 1])
            #expect(server.statistics.timedOutConnections == 1)
        }
    }

    @Test
    func `tells a client that drips the head of a later request`() async throws {
        try await withServer(Self.configuration { $0.head = .seconds(1) }) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request("GET", "/first"))
            #expect(try client.readAnswer().body == "GET /first ")
            client.send("GET ")
            #expect(try await Self.drip(client, 0x78), "the server waits for more")
            #expect(try client.readAnswer().status == 408)
        }
    }

    @Test
    func `counts the time of a first head from the beginning of the connection`() async throws {
        // On a busy machine all of a short time may be gone before the first byte is sent.
        for seconds in [2, 4, 8, 16] where try await Self.countsFromBeginning(.seconds(seconds)) { return }
        Issue.record("each deadline began with the first byte")
    }

    private static func countsFromBeginning(_ deadline: Duration) async throws -> Bool {
        var counts = false
        try await withServer(configuration { $0.head = deadline }) { server in
            let client = try RawHTTPClient(port: server.port)
            try await Task.sleep(for: deadline * 0.7)
            let began = ContinuousClock.now
            client.send("G")
            guard let answer = try? client.readAnswer() else { return }
            counts = answer.status == 408 && ContinuousClock.now - began < deadline
        }
        return counts
    }

    @Test
    func `tells a client that drips its body`() async throws {
        try await withServer(Self.configuration { $0.body = .milliseconds(200) }) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 16000\r\n\r\n")
            #expect(try await Self.drip(client, 0x78), "the server waits for more")
            #expect(try client.readAnswer().status == 408)
            #expect(server.statistics.rejections == ["body-timeout": 1])
            #expect(server.statistics.requests == 0)
        }
    }

    @Test
    func `closes without a word on a client that never speaks`() async throws {
        try await withServer(Self.configuration { $0.head = .milliseconds(100) }) { server in
            let client = try RawHTTPClient(port: server.port)
            #expect(client.isClosedByServer())
            #expect(server.statistics.timedOutConnections == 1)
        }
    }

    @Test
    func `closes an idle connection without a word`() async throws {
        try await withServer(Self.configuration { $0.idle = .milliseconds(100) }) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request())
            #expect(try client.readAnswer().status == 200)
            #expect(client.isClosedByServer())
            #expect(server.statistics.timedOutConnections == 0)
        }
    }

    @Test
    func `ends a client that does not read its answer`() async throws {
        let large = [UInt8](repeating: 0x78, count: 64 << 20)
        let responder = RecordingResponder { _ in Response(status: 200, body: large) }
        let configuration = Self.configuration { $0.answer = .milliseconds(200) }
        try await withServer(configuration, responder) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request())
            #expect(try await eventually { server.statistics.timedOutConnections == 1 })
            #expect(try await eventually { server.statistics.openConnections == 0 })
            client.close()
        }
    }

    @Test
    func `answers little to a client that asks on and reads nothing`() async throws {
        let answer = [UInt8](repeating: 0x78, count: 200_000)
        let responder = RecordingResponder { _ in Response(status: 200, body: answer) }
        try await withServer(Self.configuration { $0.answer = .milliseconds(500) }, responder) { server in
            let client = try RawHTTPClient(port: server.port)
            for _ in 0..<40 { client.send(request()) }
            #expect(try await eventually { server.statistics.timedOutConnections == 1 })
            #expect(server.statistics.requests < 10, "\(server.statistics.requests)")
            client.close()
        }
    }

    @Test
    func `ends a refused client that stays`() async throws {
        try await withServer(Self.configuration { $0.rejection = .milliseconds(200) }) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send("nonsense\r\n")
            #expect(try client.readAnswer().status == 400)
            #expect(try await eventually { server.statistics.openConnections == 0 })
            client.close()
        }
    }

    @Test
    func `waits for a slow responder`() async throws {
        let responder = RecordingResponder { request in
            try? await Task.sleep(for: .seconds(3))
            return await RecordingResponder.echo(request)
        }
        // Enough for a busy machine to send a request after it has connected.
        let short = Duration.seconds(1)
        let configuration = Self.configuration {
            $0 = Deadlines()
            ($0.head, $0.body, $0.idle, $0.answer) = (short, short, short, short)
        }
        try await withServer(configuration, responder) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request("GET", "/slow"))
            #expect(try client.readAnswer().body == "GET /slow ")
        }
    }
}
