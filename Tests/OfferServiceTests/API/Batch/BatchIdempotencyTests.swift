// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import TestSupport
import Testing

/// A retried batch gets the grants of the first one, item by item.
@Suite(.overBothEngines) struct BatchIdempotencyTests {
    private static let bodies = ["ada", "grace", "edsger"].map { customerBody("once", $0) }

    private func call(_ service: TestService, _ bodies: [String], key: String = "k") -> Call {
        service.batch(bodies).with("Idempotency-Key", key)
    }

    @Test(arguments: Wire.ofRun)
    func `gives a retry the same grants, and signs and records them again`(wire: Wire) async throws {
        try await withService(wire) { service in
            let call = call(service, Self.bodies + [offerBody("nothing")])
            let first = try await service.send(call)
            #expect(first.statuses == [200, 200, 200, 404], "\(first)")
            service.clock.advance(hours: 3)
            let second = try await service.send(call)
            #expect(second.statuses == [200, 200, 200, 404], "caps of one are not touched: \(second)")
            for (before, after) in zip(first.results, second.results).prefix(3) {
                for member in before["grant"].names.subtracting(["signature"]) {
                    #expect(before["grant"][member] == after["grant"][member], "\(member)")
                }
                #expect(before["grant"]["signature"] != after["grant"]["signature"])
            }
            #expect(Set(first.results.prefix(3).map { $0["grant"]["nonce"] }).count == 3)
            #expect(try service.entries("sign.intent").count == 6)
            #expect(service.metrics[.replays] == 3)
            service.clock.advance(hours: 21)
            #expect(try await service.send(call).statuses == [403, 403, 403, 404], "a day later the key is forgotten")
        }
    }

    /// Other bodies than the three requests.
    static let others = [
        bodies.dropLast() + [customerBody("once", "barbara")],
        bodies + [offerBody("open")],
        Array(bodies.dropLast()),
        Array(bodies.reversed()),
        [offerBody("open")],
    ]

    @Test(arguments: Wire.ofRun, others)
    func `refuses a key that was used with another body, as a whole`(wire: Wire, other: [String]) async throws {
        try await withService(wire) { service in
            // Only the last is granted, so that a shorter body touches no grant.
            let refused = offerBody("once")
            let first = try await service.send(call(service, [refused, refused, Self.bodies[2]]))
            #expect(first.statuses == [403, 403, 200], "\(first)")
            let reply = try await service.send(call(service, other))
            #expect(reply.status == 422)
            #expect(reply.problem == "idempotency-key-reused", "\(reply)")
            #expect(try service.entries("sign.intent").count == 1)
            #expect(try await service.send(call(service, other, key: "other")).status == 200)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `keeps keys of callers, and of single requests and batches, apart`(wire: Wire) async throws {
        try await withService(wire) { service in
            let grants = try await [
                service.send(call(service, [offerBody("open")])),
                service.send(service.batch(as: "second-backend", [offerBody("open")]).with("Idempotency-Key", "k")),
                service.send(call(service, [offerBody("open")], key: #""k""#)),
                service.send(service.call(offer: "open").with("Idempotency-Key", "k")),
            ]
            .map { $0.results.first?["grant"]["grantId"].text ?? $0.json["grantId"].text }
            #expect(grants[0] == grants[2])
            #expect(Set(grants).count == 3 && !grants.contains(nil), "\(grants)")
            let two = try await service.send(service.batch([]).with("Idempotency-Key", "a b"))
            #expect(two.problem == "invalid-idempotency-key", "\(two)")
        }
    }

    @Test(arguments: Wire.ofRun)
    func `decides afresh what was refused, and grants the rest again`(wire: Wire) async throws {
        try await withService(wire) { service in
            let lapsed = offerBody("lapsed").replacing(
                #"{"subscribedBefore": true}"#,
                with: #"{"status": "expired", "expiresAt": "2026-06-01T13:00:00Z"}"#
            )
            let call = call(service, [Self.bodies[0], lapsed])
            let first = try await service.send(call)
            #expect(first.statuses == [200, 403], "\(first)")
            service.clock.advance(hours: 3)
            let second = try await service.send(call)
            #expect(second.statuses == [200, 200], "\(second)")
            #expect(second.results[0]["grant"]["grantId"] == first.results[0]["grant"]["grantId"])
            let third = try await service.send(call)
            #expect(third.results.map { $0["grant"]["grantId"] } == second.results.map { $0["grant"]["grantId"] })
        }
    }

    @Test(arguments: Wire.allCases)
    func `gives a hundred batches at once with one key one grant for each of their requests`(wire: Wire) async throws {
        try await withService(wire) { service in
            let call = call(service, Self.bodies)
            let replies = try await service.send(Array(repeating: call, count: 100))
            #expect(replies.allSatisfy { $0.statuses == [200, 200, 200] })
            for member in ["nonce", "grantId", "timestamp"] {
                #expect(Set(replies.map { $0.results.map { $0["grant"][member] } }).count == 1, "\(member)")
            }
            #expect(try service.entries("sign.intent").count == 300)
        }
    }

    /// A grant was decided for one offer; a retry must not turn it into another one, and the others are not touched.
    @Test func `refuses only the retried request with a changed store offer, and grants the other`() async throws {
        try await withService { service in
            let other = offerBody("open").replacing("com.example.app", with: "com.example.other")
            let call = call(service, [offerBody("open"), other])
            #expect(try await service.send(call).statuses == [200, 200])
            let before = service.current.value
            let changed = CatalogOffer(
                id: try CatalogOfferID("open"),
                listing: AppStoreListing(
                    bundleID: try BundleID("com.example.app"),
                    productID: try ProductID("pro.monthly"),
                    subscriptionGroupID: nil,
                    offerID: try OfferID("store_much_better")
                ),
                terms: OfferTerms(rule: nil)
            )
            let unchanged = try before.catalog.offer(
                try OfferID("open"),
                of: try ProductID("pro.monthly"),
                in: try BundleID("com.example.other")
            ).offer
            let catalog = Catalog(
                apps: Array(before.catalog.apps.values),
                offers: [changed, unchanged],
                digest: before.catalog.digest
            )
            service.current.swap(
                Snapshot(
                    catalog: catalog,
                    keyRing: before.keyRing,
                    pseudonyms: before.pseudonyms,
                    callers: before.callers
                )
            )
            let reply = try await service.send(call)
            #expect(reply.statuses == [422, 200], "\(reply)")
            #expect(reply.problems == ["idempotency-key-reused", nil])
        }
    }
}
