// SPDX-License-Identifier: Apache-2.0
import Dispatch
import HTTP
import TestSupport
import Testing

@testable import OfferService
@testable import ServiceRuntime

/// The service reports a stuck loop, and meanwhile sends no keepalive to the service manager.
@Suite(.overSQLite, .mayBlock) struct PulseTests {
    /// Blocks the loop that asks it, until it is let go.
    private final class Blocker: Responder {
        let (isBlocking, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

        func respond(to request: Request) async -> Response {
            block()
            return Response(status: 204)
        }

        private func block() {
            isBlocking.signal()
            mayGoOn.wait()
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `reports a stuck loop as an obstacle until it runs again, and sends no keepalive meanwhile`()
        async throws
    {
        try await withService { service in
            let (blocker, clock, calls) = (Blocker(), SettableClock(), Recorder())
            let server = try Server(ServerConfiguration(loops: 1), responder: blocker)
            try server.start()
            let pulse = Pulse([server], service.committer, clock: clock.wallClock)
            pulse.whileAlive { calls.add() }
            pulse.start()
            #expect(try await eventually { calls.count > 1 })
            let client = try RawHTTPClient(port: server.port)
            client.send(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            blocker.isBlocking.wait()
            clock.advance(seconds: 31)
            #expect(pulse.obstacles.map(\.name) == ["stuck"] && pulse.obstacles[0].detail.contains("event loop 1"))
            // One look may have been under way.
            let before = calls.count
            try await Task.sleep(for: .seconds(3))
            #expect(calls.count <= before + 1)
            blocker.mayGoOn.signal()
            #expect(try await eventually { pulse.obstacles.isEmpty && calls.count > before + 1 })
            pulse.stop()
            await server.stop()
        }
    }
}
