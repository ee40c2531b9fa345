// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import OfferDomain
import OfferService
import TestSupport
import Testing

/// Which offers a genuine app gets, and what is on record of it.
struct GenuineAppOfferTests {
    private static let offers = """
        {id: "store_only", appStore: {offerId: "store_store_only"}, eligibility: {appOrigin: {in: ["appStore"]}}},
        {id: "beta", appStore: {offerId: "store_beta"}, eligibility: {not: {appOrigin: {in: ["enterprise"]}}}},
        {id: "must", appStore: {offerId: "store_must", genuineApp: "require"}},
        {id: "free", appStore: {offerId: "store_free", genuineApp: "off"}},

        """

    /// A service with a subscriber, whose transactions the app sends, and a device with a registered key.
    private func withSubscriber(
        policy: String = "prefer",
        identityProviders: String = "[]",
        _ body: (StoreService, TestDevice, (String) throws -> Call) async throws -> Void
    ) async throws {
        // The fake store, and so the service, are of the present.
        let device = try TestDevice(at: Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)))
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        var roots = try device.rootPEM
        let settings = #"appAttest: {teamId: "ABCDE12345", policy: "\#(policy)"},"#
        try await withStoreService(
            asksStore: false,
            identityProviders: identityProviders,
            moreOffers: Self.offers,
            changing: { files in
                files.offers = files.offers.replacing("appAppleId:", with: "\(settings) appAppleId:")
                let store = files.appStore.flatMap { try? TemporaryDirectory.read($0.rootsPath) } ?? []
                roots += store
                files.settings[.appStoreRoots] = (try? directory.write(roots, to: "roots.pem")) ?? ""
            }
        ) { world async throws in
            let ids = try world.customer([.init(.active, startedDaysAgo: 30)]).subscriptions[0]
            let shown = try world.store.signTransaction(ids.originalTransactionID, latest: true)
            #expect(try await world.service.register(device).status == 200)
            try await body(world, device) { offer in
                world.service.call(as: "app", world.body(offer, #""signedTransactions": ["\#(shown)"]"#))
            }
        }
    }

    private func category(_ number: Int64) -> CBORDraft {
        .map([(.text("apple_validation_category_01"), .integer(number))])
    }

    @Test(.overBothEngines)
    func `an app that has to prove itself gets an offer with a proof and not without`() async throws {
        try await withSubscriber(policy: "require") { world, device, call async throws in
            var device = device
            device.draft.extensions = category(4)
            let challenge = try await world.service.challenge()
            #expect(try await world.service.send(call("open")).problem == "genuine-app-required")
            #expect(try await world.service.send(call("free")).status == 200, "its own policy")
            let reply = try await world.service.send(device.signed(call("open"), challenge))
            #expect(reply.status == 200, "\(reply)")
            let entries = try world.service.entries("sign.intent")
            #expect(entries.map { $0["genuine"] }.first == .some(.null), "\(entries)")
            let genuine = try #require(entries.last)["genuine"]
            #expect(genuine["by"] == .text("app-attest") && genuine["environment"] == .text("production"))
            #expect(genuine["origin"] == .text("appStore"))
        }
    }

    @Test func `where a proof is preferred, one is as good as none, and a wrong one is refused`() async throws {
        try await withSubscriber { world, device, call async throws in
            var device = device
            let challenge = try await world.service.challenge()
            #expect(try await world.service.send(call("open")).status == 200)
            #expect(try await world.service.send(call("must")).problem == "genuine-app-required")
            #expect(try await world.service.send(device.signed(call("must"), challenge)).status == 200)
            let again = try device.assertion(for: call("open"), challenge, counter: 1)
            #expect(try await world.service.send(again).problem == "genuine-app-refused")
            let page = try MetricsPage(try await world.service.send(.get("/metrics")))
            func count(_ result: String) -> Double? {
                let labels = #"method="app-attest",check="assertion",result="\#(result)""#
                return page.samples["offer_signer_genuine_app_checks_total{\(labels)}"]
            }
            #expect(count("absent") == 2 && count("accepted") == 1 && count("counter") == 1)
        }
    }

    @Test func `where proofs are off, none is looked at`() async throws {
        try await withGenuineApp(policy: "off") { service, device async throws in
            var device = device
            #expect(try await service.register(device).status == 200)
            let call = service.call(as: "app", genuineBody())
            let wrong = try device.signed(call, "no challenge")
            #expect(try await service.send(wrong).isPastProof)
        }
    }

    @Test func `a re-signed copy of the app gets nothing, and neither does one from elsewhere than the rule asks`()
        async throws
    {
        try await withSubscriber { world, device, call async throws in
            var copy = try TestDevice(of: device, at: world.service.clock.now)
            copy.draft.appID = "ZZZZZ99999.com.example.app"
            copy.draft.extensions = category(4)
            #expect(try await world.service.register(copy).problem == "genuine-app-refused")
            var device = device
            let challenge = try await world.service.challenge()
            // The assertions of a key that the genuine app registered still name the app that uses the key.
            device.draft.appID = "ZZZZZ99999.com.example.app"
            device.draft.extensions = category(4)
            let stolen = try device.signed(call("store_only"), challenge)
            #expect(try await world.service.send(stolen).problem == "genuine-app-refused")
            device.draft.appID = TestDevice.appID
            #expect(try await world.service.send(device.signed(call("store_only"), challenge)).status == 200)
            for number: Int64 in [2, 3, 5, 6, 10, 0] {
                device.draft.extensions = category(number)
                let reply = try await world.service.send(device.signed(call("store_only"), challenge))
                #expect(reply.problem == "not-eligible", "\(number) \(reply)")
            }
            #expect(try await world.service.send(device.signed(call("beta"), challenge)).status == 200)
            device.draft.extensions = category(5)
            #expect(try await world.service.send(device.signed(call("beta"), challenge)).problem == "not-eligible")
            device.draft.extensions = nil
            let unknown = try await world.service.send(device.signed(call("store_only"), challenge))
            #expect(unknown.problem == "eligibility-undecided", "an older system does not say")
            #expect(unknown.body.contains("app-origin-unknown"))
            #expect(try await world.service.send(call("store_only")).problem == "eligibility-undecided")
            let denied = try #require(try world.service.entries("sign.deny").dropLast().last)
            #expect(denied["genuine"]["by"] == .text("app-attest") && denied["genuine"]["origin"] == .null)
        }
    }

    @Test func `a user's token and the genuine app get an offer together, and neither alone nor with a re-signed app`()
        async throws
    {
        let provider = try FakeIdentityProvider()
        let entry = """
            [{issuer: "\(provider.issuer)", audience: "offer-signer", bundleIds: ["com.example.app"], name: "login",
              appAccountToken: {claim: "account"}}]
            """
        try await withSubscriber(policy: "require", identityProviders: entry) { world, device, call async throws in
            var device = device
            let token = try UserToken(provider.issuer, of: "anna", at: world.service.clock.now)
                .with("account", "\"\(world.token)\"").text(provider)
            let fields = [("Content-Type", "application/json"), ("Authorization", "Bearer \(token)")]
            let asked = Call(fields: fields, body: try call("store_only").body)
            let challenge = try await world.service.challenge()
            #expect(try await world.service.send(asked).problem == "genuine-app-required")
            device.draft.extensions = category(5)
            #expect(try await world.service.send(device.signed(asked, challenge)).problem == "not-eligible")
            device.draft.extensions = category(4)
            device.draft.appID = "ZZZZZ99999.com.example.app"
            #expect(try await world.service.send(device.signed(asked, challenge)).problem == "genuine-app-refused")
            device.draft.appID = TestDevice.appID
            let reply = try await world.service.send(device.signed(asked, challenge))
            #expect(reply.status == 200 && reply.json["appAccountToken"].text == world.token, "\(reply)")
            let entry = try #require(try world.service.entries("sign.intent").last)
            #expect(entry["caller"] == .text("users:login") && entry["genuine"]["origin"] == .text("appStore"))
        }
    }

    @Test func `a backend states where the app is from, and an app may not`() async throws {
        try await withGenuineApp(policy: "prefer") { service, _ async throws in
            let body = offerBody("open").replacing(
                "subscribedBefore",
                with: #"appOrigin": "appStore", "subscribedBefore"#
            )
            #expect(try await service.send(service.call(as: "backend", body)).status == 200)
            #expect(try await service.send(service.call(as: "app", body)).problem == "assertion-not-allowed")
            let wrong = body.replacing(#""appStore""#, with: #""store""#)
            #expect(try await service.send(service.call(as: "backend", wrong)).problem == "invalid-request")
        }
    }

    @Test func `eligibility tells which offers need a proof, and what holds with one`() async throws {
        try await withSubscriber { world, device, call async throws in
            var device = device
            device.draft.extensions = category(4)
            let members = try #require(call("x").body.split(separator: UInt8(ascii: "[")).last)
            let shown = String(decoding: members, as: UTF8.self).prefix { $0 != "]" }
            let body = """
                {"bundleId": "com.example.app", "offerIds": ["must", "store_only"], "signedTransactions": [\(shown)]}
                """
            let asked = world.service.call(as: "app", body).at("/v1/eligibility")
            let without = try await world.service.send(asked)
            // In the order of the catalog.
            let offers = without.json["offers"].elements
            #expect(offers.map { $0["id"].text } == ["store_only", "must"])
            #expect(offers.map { $0["obstacle"].text } == [nil, "genuine-app-required"], "\(without)")
            #expect(offers.map { $0["outcome"].text } == ["undecided", "eligible"])
            let challenge = try await world.service.challenge()
            let with = try await world.service.send(device.signed(asked, challenge))
            #expect(with.json["offers"].elements.map { $0["obstacle"].text } == [nil, nil], "\(with)")
            #expect(with.json["offers"].elements.map { $0["outcome"].text } == ["eligible", "eligible"])
        }
    }
}
