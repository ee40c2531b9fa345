// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTP
import TestSupport
import Testing

@Suite("Client: requests and answers", .mayBlock, .timeLimit(.minutes(1)))
struct ClientTests {
    @Test
    func `sends what it is asked to, and nothing of its own`() async throws {
        try await withScript(.plain, { $0.answer($0.readRequest() ?? "") }) { client, server in
            var headers = HeaderFields()
            headers.append("Authorization", "Bearer abc")
            headers.append("X-Empty", "")
            var request = try ClientRequest(
                .post,
                Origin(parsing: "http://127.0.0.1:\(server.port)"),
                path: ["a b", "ü/?#", "..."],
                query: [("x", "1&2"), ("x", "é")],
                headers: headers
            )
            request.body = Array("{}".utf8)
            let seen = String(decoding: try await client.send(request).body, as: UTF8.self)
            #expect(
                seen == """
                    POST /a%20b/%C3%BC%2F%3F%23/...?x=1%262&x=%C3%A9 HTTP/1.1\r
                    Host: 127.0.0.1:\(server.port)\r
                    User-Agent: offer-signer\r
                    Accept: */*\r
                    Accept-Encoding: gzip\r
                    Authorization: Bearer abc\r
                    X-Empty:\r
                    Content-Length: 2\r
                    \r
                    {}
                    """
            )
        }
    }

    @Test(arguments: [Method.get, .post, .put, .delete, .options, .patch])
    func `sends each method`(method: HTTP.Method) async throws {
        try await withServer { server in
            try await withClient { client in
                let origin = try Origin(parsing: "http://127.0.0.1:\(server.port)")
                let response = try await client.send(ClientRequest(method, origin, path: ["x"]))
                #expect(response.status == 200)
                #expect(String(decoding: response.body, as: UTF8.self) == "\(method.name) /x ")
                let head = try await client.send(ClientRequest(.head, origin))
                #expect(head.status == 200 && head.body.isEmpty)
            }
        }
    }

    @Test
    func `reads interim heads, fields, chunks and trailers`() async throws {
        try await withScript(
            .plain,
            { peer in
                _ = peer.readRequest()
                peer.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 404 Not Found\r\nX-One:  1 \t\r\n")
                peer.write("x-one: 2\r\nX-Empty:\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n")
                peer.write("2;ext=1\r\nde\r\n0\r\nX-Trailer: t\r\n\r\n")
                peer.waitForClose()
            }
        ) { client, server in
            let response = try await client.send(.get(server.port))
            #expect(response.status == 404)
            #expect(String(decoding: response.body, as: UTF8.self) == "abcde")
            #expect(response.version == .http11)
            #expect(response.headers.first("X-ONE") == [UInt8(ascii: "1")])
            #expect(response.headers.count(of: "x-one") == 2)
            #expect(response.headers.first("x-empty") == [])
            #expect(response.headers.first("link") == nil)
            #expect(response.headers.first("x-trailer") == nil)
            #expect(response.headers.count == 4)
        }
    }

    @Test
    func `does not follow a redirect`() async throws {
        let other = ScriptedServer { $0.answer("caught") }
        defer { other.stop() }
        let location = "http://127.0.0.1:\(other.port)/"
        try await withScript(
            .plain,
            { peer in
                _ = peer.readRequest()
                peer.write("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
            }
        ) { client, server in
            let response = try await client.send(.get(server.port))
            #expect(response.status == 302)
            #expect(response.headers.first("location") == Array(location.utf8))
            #expect(other.accepted == 0)
        }
    }

    @Test
    func `asks no proxy from the environment, and reads no .netrc`() async {
        await #expect(processExitsWith: .success) {
            let server = ScriptedServer { $0.answer($0.readRequest() ?? "") }
            for name in ["http_proxy", "all_proxy", "ALL_PROXY"] { unsafe setenv(name, "http://127.0.0.1:1", 1) }
            try await withClient { client in
                let response = try await client.send(.get(server.port))
                let seen = String(decoding: response.body, as: UTF8.self)
                #expect(seen.hasPrefix("GET / HTTP/1.1\r\n") && !seen.contains("Authorization"))
            }
        }
    }

    @Test
    func `uses one connection for requests that follow one another`() async throws {
        try await withServer { server in
            try await withClient { client in
                for _ in 0..<20 { _ = try await client.send(.get(server.port)) }
                #expect(server.statistics.acceptedConnections == 1)
                #expect(client.statistics == ClientStatistics(answered: 20, connectionsOpened: 1))
            }
        }
    }

    @Test
    func `sends once more when the kept connection was closed`() async throws {
        try await withScript(.plain, { if $0.readRequest() != nil { $0.answer("\($0.index)") } }) { client, server in
            for index in 0..<3 {
                let response = try await client.send(.get(server.port))
                #expect(String(decoding: response.body, as: UTF8.self) == "\(index)")
                try await #require(eventually { server.closed == index + 1 })
            }
        }
    }

    @Test
    func `answers many at once over few connections`() async throws {
        try await withServer { server in
            try await withClient(.plain.with { $0.connectionsPerHost = 3 }) { client in
                let bodies = try await withThrowingTaskGroup(of: String.self) { group in
                    for index in 0..<300 {
                        group.addTask {
                            let response = try await client.send(.get(server.port, "\(index)"))
                            return String(decoding: response.body, as: UTF8.self)
                        }
                    }
                    return try await group.reduce(into: Set()) { $0.insert($1) }
                }
                #expect(bodies == Set((0..<300).map { "GET /\($0) " }))
                #expect((1...3).contains(server.statistics.acceptedConnections))
                #expect(client.statistics.answered == 300 && client.statistics.inFlight == 0)
            }
        }
    }

    @Test
    func `decodes gzip`() async throws {
        let packed = try await gzip("a", count: 100_000)
        try await withScript(.plain, { $0.answer(gzipped: packed) }) { client, server in
            let response = try await client.send(.get(server.port))
            #expect(response.body == Array(repeating: UInt8(ascii: "a"), count: 100_000))
        }
    }
}
