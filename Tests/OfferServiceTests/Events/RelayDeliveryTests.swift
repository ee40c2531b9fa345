// SPDX-License-Identifier: Apache-2.0
import HTTP
import TestSupport
import Testing

@testable import Configuration
@testable import OfferService

/// Notifications as their further receivers get them.
@Suite(.overBothEngines) struct RelayDeliveryTests {
    /// Runs `body` beside a relay of the App Store's notifications that `receiver` is.
    private static func withRelay(
        _ receiver: EventReceiver,
        _ body: (StoreService) async throws -> Void
    ) async throws {
        let events: (String) -> String = { origin in
            #"relays: [{id: "vendor", store: "app-store", url: "\#(origin)/vendor", tokenFile: "relay.token"}]"#
        }
        try await withEventReceiver(receiver, events: events) { path in
            try await withStoreService(.loopback, asksStore: false, changing: { $0.settings[.events] = path }, body)
        }
    }

    /// Sends a notification, and answers its bytes; that these are no JSON as we would write it shows that they are kept.
    private static func notify(_ world: StoreService) async throws -> [UInt8] {
        let body = " \n" + (try world.store.signNotification(.init("TEST")).body) + "\n "
        #expect(try await world.service.send(.notification(body)).status == 200)
        return Array(body.utf8)
    }

    @Test func `a receiver that fails gets each one later, byte for byte`() async throws {
        let receiver = EventReceiver { _, earlier in
            Response(status: [500, 503, 302].indices.contains(earlier) ? [500, 503, 302][earlier] : 200)
        }
        try await Self.withRelay(receiver) { world in
            let sent = [try await Self.notify(world), try await Self.notify(world)]
            #expect(try await world.service.hasDelivered(to: "vendor"))
            #expect(Set(receiver.bodies(at: "/vendor")) == Set(sent) && receiver.bodies(at: "/vendor").count == 2)
            #expect(receiver.attempts(at: "/vendor") == 5)
            #expect(receiver.taken(at: "/vendor").allSatisfy { $0.authorization == "Bearer a-token-of-16-or-more" })
            let metric = Metric.eventDeliveries(endpoint: "vendor", outcome: "failed")
            #expect(world.service.metrics[metric] == 3)
        }
    }

    @Test func `a receiver that answers 410 gets nothing more until it is enabled, and then all`() async throws {
        let receiver = EventReceiver { _, earlier in Response(status: earlier == 0 ? 410 : 204) }
        try await Self.withRelay(receiver) { world in
            let table = EndpointTable(connection: try world.service.ledger.openPatiently())
            var sent = [try await Self.notify(world)]
            #expect(try await eventually { try table.row("vendor")?.disabledAt != nil })
            sent.append(try await Self.notify(world))
            #expect(try await eventually { world.service.deliverer.deliveryStatuses["vendor"]?.state == .disabled })
            let page = try await world.service.send(.get("/metrics")).body
            let state = #"offer_signer_event_endpoint_state{endpoint="vendor",kind="relay",state="disabled"} 1"#
            #expect(page.contains(state), "\(page)")
            // By the clock of the service, it looks for many hours whether it is enabled.
            for _ in 0..<20 { world.service.clock.advance(hours: 1) }
            world.service.deliverer.removeRelayed()
            #expect(try table.enable("vendor"))
            #expect(try await world.service.hasDelivered(to: "vendor"))
            #expect(Set(receiver.bodies(at: "/vendor")) == Set(sent))
            #expect(receiver.attempts(at: "/vendor") == 3, "nothing came while it was disabled")
        }
    }

    @Test func `Google's push body comes as Pub/Sub wrote it, with our token in place of Google's`() async throws {
        let receiver = EventReceiver()
        let events: (String) -> String = { origin in
            #"relays: [{id: "play", store: "google-play", url: "\#(origin)/play", tokenFile: "relay.token"}, "#
                + #"{id: "open", store: "google-play", url: "\#(origin)/open"}, "#
                + #"{id: "apple", store: "app-store", url: "\#(origin)/apple"}]"#
        }
        try await withEventReceiver(receiver, events: events) { path in
            try await withFakePlay(.loopback, settings: [.events: path]) { world in
                let bought = try world.play.buy(.init("premium"))
                let call = try world.call(try #require(bought.messageIDs.first))
                // Pub/Sub sends it until it is acknowledged, and sometimes after that.
                for _ in 0..<2 { #expect(try await world.service.send(call).status == 204) }
                for id in ["play", "open", "apple"] { #expect(try await world.service.hasDelivered(to: id)) }
                #expect(receiver.bodies(at: "/play") == [call.body] && receiver.bodies(at: "/open") == [call.body])
                #expect(receiver.bodies(at: "/apple").isEmpty)
                let tokens = ["/play", "/open"].map { receiver.taken(at: $0).map(\.authorization) }
                #expect(tokens == [["Bearer a-token-of-16-or-more"], [nil]])
            }
        }
    }
}
