// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@testable import HTTP

@Suite("Many connections", .mayBlock, .serialized, .timeLimit(.minutes(2)))
struct ConnectionLimitTests {
    @Test
    func `refuses one connection too many from an address, until another ends`() async throws {
        let configuration = ServerConfiguration(loops: 2, limits: Limits(connectionsPerAddress: 3))
        try await withServer(configuration) { server in
            let clients = try (0..<3).map { _ in try RawHTTPClient(port: server.port) }
            for client in clients {
                client.send(request())
                #expect(try client.readAnswer().status == 200)
            }
            let refused = try RawHTTPClient(port: server.port)
            #expect(try refused.readAnswer().status == 429)
            refused.close()
            #expect(server.statistics.rejections == ["too-many-connections-from-address": 1])

            clients[0].close()
            #expect(try await eventually { server.statistics.openConnections == 2 })
            let admitted = try RawHTTPClient(port: server.port)
            admitted.send(request())
            #expect(try admitted.readAnswer().status == 200)
            withExtendedLifetime(clients) {}
        }
    }

    @Test
    func `an address that has all it may and asks for ever more leaves room for others`() async throws {
        let configuration = ServerConfiguration(loops: 2, limits: Limits(connections: 48, connectionsPerAddress: 4))
        try await withServer(configuration) { server in
            let kept = try (0..<4).map { _ in try RawHTTPClient(port: server.port) }
            for client in kept {
                client.send(request())
                #expect(try client.readAnswer().status == 200)
            }
            // None of these reads its response, or closes.
            let flood = try (0..<200).map { _ in try RawHTTPClient(port: server.port) }
            #expect(
                try await eventually {
                    let statistics = server.statistics
                    return statistics.rejections["too-many-connections-from-address"] == 200
                        && statistics.openConnections <= 4 + 48 / 16
                }
            )
            for client in kept {
                client.send(request())
                #expect(try client.readAnswer().status == 200)
            }
            // Those that may not wait get the response all the same.
            #expect(try flood[199].readAnswer().status == 429)
            withExtendedLifetime(flood) {}
        }
    }

    @Test
    func `leaves connections over the total waiting where all clients are known, until another ends`() async throws {
        let configuration = ServerConfiguration(loops: 1, limits: Limits(connections: 2))
        try await withServer(configuration, RecordingResponder.knowing { _ in true }) { server in
            let clients = try (0..<2).map { _ in try RawHTTPClient(port: server.port) }
            for client in clients {
                client.send(request())
                #expect(try client.readAnswer().status == 200)
            }
            // The server answers the first that there is no room; the second waits for some.
            let late = try (0..<2).map { _ in try RawHTTPClient(port: server.port) }
            for client in late { client.send(request()) }
            #expect(try late[0].readAnswer().status == 503)
            clients[0].close()
            #expect(try late[1].readAnswer().status == 200)
            #expect(server.statistics.evictedConnections == 0)
        }
    }

    @Test
    func `a connection beyond the total replaces the unauthenticated one that is idle longest`()
        async throws
    {
        let configuration = ServerConfiguration(loops: 1, limits: Limits(connections: 3))
        try await withServer(configuration, RecordingResponder.knowing { $0.path == Array("/known".utf8) }) { server in
            let known = try RawHTTPClient(port: server.port)
            known.send(request("GET", "/known"))
            #expect(try known.readAnswer().status == 200)
            let idle = try (0..<2).map { _ in try RawHTTPClient(port: server.port) }
            for client in idle {
                client.send(request())
                #expect(try client.readAnswer().status == 200)
                usleep(20_000)
            }
            let newcomer = try RawHTTPClient(port: server.port)
            newcomer.send(request())
            #expect(try newcomer.readAnswer().status == 200)
            #expect(idle[0].isClosedByServer())
            for client in [known, idle[1], newcomer] {
                client.send(request())
                #expect(try client.readAnswer().status == 200)
            }
            #expect(server.statistics.evictedConnections == 1)
            #expect(server.statistics.openConnections == 3)
            withExtendedLifetime((known, idle, newcomer)) {}
        }
    }

    @Test func `clients who do not read their answers give way to one more than the total`() async throws {
        let configuration = ServerConfiguration(loops: 1, limits: Limits(connections: 3))
        let responder = RecordingResponder { request in
            let count = request.path == Array("/large".utf8) ? 8 << 20 : 1
            return Response(status: 200, body: [UInt8](repeating: 0x2E, count: count))
        }
        try await withServer(configuration, responder) { server in
            let deaf = try (0..<3).map { _ in try RawHTTPClient(port: server.port) }
            for client in deaf { client.send(request("GET", "/large")) }
            #expect(try await eventually { responder.paths.count == 3 })
            usleep(50_000)
            for _ in 0..<3 {
                let newcomer = try RawHTTPClient(port: server.port)
                newcomer.send(request())
                #expect(try newcomer.readAnswer().status == 200)
            }
            #expect(server.statistics.evictedConnections > 0)
            withExtendedLifetime(deaf) {}
        }
    }

    @Test func `no connection is closed for a client whose address is at its connection limit`() async throws {
        let limits = Limits(connections: 3, connectionsPerAddress: 2)
        try await withServer(ServerConfiguration(loops: 1, limits: limits)) { server in
            let own = try (0..<2).map { _ in try RawHTTPClient(port: server.port) }
            let other = try RawHTTPClient(port: server.port, from: 0x101)
            for client in own + [other] {
                client.send(request())
                #expect(try client.readAnswer().status == 200)
            }
            let refused = try RawHTTPClient(port: server.port)
            refused.send(request())
            #expect([429, 503].contains(try refused.readAnswer().status))
            for client in own + [other] {
                client.send(request())
                #expect(try client.readAnswer().status == 200)
            }
            #expect(server.statistics.evictedConnections == 0)
        }
    }

    @Test
    func `one network has no more than a quarter of all connections, and its newcomers the places of its idle clients`()
        async throws
    {
        let configuration = ServerConfiguration(loops: 1, limits: Limits(connections: 32, connectionsPerAddress: 2))
        try await withServer(configuration) { server in
            let neighbor = try RawHTTPClient(port: server.port, from: 0x101)
            neighbor.send(request())
            #expect(try neighbor.readAnswer().status == 200)
            let clients = try (1...12).map { try RawHTTPClient(port: server.port, from: $0) }
            for client in clients {
                client.send(request())
                _ = try? client.readAnswer()
            }
            #expect(server.statistics.openConnections == 1 + 8)
            #expect(server.statistics.evictedConnections == 4)
            let newcomer = try RawHTTPClient(port: server.port, from: 13)
            for client in [newcomer, neighbor] {
                client.send(request())
                #expect(try client.readAnswer().status == 200)
            }
            withExtendedLifetime(clients) {}
        }
    }

    @Test func `refuses one more client from a network whose clients are all authenticated`() async throws {
        let configuration = ServerConfiguration(loops: 1, limits: Limits(connections: 32, connectionsPerAddress: 2))
        try await withServer(configuration, RecordingResponder.knowing { _ in true }) { server in
            let clients = try (1...8).map { try RawHTTPClient(port: server.port, from: $0) }
            for client in clients {
                client.send(request())
                #expect(try client.readAnswer().status == 200)
            }
            let late = try RawHTTPClient(port: server.port, from: 13)
            #expect(try late.readAnswer().status == 429)
            #expect(server.statistics.evictedConnections == 0)
            withExtendedLifetime(clients) {}
        }
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
        ("2001:db8::1", "2001:db8::ffff:0:0:2", true), ("2001:db8::1", "2001:db8:0:1::1", false),
    ])
    func `takes an IPv6 network for one neighbour`(one: String, other: String, areSame: Bool) throws {
        let one = try #require(PeerAddress(one, port: 1)).group
        let other = try #require(PeerAddress(other, port: 2)).group
        #expect((one == other) == areSame)
    }

    @Test(arguments: ["192.0.2.1", "0.0.0.0", "255.255.255.255", "::1", "2001:db8::1"])
    func `writes an address as it is read`(text: String) throws {
        #expect(try #require(PeerAddress(text, port: 0)).description == text)
    }

    @Test
    func `keeps no descriptor of ten thousand short connections`() async throws {
        var port: UInt16 = 0
        try await withServer(ServerConfiguration(loops: 2)) { server in
            port = server.port
            #expect(descriptors(boundTo: port) == 2, "each loop's listening socket")
            for number in 0..<10_000 {
                let client = try RawHTTPClient(port: server.port)
                // A third each: answered and closed, refused, gone at once.
                switch number % 3 {
                case 0:
                    client.send(request("GET", "/", "Connection: close\r\n"))
                    #expect(client.readToEnd()?.isEmpty == false)
                case 1:
                    client.send("nonsense\r\n")
                    #expect(client.readToEnd()?.isEmpty == false)
                default:
                    client.send("GET / HT")
                }
                // Without the 60 seconds of TIME_WAIT that would use up the ports.
                client.reset()
            }
            #expect(try await eventually { server.statistics.openConnections == 0 })
        }
        #expect(descriptors(boundTo: port) == 0)
    }

    @Test
    func `sends small pieces at once`() async throws {
        try await withServer { server in
            let client = try RawHTTPClient(port: server.port)
            client.send(request())
            #expect(try client.readAnswer().status == 200)
            let delays = (Int32(0)..<20_000).filter { isAccepted($0, on: server.port) }.map { descriptor in
                var isOn: Int32 = 0
                var size = socklen_t(MemoryLayout<Int32>.size)
                unsafe getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, &size)
                return isOn == 0
            }
            #expect(delays == [false])
        }
    }

    @Test
    func `holds thousands of idle connections and serves among them`() async throws {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        // Both ends of each connection are in this process.
        let count = min(10_000, Int(limit.rlim_cur) / 2 - 1000)
        let limits = Limits(connections: 20_000, connectionsPerAddress: 20_000)
        var configuration = ServerConfiguration(loops: 2, limits: limits)
        // A slow machine may take longer to open them all than a client may for the head of its request.
        configuration.deadlines.head = .seconds(600)
        try await withServer(configuration) { server in
            var clients: [RawHTTPClient] = []
            while clients.count < count {
                for _ in 0..<min(1000, count - clients.count) { clients.append(try RawHTTPClient(port: server.port)) }
                try #require(try await eventually { server.statistics.openConnections == clients.count })
            }
            for client in clients.prefix(100) {
                client.send(request())
                #expect(try client.readAnswer().status == 200)
            }
            for client in clients { client.reset() }
            #expect(try await eventually { server.statistics.openConnections == 0 })
        }
    }

    private func isAccepted(_ descriptor: Int32, on port: UInt16) -> Bool {
        let own = unsafe SocketAddressStorage(of: descriptor, by: getsockname).flatMap { PeerAddress($0) }
        return own?.port == port && PeerAddress(connectedTo: descriptor) != nil
    }

    /// How many of this process's sockets have that port at their own end; other tests run beside this one.
    private func descriptors(boundTo port: UInt16) -> Int {
        (Int32(0)..<20_000).count { descriptor in
            let address = unsafe SocketAddressStorage(of: descriptor, by: getsockname).flatMap { PeerAddress($0) }
            return address?.port == port
        }
    }
}
