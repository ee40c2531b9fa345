// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP
import TestSupport
import Testing

/// A client that sends request after request, and reads what it gets, but waits for nothing.
@Suite("Clients that never pause", .timeLimit(.minutes(2)))
struct EndlessClientTests {
    @Test
    func `leave others their turn`() async throws {
        let responder = RecordingResponder { _ in Response(status: 204) }
        try await withServer(ServerConfiguration(loops: 1), responder) { server in
            let flood = try ChildProcess(
                ["/usr/bin/python3", "-c", Self.flood, "\(server.port)"],
                environment: ownEnvironment(),
                output: "/dev/null",
                errors: "/dev/null"
            )
            defer { flood.send(SIGKILL) }
            #expect(try await eventually { server.statistics.requests > 1000 })
            for _ in 0..<5 {
                let client = try RawHTTPClient(port: server.port)
                client.send(request())
                #expect(try client.readAnswer().status == 204)
            }
            #expect(flood.ended == nil, "it was still there")
            let before = server.statistics.requests
            #expect(try await eventually { server.statistics.requests > before + 1000 }, "and was answered itself")
        }
    }

    private static let flood = """
        import socket, sys, threading
        peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        def read():
            while peer.recv(1 << 20):
                pass
        threading.Thread(target=read, daemon=True).start()
        while True:
            peer.sendall(b"GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n" * 4096)
        """
}
