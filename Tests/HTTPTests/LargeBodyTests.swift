// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import HTTP

/// What large bodies may take together; there is room for two here.
@Suite("Large bodies", .mayBlock, .serialized, .timeLimit(.minutes(2)))
struct LargeBodyTests {
    private static let length = 48 * 1024

    private static var configuration: ServerConfiguration {
        var configuration = RejectionTests.configuration
        configuration.loops = 2
        configuration.limits.bodyBytes = 64 * 1024
        configuration.limits.bodyBytesInAll = 2 * (length - 16 * 1024)
        return configuration
    }

    /// Says that a large body follows, on a connection of its own, and returns what the server says to that.
    private static func begin(_ server: Server, from host: UInt16 = 1) throws -> (client: RawHTTPClient, status: Int) {
        let client = try RawHTTPClient(port: server.port, from: host)
        return (client, try begin(client))
    }

    private static func begin(_ client: RawHTTPClient) throws -> Int {
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\nExpect: 100-continue\r\n\r\n")
        return try client.readAnswer().status
    }

    private static func body(_ length: Int = length) -> [UInt8] { [UInt8](repeating: 0x78, count: length) }

    /// Sends `count` large bodies but for the last byte, and waits until there is no room for another, which counts as
    /// one rejection.
    private static func fill(_ server: Server, with count: Int = 2) async throws -> [RawHTTPClient] {
        let admitted = try (0..<count).map { _ in try begin(server) }
        #expect(admitted.allSatisfy { $0.status == 100 })
        for (client, _) in admitted { client.send(body(length - 1)) }
        #expect(try await eventually { try begin(server).status == 503 })
        return admitted.map(\.client)
    }

    /// Expects room for two bodies, neither less nor more, and leaves it as it is.
    private static func expectRoomForTwo(_ server: Server) async throws {
        for client in try await fill(server) {
            client.send(body(1))
            #expect(try client.readAnswer().status == 200)
        }
    }

    @Test
    func `refuses a large body that there is no room for, and takes small ones still`() async throws {
        try await withServer(Self.configuration) { server in
            let admitted = try await Self.fill(server)
            // Without being asked it sends what it has, and can read why that is not taken.
            let refused = try RawHTTPClient(port: server.port)
            refused.send(request("POST", "/", body: String(repeating: "x", count: Self.length)))
            try RejectionTests.expectRejection(.tooManyBodyBytes, on: refused)
            #expect(server.statistics.rejections == ["too-many-body-bytes": 2])
            let small = try RawHTTPClient(port: server.port)
            for _ in 0..<2 {
                small.send(request("POST", "/", body: String(repeating: "x", count: 16 * 1024)))
                #expect(try small.readAnswer().status == 200)
            }
            withExtendedLifetime(admitted) {}
        }
    }

    @Test
    func `bodies that are announced and do not come take no room`() async throws {
        try await withServer(Self.configuration) { server in
            let silent = try (0..<10).map { _ in try Self.begin(server) }
            #expect(silent.allSatisfy { $0.status == 100 })
            try await Self.expectRoomForTwo(server)
            withExtendedLifetime(silent) {}
        }
    }

    @Test
    func `one address leaves room for others, however much it sends`() async throws {
        var configuration = Self.configuration
        configuration.limits.bodyBytesPerAddress = Self.length - 16 * 1024
        try await withServer(configuration) { server in
            let greedy = try await Self.fill(server, with: 1)
            let (other, status) = try Self.begin(server, from: 2)
            #expect(status == 100)
            other.send(Self.body())
            #expect(try other.readAnswer().status == 200)
            greedy[0].send(Self.body(1))
            #expect(try greedy[0].readAnswer().status == 200)
            let next = try Self.begin(server)
            #expect(next.status == 100, "its own room is free again")
        }
    }

    @Test
    func `a client that is refused amid a body can read why`() async throws {
        try await withServer(Self.configuration) { server in
            let (late, status) = try Self.begin(server)
            #expect(status == 100)
            let admitted = try await Self.fill(server)
            late.send(Self.body(Self.length / 2))
            late.send(Self.body(Self.length / 2))
            try RejectionTests.expectRejection(.tooManyBodyBytes, on: late)
            for client in admitted {
                client.send(Self.body(1))
                #expect(try client.readAnswer().status == 200)
            }
            try await Self.expectRoomForTwo(server)
        }
    }

    /// How a connection ends that has sent half of a large body.
    enum End: CaseIterable {
        case answered, closed, reset, halfClosed
    }

    @Test(arguments: End.allCases)
    func `there is room again once those before have ended`(end: End) async throws {
        try await withServer(Self.configuration) { server in
            for _ in 0..<3 {
                for (client, status) in try (0..<2).map({ _ in try Self.begin(server) }) {
                    #expect(status == 100)
                    client.send(Self.body(Self.length / 2))
                    switch end {
                    case .answered:
                        client.send(Self.body(Self.length / 2))
                        #expect(try client.readAnswer().status == 200)
                        client.close()
                    case .closed: client.close()
                    case .reset: client.reset()
                    case .halfClosed: client.finishSending()
                    }
                }
                #expect(try await eventually { server.statistics.openConnections == 0 })
            }
            try await Self.expectRoomForTwo(server)
        }
    }

    @Test
    func `a connection that sends one large body after the other has room for each`() async throws {
        try await withServer(Self.configuration) { server in
            let client = try RawHTTPClient(port: server.port)
            for _ in 0..<5 {
                #expect(try Self.begin(client) == 100)
                client.send(Self.body())
                #expect(try client.readAnswer().status == 200)
            }
            try await Self.expectRoomForTwo(server)
        }
    }

    @Test
    func `a body that does not come in time leaves its room to others`() async throws {
        var configuration = Self.configuration
        configuration.deadlines.body = .milliseconds(50)
        try await withServer(configuration) { server in
            for _ in 0..<4 {
                let (client, status) = try Self.begin(server)
                #expect(status == 100)
                client.send(Self.body(Self.length - 1))
                #expect(try client.readAnswer().status == 408)
            }
        }
    }

    @Test(arguments: [false, true])
    func `a body takes its room until it is answered, even if its client has gone`(isCut: Bool) async throws {
        let gate = Gate()
        let responder = RecordingResponder { request in
            if request.path == Array("/slow".utf8) { await gate.pass() }
            return await RecordingResponder.echo(request)
        }
        try await withServer(Self.configuration, responder) { server in
            let slow = try (0..<2).map { _ in try RawHTTPClient(port: server.port) }
            for client in slow {
                client.send(request("POST", "/slow", body: String(repeating: "x", count: Self.length)))
            }
            #expect(try await eventually { responder.paths.count == 2 })
            #expect(try Self.begin(server).status == 503)
            if isCut { for client in slow { client.reset() } }
            gate.open()
            if isCut {
                #expect(try await eventually { server.statistics.openConnections == 0 })
            } else {
                for client in slow { #expect(try client.readAnswer().status == 200) }
            }
            try await Self.expectRoomForTwo(server)
        }
    }
}
