// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

/// What a user's token is good for: the offers of that user in the provider's apps, and nothing else.
struct UserOfferTests {
    /// A body for an offer, without facts: only a backend may state them.
    private static func body(_ offer: String, _ members: String = "") -> String {
        let more = members.isEmpty ? "" : ", \(members)"
        return """
            {"bundleId": "com.example.app", "productId": "com.example.monthly", "offerId": "\(offer)"\(more)}
            """
    }

    private static func call(_ token: String, _ body: String) -> Call {
        Call(
            fields: [("Content-Type", "application/json"), ("Authorization", "Bearer \(token)")],
            body: Array(body.utf8)
        )
    }

    private static let customerTokens = #"appAccountToken: {claim: "account"}"#

    private func withUsers(
        _ members: String = customerTokens,
        _ body: (StoreService, (String, String?) throws -> String) async throws -> Void
    ) async throws {
        let provider = try FakeIdentityProvider()
        let entry = """
            [{issuer: "\(provider.issuer)", audience: "offer-signer", bundleIds: ["com.example.app"], name: "login",
              \(members)}]
            """
        try await withStoreService(asksStore: false, identityProviders: entry) { world async throws in
            try await body(world) { user, account in
                try UserToken(provider.issuer, of: user, at: world.service.clock.now)
                    .with("account", account.map { "\"\($0)\"" }).text(provider)
            }
        }
    }

    @Test func `an app with its user's token gets the offers of that user without a backend`() async throws {
        try await withUsers { world, token async throws in
            let ids = try world.customer([.init(.active, startedDaysAgo: 30)]).subscriptions[0]
            let signed = try world.store.signTransaction(ids.originalTransactionID, latest: true)
            // The backend has reported the purchases before, as a notification could; the app sends none.
            let purchases = """
                {"bundleId": "com.example.app", "customerId": "anna", "signedTransactions": ["\(signed)"]}
                """
            let report = world.service.call(as: "backend", purchases).at("/v1/transactions")
            #expect(try await world.service.send(report).status == 200)
            let anna = try token("anna", world.token)
            let reply = try await world.service.send(Self.call(anna, Self.body("once_a_customer")))
            #expect(reply.status == 200, "\(reply)")
            #expect(reply.json["appAccountToken"].text == world.token, "as the token says")
            let entry = try #require(try world.service.entries("sign.intent").last)
            #expect(entry["caller"] == .text("users:login"), "\(entry)")
            // The cap counts the user, whatever token is shown.
            #expect(
                try await world.service.send(Self.call(try token("anna", world.token), Self.body("once_a_customer")))
                    .status == 403
            )
            let backend = Self.body("once_a_customer", #""customerId": "anna", "facts": {"subscribedBefore": true}"#)
            #expect(try await world.service.send(world.service.call(as: "backend", backend)).status == 403)
            // Another user has none of it.
            let eve = try token("eve", "00000000-0000-4000-8000-000000000001")
            #expect(try await world.service.send(Self.call(eve, Self.body("once_a_customer"))).status == 403)
        }
    }

    @Test func `what the token proves may be repeated and not be contradicted`() async throws {
        try await withUsers { world, token async throws in
            let anna = try token("anna", world.token)
            func ask(_ members: String) async throws -> Reply {
                try await world.service.send(Self.call(anna, Self.body("open", members)))
            }
            for good in [#""customerId": "anna""#, #""appAccountToken": "\#(world.token.uppercased())""#] {
                let reply = try await ask(good)
                #expect(reply.problem == "eligibility-undecided", "only the facts are missing: \(good): \(reply)")
            }
            let other = "00000000-0000-4000-8000-000000000001"
            let wrong = [
                (#""customerId": "eve""#, "/customerId"), (#""customerId": "Anna""#, "/customerId"),
                (#""appAccountToken": "\#(other)""#, "/appAccountToken"),
                (#""applicationUsername": "eve""#, "/applicationUsername"),
                (#""facts": {"subscribedBefore": true}"#, "/facts"),
                (#""attributes": {"tier": "gold"}"#, "/attributes"),
            ]
            for (members, pointer) in wrong {
                let reply = try await ask(members)
                #expect(reply.status == 403 && reply.problem == "assertion-not-allowed", "\(members): \(reply)")
                #expect(reply.pointers == [pointer])
            }
        }
    }

    @Test func `a token is good for the apps of its provider alone`() async throws {
        try await withUsers("") { world, token async throws in
            let anna = try token("anna", nil)
            let body = Self.body("open").replacing("com.example.app", with: "com.example.other")
            let reply = try await world.service.send(Self.call(anna, body))
            #expect(reply.status == 403 && reply.problem == "bundle-not-allowed", "\(reply)")
            let preview = Call.preview(anna, #""bundleId": "com.example.other""#)
            #expect(try await world.service.send(preview).problem == "bundle-not-allowed")
        }
    }

    @Test func `purchases of another account are refused beside the token's account token`() async throws {
        try await withUsers { world, token async throws in
            let ids = try world.customer([.init(.active, startedDaysAgo: 30)]).subscriptions[0]
            let signed = try world.store.signTransaction(ids.originalTransactionID, latest: true)
            let shown = #""signedTransactions": ["\#(signed)"]"#
            let own = try await world.service.send(Self.call(try token("anna", world.token), Self.body("open", shown)))
            #expect(own.status == 200, "\(own)")
            let eve = try token("eve", "00000000-0000-4000-8000-000000000001")
            let reply = try await world.service.send(Self.call(eve, Self.body("open", shown)))
            #expect(reply.problem == "signed-data-of-other-account", "\(reply)")
            let username = #""applicationUsername": "00000000-0000-4000-8000-000000000001", "formats": ["jws"], "#
            let aside = try await world.service.send(Self.call(eve, Self.body("open", username + shown)))
            #expect(aside.problem == "signed-data-of-other-account", "\(aside)")
            let report = Self.call(eve, #"{"bundleId": "com.example.app", \#(shown)}"#).at("/v1/transactions")
            #expect(try await world.service.send(report).problem == "signed-data-of-other-account")
            let named = #"{"bundleId": "com.example.app", "customerId": "anna", \#(shown)}"#
            let naming = try await world.service.send(Self.call(eve, named).at("/v1/transactions"))
            #expect(naming.problem == "assertion-not-allowed", "\(naming)")
        }
    }

    @Test func `users of one provider do not share idempotency keys`() async throws {
        try await withUsers(#"customerId: {claim: "sub"}"#) { world, token async throws in
            let ids = try world.customer([.init(.active, startedDaysAgo: 30)]).subscriptions[0]
            let id = ids.originalTransactionID
            let signed = try world.store.signTransaction(id, changing: ["appAccountToken": .null])
            let body = Self.body("open", #""signedTransactions": ["\#(signed)"]"#)
            var grants: Set<String> = []
            for user in ["anna", "eve"] {
                for _ in 0..<2 {
                    let call = Self.call(try token(user, nil), body).with("Idempotency-Key", "1")
                    let reply = try await world.service.send(call)
                    grants.insert(try #require(reply.json["grantId"].text, "\(reply)"))
                }
            }
            #expect(grants.count == 2)
        }
    }

    @Test func `accounts of one user do not share idempotency keys`() async throws {
        try await withUsers { world, token async throws in
            let ids = try world.customer([.init(.active, startedDaysAgo: 30)]).subscriptions[0]
            let id = ids.originalTransactionID
            let signed = try world.store.signTransaction(id, changing: ["appAccountToken": .null])
            let body = Self.body("open", #""signedTransactions": ["\#(signed)"]"#)
            var grants: Set<String> = []
            for account in ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"] {
                let call = Self.call(try token("anna", account), body).with("Idempotency-Key", "1")
                let reply = try await world.service.send(call)
                grants.insert(reply.json["grantId"].text ?? reply.problem ?? "\(reply)")
            }
            #expect(grants.count == 2)
        }
    }

    @Test func `claims become attributes, a hash and a derived account token`() async throws {
        let provider = try FakeIdentityProvider()
        let members = """
            customerId: {claim: "email", form: "sha256"},
            appAccountToken: {derive: "uuidv5", namespace: "6ba7b810-9dad-11d1-80b4-00c04fd430c8"},
            attributes: {tier: "claim:plan"},
            """
        try await withService(.inProcess, .trusting(provider, members)) { service async throws in
            let token = UserToken(provider.issuer, at: service.clock.now).with("email", #""anna@example.com""#)
                .with("email_verified", "true")
            func outcome(_ token: UserToken) async throws -> Reply {
                try await service.send(.preview(try token.text(provider)))
            }
            let gold = try await outcome(token.with("plan", #""gold""#))
            #expect(gold.status == 200, "\(gold)")
            #expect(try await outcome(token.with("email", nil)).problem == "invalid-token")
            // An unverified address may belong to another user.
            for unverified in ["false", nil, #""yes""#] {
                #expect(try await outcome(token.with("email_verified", unverified)).problem == "invalid-token")
            }
            #expect(try await outcome(token.with("email_verified", #""true""#)).status == 200)
            #expect(try await outcome(token.with("plan", "[1]")).problem == "invalid-token")
            // Python: hashlib.sha256(b"anna@example.com").hexdigest(), uuid.uuid5(uuid.NAMESPACE_DNS, that)
            let named = Call.preview(
                try token.text(provider),
                """
                "bundleId": "com.example.app",
                "customerId": "\(Self.hashOfAnna)", "appAccountToken": "\(Self.tokenOfAnna)"
                """
            )
            #expect(try await service.send(named).status == 200)
        }
    }

    private static let hashOfAnna = "f7d54c22dda5b1780276601cd005909b70543fc4a6ba72d735b4cb9bbb611f01"
    private static let tokenOfAnna = "f5153c53-ab9b-5ee0-9cc7-4d5e83cdbfa4"
}
