// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTP
import Synchronization
import TestSupport
import Testing

@Suite("Clients that leave, servers that stop", .mayBlock, .timeLimit(.minutes(1)))
struct ClientLossTests {
    @Test(arguments: [true, false])
    func `survives a client that is gone when its answer is ready`(byReset: Bool) async throws {
        let gate = Gate()
        let responder = RecordingResponder { request in
            await gate.pass()
            return await RecordingResponder.echo(request)
        }
        try await withServer(ServerConfiguration(loops: 2), responder) { server in
            for number in 0..<200 {
                let client = try RawHTTPClient(port: server.port)
                client.send(request("POST", "/\(number)", body: "hello"))
                #expect(try await eventually { responder.paths.contains("/\(number)") })
                if byReset { client.reset() } else { client.close() }
            }
            gate.open()
            #expect(try await eventually { server.statistics.openConnections == 0 })
            let client = try RawHTTPClient(port: server.port)
            client.send(request("GET", "/after"))
            #expect(try client.readAnswer().body == "GET /after ")
        }
    }

    @Test(arguments: [
        "", "GET", "GET / HTTP/1.1\r\nHost", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc", "bad\r\n",
    ])
    func `forgets a client that leaves midway`(sent: String) async throws {
        // No deadline is to find out what the connection has to notice by itself.
        try await withServer(DeadlineTests.configuration { _ in }) { server in
            for number in 0..<20 {
                let client = try RawHTTPClient(port: server.port)
                client.send(sent)
                if number.isMultiple(of: 2) { client.reset() } else { client.close() }
            }
            #expect(try await eventually { server.statistics.acceptedConnections == 20 })
            #expect(try await eventually { server.statistics.openConnections == 0 })
        }
    }

    @Test
    func `answers what is in flight when it stops, then closes`() async throws {
        let gate = Gate()
        let responder = RecordingResponder { request in
            await gate.pass()
            return await RecordingResponder.echo(request)
        }
        try await mayBlock {
            let server = try Server(ServerConfiguration(loops: 2), responder: responder)
            try server.start()
            let idle = try RawHTTPClient(port: server.port)
            let busy = try RawHTTPClient(port: server.port)
            busy.send(request("GET", "/busy"))
            #expect(try await eventually { responder.paths == ["/busy"] && server.statistics.openConnections == 2 })

            async let stopped: Void = server.stop()
            #expect(idle.isClosedByServer())
            // Each loop closes its own listening socket.
            #expect(try await eventually { (try? RawHTTPClient(port: server.port)) == nil })
            gate.open()
            let answer = try busy.readAnswer()
            #expect(answer.body == "GET /busy ")
            #expect(answer.headers["connection"] == "close")
            #expect(busy.isClosedByServer())
            await stopped
            #expect(server.statistics.openConnections == 0)
        }
    }

    @Test
    func `answers what has come when it stops, read or not, on new connections too`() async throws {
        let isHeld = Mutex(true)
        let responder = RecordingResponder { request in
            // Holds the only loop.
            while request.path == Array("/hold".utf8), isHeld.withLock({ $0 }) { usleep(1000) }
            return await RecordingResponder.echo(request)
        }
        try await mayBlock {
            let server = try Server(ServerConfiguration(loops: 1), responder: responder)
            try server.start()
            var clients = try (0..<8).map { _ in try RawHTTPClient(port: server.port) }
            for client in clients {
                client.send(request("GET", "/before"))
                #expect(try client.readAnswer().status == 200)
            }
            let holder = try RawHTTPClient(port: server.port)
            holder.send(request("GET", "/hold"))
            #expect(try await eventually { responder.paths.contains("/hold") })
            for client in clients { client.send(request("GET", "/now")) }

            async let stopped: Void = server.stop()
            try await Task.sleep(for: .milliseconds(100))
            // The loop sees these after it was asked to stop.
            let late = try (0..<8).map { _ in try RawHTTPClient(port: server.port) }
            for client in late { client.send(request("GET", "/now")) }
            clients += late
            isHeld.withLock { $0 = false }
            for client in clients {
                let answer = try client.readAnswer()
                #expect(answer.body == "GET /now " && answer.headers["connection"] == "close", "\(answer)")
                #expect(client.isClosedByServer())
            }
            await stopped
        }
    }

    @Test
    func `stops without the responders that do not answer in time`() async throws {
        let gate = Gate()
        let wentOn = Mutex(false)
        let responder = RecordingResponder { request in
            await gate.pass()
            defer { wentOn.withLock { $0 = true } }
            return await RecordingResponder.echo(request)
        }
        var configuration = ServerConfiguration(loops: 1)
        configuration.deadlines.drain = .milliseconds(100)
        try await mayBlock {
            let server = try Server(configuration, responder: responder)
            try server.start()
            let client = try RawHTTPClient(port: server.port)
            client.send(request("GET", "/stuck"))
            #expect(try await eventually { responder.paths == ["/stuck"] })
            await server.stop()
            #expect(client.isClosedByServer())
            gate.open()
            #expect(try await eventually { wentOn.withLock { $0 } }, "no task is left hanging")
        }
    }

    @Test
    func `tells responders when the time to stop is up`() async throws {
        let responder = RecordingResponder { request in
            try? await Task.sleep(for: .seconds(600))
            return Response(status: Task.isCancelled ? 503 : 200)
        }
        var configuration = ServerConfiguration(loops: 1)
        configuration.deadlines.drain = .milliseconds(100)
        try await mayBlock {
            let server = try Server(configuration, responder: responder)
            try server.start()
            let client = try RawHTTPClient(port: server.port)
            client.send(request("GET", "/long"))
            #expect(try await eventually { responder.paths == ["/long"] })
            await server.stop()
            #expect(client.isClosedByServer())
        }
    }

    @Test
    func `stops twice, and without having started`() async throws {
        let never = try Server(ServerConfiguration(loops: 2), responder: RecordingResponder())
        await never.stop()
        let server = try Server(ServerConfiguration(loops: 2), responder: RecordingResponder())
        try server.start()
        await server.stop()
        await server.stop()
        #expect(server.statistics.openConnections == 0)
    }
}
