// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import HTTP

@Suite("Refusing requests", .mayBlock)
struct RejectionTests {
    static let configuration: ServerConfiguration = {
        var configuration = ServerConfiguration(loops: 1)
        configuration.rejectionResponse = { rejection in
            Response(
                status: rejection.status,
                headers: [("X-Kind", rejection.kind)],
                body: Array(rejection.explanation.utf8)
            )
        }
        return configuration
    }()

    /// Expects a rejection's own answer, and that nothing after it is taken for a request.
    static func expectRejection(_ rejection: Rejection, on client: RawHTTPClient) throws {
        let answer = try client.readAnswer()
        #expect(answer.status == rejection.status)
        #expect(answer.headers["x-kind"] == rejection.kind)
        #expect(answer.headers["connection"] == "close")
        #expect(answer.headers["date"] != nil)
        #expect(answer.body == rejection.explanation)
        #expect(client.isClosedByServer())
    }

    @Test(arguments: SmugglingVector.all)
    func `answers what could be read in two ways, and reads no further`(vector: SmugglingVector) async throws {
        let responder = RecordingResponder()
        try await withServer(Self.configuration, responder) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(vector.bytes + Array(SmugglingVector.smuggled.utf8))
            if vector.bytes.starts(with: Array("HEAD".utf8)) {
                #expect(try client.readAnswer(toHead: true).status == vector.rejection.status)
                #expect(client.isClosedByServer())
            } else {
                try Self.expectRejection(vector.rejection, on: client)
            }
            #expect(responder.paths == [])
            #expect(server.statistics.rejections == [vector.rejection.kind: 1])
        }
    }

    @Test(arguments: SmugglingVector.all)
    func `answers the good request before the bad one`(vector: SmugglingVector) async throws {
        let responder = RecordingResponder()
        try await withServer(Self.configuration, responder) { server in
            let client = try RawHTTPClient(port: server.port)
            let good = request("POST", "/good", body: "x")
            client.send(Array(good.utf8) + vector.bytes + Array(SmugglingVector.smuggled.utf8))
            #expect(try client.readAnswer().body == "POST /good x")
            let answer = try client.readAnswer(toHead: vector.bytes.starts(with: Array("HEAD".utf8)))
            #expect(answer.status == vector.rejection.status)
            #expect(client.isClosedByServer())
            #expect(responder.paths == ["/good"])
        }
    }

    @Test(arguments: SmugglingVector.all)
    func `refuses the same when it comes byte by byte`(vector: SmugglingVector) async throws {
        let responder = RecordingResponder()
        try await withServer(Self.configuration, responder) { server in
            let client = try RawHTTPClient(port: server.port)
            for byte in vector.bytes + Array(SmugglingVector.smuggled.utf8) where !client.send([byte]) { break }
            let toHead = vector.bytes.starts(with: Array("HEAD".utf8))
            #expect(try client.readAnswer(toHead: toHead).status == vector.rejection.status)
            #expect(responder.paths == [])
        }
    }

    @Test
    func `refuses a head over its limit and takes one at it`() async throws {
        var configuration = Self.configuration
        configuration.limits.headBytes = 1000
        try await withServer(configuration) { server in
            let shell = request("GET", "/", "X: \r\n").utf8.count
            let client = try RawHTTPClient(port: server.port)
            client.send(request("GET", "/", "X: \(String(repeating: "x", count: 1000 - shell))\r\n"))
            #expect(try client.readAnswer().status == 200)
            client.send(request("GET", "/", "X: \(String(repeating: "x", count: 1001 - shell))\r\n"))
            try Self.expectRejection(.headTooLarge(limitBytes: 1000), on: client)
        }
    }

    @Test(arguments: [100_000, 3_000_000])
    func `refuses a head without end`(count: Int) async throws {
        try await withServer(Self.configuration) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send("GET / HTTP/1.1\r\nX: ")
            client.send([UInt8](repeating: 0x78, count: count))
            try Self.expectRejection(.headTooLarge(limitBytes: 8192), on: client)
        }
    }

    @Test
    func `refuses too many fields`() async throws {
        try await withServer(Self.configuration) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request("GET", "/", String(repeating: "X: y\r\n", count: 63)))
            #expect(try client.readAnswer().status == 200)
            client.send(request("GET", "/", String(repeating: "X: y\r\n", count: 64)))
            try Self.expectRejection(.tooManyFields(limit: 64), on: client)
        }
    }

    @Test
    func `refuses a body over its limit and takes one at it`() async throws {
        try await withServer(Self.configuration) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request("POST", "/", body: String(repeating: "x", count: 16384)))
            #expect(try client.readAnswer().status == 200)
            client.send(request("POST", "/", body: String(repeating: "x", count: 16385)))
            try Self.expectRejection(.bodyTooLarge(limitBytes: 16384), on: client)
        }
    }

    @Test
    func `tells a client that sends a megabyte, rather than reset it`() async throws {
        try await withServer(Self.configuration) { server in
            let client = try RawHTTPClient(port: server.port)
            #expect(client.send(request("POST", "/", body: String(repeating: "x", count: 1 << 20))))
            try Self.expectRejection(.bodyTooLarge(limitBytes: 16384), on: client)
            #expect(!client.isReset(within: 200))
        }
    }

    @Test
    func `refuses too large a body before it asks for it`() async throws {
        try await withServer(Self.configuration) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 16385\r\nExpect: 100-continue\r\n\r\n")
            try Self.expectRejection(.bodyTooLarge(limitBytes: 16384), on: client)
        }
    }

    @Test
    func `answers a client that has finished sending nonsense`() async throws {
        try await withServer(Self.configuration) { server in
            let client = try RawHTTPClient(port: server.port)
            client.send("nonsense\r\n")
            client.finishSending()
            try Self.expectRejection(.malformed(.requestLine), on: client)
            #expect(try await eventually { server.statistics.openConnections == 0 })
        }
    }

    @Test
    func `says in a sentence what is wrong`() {
        let rejections =
            Malformation.allCases.map(Rejection.malformed) + [
                .lengthRequired, .headTimeout, .bodyTooLarge(limitBytes: 3), .tooManyBodyBytes,
            ]
        for rejection in rejections {
            #expect(rejection.explanation.hasSuffix("."))
            #expect(ServerConfiguration.plainText(rejection).status == rejection.status)
        }
    }
}
