// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTP
import TestSupport
import Testing

@Suite("Client: servers that misbehave", .mayBlock, .timeLimit(.minutes(1)))
struct ClientFailureTests {
    /// What a server sends, byte for byte, before it closes; and what the client makes of it.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sent: String
        let label: String

        init(_ description: String, _ sent: String, _ label: String) {
            testDescription = description
            self.sent = sent
            self.label = label
        }
    }

    static let ok = "HTTP/1.1 200 OK\r\n"
    static let rows = [
        Row("nothing", "", "connection-lost"),
        Row("half a status line", "HTTP/1.1 2", "connection-lost"),
        Row("half a head", ok + "Content-Length: 3\r\n", "connection-lost"),
        Row("half a body", ok + "Content-Length: 10\r\n\r\nabc", "connection-lost"),
        Row("half a chunk", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nabc", "connection-lost"),
        Row("no last chunk", ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "connection-lost"),
        Row("a chunk without a size", ok + "Transfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n", "connection-lost"),
        Row("another protocol", "SSH-2.0-OpenSSH_9.2\r\n\r\n", "protocol-violation"),
        Row("bytes of any kind", "\u{1}\u{2}\u{3} not HTTP at all, but long enough to look at\n", "protocol-violation"),
        Row("a status of two digits", "HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n", "protocol-violation"),
        Row("a status of four digits", "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n", "protocol-violation"),
        Row("a status below 100", "HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n", "protocol-violation"),
        Row("a bare line feed", ok + "X: 1\nContent-Length: 0\r\n\r\n", "protocol-violation"),
        Row("a folded line", ok + "X: 1\r\n 2\r\nContent-Length: 0\r\n\r\n", "protocol-violation"),
        Row("a field without a colon", ok + "X\r\nContent-Length: 0\r\n\r\n", "protocol-violation"),
        Row("a space before the colon", ok + "X : 1\r\nContent-Length: 0\r\n\r\n", "protocol-violation"),
        Row("a control character", ok + "X: \u{1}\r\nContent-Length: 0\r\n\r\n", "protocol-violation"),
        Row("two lengths", ok + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", "protocol-violation"),
        Row("the same length twice", ok + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "protocol-violation"),
        Row("a list of lengths", ok + "Content-Length: 3, 3\r\n\r\nabc", "protocol-violation"),
        Row("a negative length", ok + "Content-Length: -1\r\n\r\nabc", "protocol-violation"),
        Row(
            "a length and chunks",
            ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "protocol-violation"
        ),
        Row("no length", ok + "\r\nabc", "protocol-violation"),
        Row("another transfer coding", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "protocol-violation"),
        Row("another content coding", ok + "Content-Encoding: br\r\nContent-Length: 1\r\n\r\na", "protocol-violation"),
        Row(
            "two content codings",
            ok + "Content-Encoding: gzip, gzip\r\nContent-Length: 1\r\n\r\na",
            "protocol-violation"
        ),
        Row(
            "not gzip as promised",
            ok + "Content-Encoding: gzip\r\nContent-Length: 30\r\n\r\n012345678901234567890123456789",
            "protocol-violation"
        ),
        Row("a head too large", ok + "X: \(String(repeating: "a", count: 2000))\r\n\r\n", "head-too-large"),
        Row("fields without end", ok + String(repeating: "A: b\r\n", count: 300), "head-too-large"),
        Row(
            "interim answers without end",
            String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 80),
            "head-too-large"
        ),
        Row(
            "trailers without end",
            ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + String(repeating: "A: b\r\n", count: 300) + "\r\n",
            "head-too-large"
        ),
        Row("a length beyond the limit", ok + "Content-Length: 1001\r\n\r\n", "response-too-large"),
        Row("a length beyond counting", ok + "Content-Length: 99999999999999999999\r\n\r\n", "protocol-violation"),
        Row(
            "chunks beyond the limit",
            ok + "Transfer-Encoding: chunked\r\n\r\n3e9\r\n\(String(repeating: "a", count: 1001))\r\n0\r\n\r\n",
            "response-too-large"
        ),
    ]

    @Test(arguments: rows)
    func `tells what is wrong with an answer`(row: Row) async throws {
        let configuration = ClientConfiguration.plain.with {
            $0.maximumResponseBytes = 1000
            $0.maximumHeadBytes = 1024
        }
        try await withScript(
            configuration,
            { peer in
                _ = peer.readRequest()
                peer.write(row.sent)
            }
        ) { client, server in
            #expect(await client.failure(.get(server.port))?.label == row.label)
        }
    }

    @Test
    func `takes what is just within the limits`() async throws {
        let configuration = ClientConfiguration.plain.with { $0.maximumResponseBytes = 1000 }
        try await withScript(configuration, { $0.answer(String(repeating: "a", count: 1000)) }) { client, server in
            let response = try await client.send(.get(server.port))
            #expect(response.body.count == 1000)
        }
    }

    @Test
    func `stops a small answer that unpacks to a large one`() async throws {
        let bomb = try await gzip("a", count: 64 * 1024 * 1024)
        #expect(bomb.count < 100_000)
        try await withScript(.plain, { $0.answer(gzipped: bomb) }) { client, server in
            #expect(await client.failure(.get(server.port)) == .responseTooLarge(limitBytes: 2 * 1024 * 1024))
        }
    }

    @Test
    func `has no patience beyond its time for a head that does not come, or a body that drips`() async throws {
        try await withScript(
            .plain,
            { peer in
                let isSlowHead = peer.readRequest()?.contains("/head") ?? false
                if !isSlowHead { peer.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n") }
                while !isSlowHead, peer.write("a") { usleep(10_000) }
                peer.waitForClose()
            }
        ) { client, server in
            #expect(await client.failure(.get(server.port, "head", timeout: 150)) == .timeout)
            #expect(await client.failure(.get(server.port, "body", timeout: 150)) == .timeout)
            try await #require(eventually { server.closed == 2 })
            #expect(await client.failure(.get(server.port, timeout: 0)) == .timeout)
        }
    }

    @Test
    func `tells a refused connection, a name without address, and a handshake that hangs`() async throws {
        let gone = ScriptedServer { _ in }
        gone.stop()
        let configuration = ClientConfiguration.plain.with { $0.connectTimeoutMilliseconds = 150 }
        try await withScript(configuration, { $0.waitForClose() }) { client, server in
            #expect(await client.failure(.get(gone.port)) == .cannotConnect)
            #expect(await client.failure(.get(server.port, scheme: "https")) == .connectTimeout)
            let nowhere = try ClientRequest(.get, Origin(parsing: "http://nowhere.invalid"))
            let error = await client.failure(nowhere)
            #expect(error == .cannotResolve || error == .connectTimeout)
        }
    }

    @Test
    func `keeps to https unless it may do without`() async throws {
        try await withScript(ClientConfiguration(), { $0.answer("") }) { client, server in
            #expect(await client.failure(.get(server.port)) == .plainHTTPNotAllowed)
            #expect(server.accepted == 0)
        }
    }

    @Test
    func `lets a server that hangs cost other servers nothing`() async throws {
        let configuration = ClientConfiguration.plain.with {
            $0.maximumWaiting = 20
            $0.connectionsPerHost = 2
        }
        let good = ScriptedServer { while $0.readRequest() != nil { $0.answer("good") } }
        defer { good.stop() }
        try await withScript(configuration, { $0.waitForClose() }) { client, server in
            try await withThrowingTaskGroup(of: ClientError?.self) { group in
                for _ in 0..<20 { group.addTask { await client.failure(.get(server.port)) } }
                try await #require(eventually { client.statistics.inFlight == 20 })
                #expect(await client.failure(.get(server.port)) == .tooManyWaiting(limit: 20))
                let response = try? await client.send(.get(good.port))
                #expect(response?.body == Array("good".utf8))
                #expect(server.accepted <= 2)
                group.cancelAll()
                for try await error in group { #expect(error == .cancelled) }
            }
            #expect(client.statistics.inFlight == 0)
        }
    }

    @Test
    func `ends a transfer whose task is cancelled, before and after it was sent`() async throws {
        try await withScript(.plain, { $0.waitForClose() }) { client, server in
            let task = Task { await client.failure(.get(server.port)) }
            try await #require(eventually { server.accepted == 1 })
            task.cancel()
            #expect(await task.value == .cancelled)
            try await #require(eventually { server.closed == 1 })

            let late = Task {
                while !Task.isCancelled { await Task.yield() }
                return await client.failure(.get(server.port))
            }
            late.cancel()
            #expect(await late.value == .cancelled)
            #expect(server.accepted == 1)
        }
    }

    @Test
    func `ends all that is in flight when it stops, and takes nothing before and after`() async throws {
        let server = ScriptedServer { $0.waitForClose() }
        defer { server.stop() }
        let client = try Client(.plain.with { $0.connectionsPerHost = 1 })
        #expect(await client.failure(.get(server.port)) == .stopped)
        try client.start()
        try client.start()
        let tasks = (0..<10).map { _ in Task { await client.failure(.get(server.port)) } }
        try await #require(eventually { client.statistics.inFlight == 10 && server.accepted == 1 })
        client.stop()
        for task in tasks { #expect(await task.value == .stopped) }
        try await #require(eventually { server.closed == 1 })
        #expect(await client.failure(.get(server.port)) == .stopped)
        client.stop()
    }
}
