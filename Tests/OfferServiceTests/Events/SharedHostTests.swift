// SPDX-License-Identifier: Apache-2.0
import HTTP
import ServiceRuntime
import TestSupport
import Testing

@testable import Configuration
@testable import OfferService

/// Endpoints of one host; some do not answer.
@Suite(.overSQLite) struct SharedHostTests {
    private static func endpoints(_ origin: String) -> String {
        let paths = ["slow", "slower", "quick"]
        let endpoints = paths.map { #"{id: "\#($0)", url: "\#(origin)/\#($0)", secrets: ["events.secret"]}"# }
        return "endpoints: [\(endpoints.joined(separator: ", "))]"
    }

    @Test func `take nothing from each other, and show how far each is behind`() async throws {
        let isOpen = Guarded(false)
        let receiver = EventReceiver { path, _ in
            while path != "/quick", !isOpen.withLock({ $0 }), !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(5))
            }
            return Response(status: 204)
        }
        defer { isOpen.withLock { $0 = true } }
        try await withEventReceiver(receiver, events: Self.endpoints) { path in
            var files = TestFiles()
            files.settings[.events] = path
            try await withService(.inProcess, files) { service in
                for _ in 0..<40 { #expect(try await service.sign(offer: "open").status == 200) }
                #expect(try await eventually { receiver.taken(at: "/quick").count == 40 })
                for id in ["slow", "slower"] {
                    #expect(try await eventually { receiver.attempts(at: "/\(id)") == 8 }, "as many as it may have")
                    #expect(receiver.taken(at: "/\(id)").isEmpty)
                }
                #expect(receiver.attempts(at: "/slow") == 8 && receiver.attempts(at: "/slower") == 8)
                let areBehind = try await eventually {
                    let deliveryStatuses = service.deliverer.deliveryStatuses
                    return deliveryStatuses["slow"]?.backlog == 40 && deliveryStatuses["slower"]?.backlog == 40
                }
                #expect(areBehind, "\(service.deliverer.deliveryStatuses)")
                let page = try await service.send(.get("/metrics")).body
                #expect(page.contains(#"offer_signer_event_backlog_entries{endpoint="slow"} 40"#), "\(page)")
                isOpen.withLock { $0 = true }
                for id in ["slow", "slower", "quick"] { #expect(try await service.hasDelivered(to: id)) }
                #expect(receiver.taken(at: "/slow").count == 40 && receiver.taken(at: "/slower").count == 40)
            }
        }
    }
}
