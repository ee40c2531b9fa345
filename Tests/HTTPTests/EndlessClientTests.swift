// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP
import Synchronization
import TestSupport
import Testing

/// Clients that send request after request, and read what they get, but wait for nothing.
@Suite("Clients that never pause", .mayBlock, .timeLimit(.minutes(2)))
struct EndlessClientTests {
    /// Counts requests, and those of a client that waits for each answer.
    private final class Counter: Responder {
        struct Counts {
            var requests = 0
            var patient = 0
        }

        private let state = Mutex(Counts())
        var counts: Counts { state.withLock { $0 } }

        func respond(to request: Request) async -> Response {
            state.withLock { counts in
                counts.requests += 1
                if request.path == Array("/patient".utf8) { counts.patient += 1 }
            }
            return Response(status: 204)
        }
    }

    @Test(arguments: [1, 64])
    func `leave others their turn on the event loop, however many they are`(connections: Int) async throws {
        let counter = Counter()
        try await withServer(ServerConfiguration(loops: 1), counter) { server in
            let flood = try ChildProcess(
                ["/usr/bin/python3", "-c", Self.flood, "\(server.port)", "\(connections)"],
                environment: ownEnvironment(),
                output: "/dev/null",
                errors: "/dev/null"
            )
            defer { flood.send(SIGKILL) }
            #expect(try await eventually { counter.counts.requests > 1000 })
            let client = try RawHTTPClient(port: server.port)
            let before = counter.counts
            while counter.counts.requests < before.requests + 50_000 {
                client.send(request("GET", "/patient"))
                #expect(try client.readAnswer().status == 204)
            }
            let counts = counter.counts
            #expect((counts.requests - before.requests) / counts.patient < 300, "\(counts)")
        }
    }

    private static let flood = """
        import selectors, socket, sys
        requests = b"GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n" * 4096
        selector = selectors.DefaultSelector()
        for _ in range(int(sys.argv[2])):
            peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
            peer.setblocking(False)
            selector.register(peer, selectors.EVENT_READ | selectors.EVENT_WRITE, [0])
        while True:
            for key, events in selector.select():
                if events & selectors.EVENT_READ and not key.fileobj.recv(1 << 20):
                    sys.exit(0)
                if events & selectors.EVENT_WRITE:
                    key.data[0] = (key.data[0] + key.fileobj.send(requests[key.data[0]:])) % len(requests)
        """
}
