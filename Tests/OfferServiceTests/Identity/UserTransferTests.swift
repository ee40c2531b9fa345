// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import TestSupport
import Testing

/// What a user's token transfers: an anonymous customer to the customer that the token proves, and nothing else.
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

    @Test func `a user who logs in counts with the device, and gets what was bought there once a backend says so`()
        async throws
    {
        try await withUsers { world, token async throws in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            try await world.vouch(ids, #""anonymousId": "device-1""#)
            let anna = try token("anna")
            #expect(try await world.service.send(Self.ask(anna)).problem == "eligibility-undecided")
            let reply = try await world.service.send(Self.transfer(anna, to: "anna"))
            #expect(reply.status == 200 && reply.body.contains(#""isRepeated":false"#), "\(reply)")
            let again = try await world.service.send(Self.transfer(anna, to: "anna"))
            #expect(again.status == 200 && again.body.contains(#""isRepeated":true"#), "\(again)")
            let entry = try #require(try world.service.entries("customer.transferred").last)
            #expect(entry["caller"] == .text("users:login"))
            let theirs = try await world.service.send(Self.ask(anna))
            #expect(theirs.problem == "eligibility-undecided", "the device may be another person's: \(theirs)")
            let preview = Call.preview(anna, #""bundleId": "com.example.app", "offerIds": ["running"]"#)
            let offerPreview = try await world.service.send(preview)
            #expect(offerPreview.json["offers"][0]["outcome"] == .text("undecided"), "\(offerPreview)")
            let vouched = try await world.service.send(world.service.transferCall(from: "device-1", to: "anna"))
            #expect(vouched.body.contains(#""isRepeated":false"#), "a backend's word is more: \(vouched)")
            #expect(try await world.service.send(Self.transfer(anna, to: "anna")).body.contains(#""isRepeated":true"#))
            #expect(try world.service.entries("customer.transferred").count == 2)
            let running = try await world.service.send(Self.ask(anna))
            #expect(running.status == 200, "\(running)")
            let eve = try await world.service.send(Self.ask(try token("eve")))
            #expect(eve.problem == "eligibility-undecided", "\(eve)")
        }
    }

    @Test func `what a user's token links counts against both, in both directions`() async throws {
        try await withUsers { world, token async throws in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            let signed = try world.tokenless(ids).map { #""\#($0)""# }.joined(separator: ", ")
            func ask(_ token: String, _ members: String) async throws -> String? {
                let body = """
                    {"bundleId": "com.example.app", "productId": "com.example.monthly", "offerId": "once_a_customer", \
                    "formats": ["jws"], "signedTransactions": [\(signed)], \(members)}
                    """
                var call = Self.ask(token)
                call.body = Array(body.utf8)
                return try await world.service.send(call).problem
            }
            let stated = #""customerId": "eve", "anonymousId": "device-1", "facts": {"subscribedBefore": true}"#
            #expect(try await world.sign("once_a_customer", stated).status == 200)
            let anna = try token("anna")
            #expect(try await world.service.send(Self.transfer(anna, to: "anna")).status == 200)
            let answer = try await ask(anna, #""customerId": "anna""#)
            #expect(answer == "not-eligible", "the device's grant counts for the user")
            let facts = #""facts": {"subscribedBefore": true}"#
            let zoe = try token("zoe")
            #expect(try await world.sign("once_a_customer", #""customerId": "zoe", \#(facts)"#).status == 200)
            let body = """
                {"bundleId": "com.example.app", "from": {"anonymousId": "device-2"}, "to": {"customerId": "zoe"}}
                """
            var transfer = Self.transfer(zoe, to: "zoe")
            transfer.body = Array(body.utf8)
            #expect(try await world.service.send(transfer).status == 200)
            let device = #""anonymousId": "device-2", \#(facts)"#
            let reply = try await world.sign("once_a_customer", device)
            #expect(reply.problem == "not-eligible", "and the user's for the device: \(reply)")
        }
    }

    @Test func `what users' tokens link keeps no backend's word out`() async throws {
        try await withUsers { world, token async throws in
            let anna = try token("anna")
            func transfer(_ device: String) async throws -> Reply {
                var call = Self.transfer(anna, to: "anna")
                call.body = Array(String(decoding: call.body, as: UTF8.self).replacing("device-1", with: device).utf8)
                return try await world.service.send(call)
            }
            for number in 0..<CustomerPolicy.mostLinks {
                #expect(try await transfer("device-\(number)").status == 200)
            }
            #expect(try await transfer("one-more").problem == "too-many-transfers")
            let vouched = try await world.service.send(world.service.transferCall(from: "own", to: "anna"))
            #expect(vouched.status == 200, "\(vouched)")
            let upgraded = try await world.service.send(world.service.transferCall(from: "device-7", to: "anna"))
            #expect(upgraded.status == 200 && upgraded.body.contains(#""isRepeated":false"#), "\(upgraded)")
        }
    }

    @Test func `refuses a transfer to another customer, in another app, or without a valid token`() async throws {
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
