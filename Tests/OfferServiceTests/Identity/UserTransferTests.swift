// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

/// What a user's token transfers: an anonymous customer to the customer whom the token proves, and nothing else.
struct UserTransferTests {
    private static func transfer(_ token: String, to customer: String, in app: String = "com.example.app") -> Call {
        let body = """
            {"bundleId": "\(app)", "from": {"anonymousId": "device-1"}, "to": {"customerId": "\(customer)"}}
            """
        return Call(
            path: "/v1/customers/transfers",
            fields: [("Content-Type", "application/json"), ("Authorization", "Bearer \(token)")],
            body: Array(body.utf8)
        )
    }

    private static func ask(_ token: String) -> Call {
        let body = #"{"bundleId": "com.example.app", "productId": "com.example.monthly", "offerId": "running"}"#
        return Call(
            fields: [("Content-Type", "application/json"), ("Authorization", "Bearer \(token)")],
            body: Array(body.utf8)
        )
    }

    private func withUsers(
        _ body: (StoreService, (String) throws -> String) async throws -> Void
    ) async throws {
        let provider = try FakeIdentityProvider()
        let entry = """
            [{issuer: "\(provider.issuer)", audience: "offer-signer", bundleIds: ["com.example.app"], name: "login"}]
            """
        try await withStoreService(asksStore: false, identityProviders: entry) { world async throws in
            try await body(world) { user in
                try UserToken(provider.issuer, of: user, at: world.service.clock.now).text(provider)
            }
        }
    }

    @Test func `a user who logs in brings along what the device bought before`() async throws {
        try await withUsers { world, token async throws in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            try await world.vouch(ids, #""anonymousId": "device-1""#)
            let anna = try token("anna")
            #expect(try await world.service.send(Self.ask(anna)).problem == "eligibility-undecided")
            let reply = try await world.service.send(Self.transfer(anna, to: "anna"))
            #expect(reply.status == 200 && reply.body.contains(#""isRepeated":false"#), "\(reply)")
            let entry = try #require(try world.service.entries("customer.transferred").last)
            #expect(entry["caller"] == .text("users:login"))
            let running = try await world.service.send(Self.ask(anna))
            #expect(running.status == 200, "\(running)")
            let eve = try await world.service.send(Self.ask(try token("eve")))
            #expect(eve.problem == "eligibility-undecided", "\(eve)")
        }
    }

    @Test func `nobody transfers to another customer, in another app, or without a token`() async throws {
        try await withUsers { world, token async throws in
            let anna = try token("anna")
            for other in ["eve", "Anna", "anna2"] {
                let reply = try await world.service.send(Self.transfer(anna, to: other))
                #expect(reply.status == 403 && reply.problem == "assertion-not-allowed", "\(reply)")
                #expect(reply.pointers == ["/to/customerId"])
            }
            let elsewhere = try await world.service.send(Self.transfer(anna, to: "anna", in: "com.example.other"))
            #expect(elsewhere.problem == "bundle-not-allowed", "\(elsewhere)")
            let key = try #require(world.service.credentials["app"])
            let app = try await world.service.send(Self.transfer(key, to: "anna"))
            #expect(app.status == 403 && app.problem == "role-not-allowed", "\(app)")
            let forged = try await world.service.send(Self.transfer(String(anna.dropLast(3)) + "AAA", to: "anna"))
            #expect(forged.status == 401 && forged.problem == "invalid-token", "\(forged)")
            #expect(try world.service.entries("customer.transferred").isEmpty)
        }
    }
}
