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
            let (blocker, clock, told) = (Blocker(), SettableClock(), Recorder())
            let server = try Server(ServerConfiguration(loops: 1), responder: blocker)
            try server.start()
            let pulse = Pulse([server], service.committer, clock: clock.wallClock)
            pulse.whileAlive { told.add() }
            pulse.start()
            #expect(try await eventually { told.count > 1 })
            let client = try RawHTTPClient(port: server.port)
            client.send(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            blocker.isBlocking.wait()
            clock.advance(seconds: 31)
            #expect(pulse.obstacles.map(\.name) == ["stuck"] && pulse.obstacles[0].detail.contains("event loop 1"))
            // One look may have been under way.
            let before = told.count
            try await Task.sleep(for: .seconds(3))
            #expect(told.count <= before + 1)
            blocker.mayGoOn.signal()
            #expect(try await eventually { pulse.obstacles.isEmpty && told.count > before + 1 })
            pulse.stop()
            await server.stop()
        }
    }
}
