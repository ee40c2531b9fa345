// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import OfferDomain
import OfferService
import TestSupport
import Testing

/// `POST /compat/revenuecat/v1/offers`, as RevenueCat's SDK asks and reads.
struct RevenueCatTests {
    /// The types of the SDK, which decodes with `convertFromSnakeCase`, and reads the first offer alone.
    struct PostOfferResponse: Decodable {
        struct Offer: Decodable {
            let offerId, productId, keyId: String
            let signatureData: SignatureData?
            let signatureError: ErrorResponse?
        }

        struct SignatureData: Decodable {
            let signature: String
            let nonce: UUID
            let timestamp: Int
        }

        struct ErrorResponse: Decodable {
            let code: Int
            let message: String
        }

        let offers: [Offer]

        init(_ reply: Reply) throws {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            self = try decoder.decode(Self.self, from: Data(reply.body.utf8))
        }
    }

    /// A request of the SDK.
    struct Ask: Sendable {
        var caller = "app"
        var user = "7E3FB204-2A6B-4B2F-9A3C-1B2C3D4E5F60"
        var token: String?
        var offer = "store_open"
        var product = "com.example.monthly"
        var storeKit: String? = "2"
        var bundle: String? = "com.example.app"
    }

    static func call(_ ask: Ask, to service: TestService) -> Call {
        let token = ask.token.map { "\"\($0)\"" } ?? "null"
        let body = """
            {"app_user_id": "\(ask.user)", "fetch_token": \(token), "generate_offers": \
            [{"offer_id": "\(ask.offer)", "product_id": "\(ask.product)", "subscription_group": "20000001"}]}
            """
        var call = service.call(as: ask.caller, body).at("/compat/revenuecat/v1/offers").with("X-Is-Sandbox", "false")
        if let storeKit = ask.storeKit { call = call.with("X-StoreKit-Version", storeKit) }
        if let bundle = ask.bundle { call = call.with("X-Client-Bundle-ID", bundle) }
        return call
    }

    /// The only offer of an answer.
    private func offer(_ reply: Reply) throws -> PostOfferResponse.Offer {
        #expect(reply.status == 200 && reply.headers["content-type"] == "application/json", "\(reply)")
        #expect(reply.headers["x-revenuecat-etag"] == nil && reply.headers["etag"] == nil)
        let offers = try PostOfferResponse(reply).offers
        #expect(offers.count == 1 && (offers[0].signatureData == nil) != (offers[0].signatureError == nil), "\(reply)")
        return try #require(offers.first)
    }

    /// Runs `body` with a signed transaction that names the token, and with one that names no token.
    private func withCustomer(
        _ wire: Wire = .inProcess,
        _ body: (StoreService, _ signed: String, _ withoutToken: String) async throws -> Void
    ) async throws {
        try await withStoreService(wire, asksStore: false) { world in
            let id = try world.customer([.init(.active)]).subscriptions[0].originalTransactionID
            let signed = try world.store.signTransaction(id)
            let without = try world.store.signTransaction(id, changing: ["appAccountToken": .null])
            try await body(world, signed, without)
        }
    }

    @Test(arguments: Wire.allCases)
    func `signs for the user that the SDK attaches`(wire: Wire) async throws {
        try await withCustomer(wire) { world, signed, without in
            let rows: [(ask: Ask, binding: String)] = [
                (Ask(token: signed), world.token),
                (Ask(token: signed, storeKit: nil), world.token),
                (Ask(user: "$RCAnonymousID:4f2a", token: without), ""),
                (Ask(user: "anna@example.com", token: without), ""),
                (Ask(user: world.token, token: signed, storeKit: "1"), world.token),
                (Ask(user: "Customer-42", token: without, storeKit: "1"), "Customer-42"),
            ]
            for (ask, binding) in rows {
                let offer = try offer(try await world.service.send(Self.call(ask, to: world.service)))
                #expect(offer.offerId == "store_open" && offer.productId == "com.example.monthly")
                let data = try #require(offer.signatureData, "\(ask)")
                let answer = try Tree(
                    """
                    {"identifier": "store_open", "keyIdentifier": "\(offer.keyId)", "signature": "\(data.signature)", \
                    "nonce": "\(data.nonce.uuidString.lowercased())", "timestamp": \(data.timestamp)}
                    """
                )
                var signed = SignedAnswer(answer, binding: binding)
                signed.productID = "com.example.monthly"
                #expect(signed.isV1Signed(by: try #require(world.service.publicKeys["active.p8"])), "\(ask)")
            }
            #expect(try world.service.entries("sign.intent").count == rows.count)
        }
    }

    @Test func `records which SDK asked, and leaves out what is too long`() async throws {
        try await withCustomer { world, signed, _ in
            let call = Self.call(Ask(token: signed), to: world.service)
                .with("X-Version", "5.43.0").with("X-Platform", "iOS").with("X-Platform-Version", "Version 26.1")
            #expect(try await world.service.send(call).status == 200)
            let long = Self.call(Ask(token: signed), to: world.service)
                .with("X-Version", String(repeating: "5", count: 65))
            #expect(try await world.service.send(long).status == 200)
            let clients = try world.service.entries("sign.intent").map(\.["client"])
            let named = #"{"library": "RevenueCat", "os": "iOS Version 26.1", "storeKit": 2, "version": "5.43.0"}"#
            #expect(clients == [try Tree(named), try Tree(#"{"library": "RevenueCat", "storeKit": 2}"#)])
            #expect(world.service.metrics[.offersSigned(offer: "open", client: "RevenueCat 5.43.0")] == 1)
            #expect(world.service.metrics[.offersSigned(offer: "open", client: "RevenueCat")] == 1)
        }
    }

    /// The SDK's own golden request, of StoreKit 1.
    @Test func `a receipt of StoreKit 1 shows nothing`() async throws {
        try await withCustomer { world, _, _ in
            for token in ["YW4gYXdlc29tZSBkaXNjb3VudA==", nil] {
                let ask = Ask(user: "user", token: token, storeKit: "1")
                let error = try offer(try await world.service.send(Self.call(ask, to: world.service))).signatureError
                #expect(error?.code == 7232 && error?.message.contains("fetch_token") == true)
            }
            #expect(try world.service.entries("sign.deny").count == 2)
        }
    }

    @Test func `what concerns the offer is an error inside the answer`() async throws {
        try await withCustomer { world, signed, without in
            let other = "0E3FB204-2A6B-4B2F-9A3C-1B2C3D4E5F60"
            let forged = signed.dropLast(8) + "AAAAAAAA"
            let rows: [(ask: Ask, code: Int)] = [
                (Ask(token: signed, offer: "store_lapsed"), 7232),
                (Ask(token: signed, offer: "store_none"), 7232),
                // The catalog's own id would go to StoreKit as it is.
                (Ask(token: signed, offer: "open"), 7232),
                (Ask(token: signed, product: "com.example.none"), 7232),
                // Signed data names another account than the SDK would attach.
                (Ask(user: other, token: signed), 7232),
                (Ask(user: "$RCAnonymousID:4f2a", token: signed), 7232),
                (Ask(token: String(forged)), 7103),
                (Ask(token: "a.b.c"), 7103),
            ]
            for (ask, code) in rows {
                let offer = try offer(try await world.service.send(Self.call(ask, to: world.service)))
                #expect(offer.signatureError?.code == code, "\(ask): \(offer)")
                #expect(offer.keyId == "ACTIVE0001" && offer.offerId == ask.offer && offer.productId == ask.product)
            }
            #expect(try world.service.entries("sign.intent").isEmpty)
            #expect(try await world.service.act("/v1/keys/ACTIVE0001/disable").status == 200)
            try world.service.refresh()
            let ask = Ask(user: "$RCAnonymousID:4f2a", token: without)
            let offer = try offer(try await world.service.send(Self.call(ask, to: world.service)))
            #expect(offer.signatureError?.code == 7234, "\(offer)")
        }
    }

    @Test(arguments: Wire.ofRun)
    func `everything else is an error of HTTP in the SDK's form`(wire: Wire) async throws {
        try await withCustomer(wire) { world, signed, _ in
            let service = world.service
            let rows: [(call: Call, status: Int, code: Int64)] = [
                (Self.call(Ask(caller: "nobody", token: signed), to: service), 401, 7225),
                (Self.call(Ask(caller: "auditor", token: signed), to: service), 403, 7225),
                (Self.call(Ask(caller: "scoped", token: signed, bundle: "com.example.other"), to: service), 403, 7225),
                (Self.call(Ask(token: signed, bundle: nil), to: service), 400, 7226),
                (Self.call(Ask(token: signed, bundle: "com example"), to: service), 400, 7226),
                (Self.call(Ask(token: signed, storeKit: "3"), to: service), 400, 7226),
                (Self.call(Ask(user: "", token: signed), to: service), 400, 7256),
                (Self.call(Ask(user: "zwei Wörter", token: signed, storeKit: "1"), to: service), 400, 7256),
                (
                    Self.call(Ask(user: String(repeating: "a", count: 65), token: signed, storeKit: "1"), to: service),
                    400, 7256
                ),
                (Self.call(Ask(token: signed, offer: "a\u{2063}b"), to: service), 400, 7226),
                (service.call(as: "app", "{").at("/compat/revenuecat/v1/offers"), 400, 7226),
            ]
            for (call, status, code) in rows {
                let reply = try await service.send(call)
                #expect(reply.status == status && reply.json["code"].integer == code, "\(reply)")
                #expect(reply.json["message"].text?.isEmpty == false)
                #expect(reply.headers["content-type"] == "application/json")
            }
            let seal = service.call(as: "admin", #"{"reason": "a drill"}"#).at("/v1/seal")
            #expect(try await service.send(seal).status == 200)
            let sealed = try await service.send(Self.call(Ask(token: signed), to: service))
            #expect(sealed.status == 503 && sealed.json["code"].integer == 7110, "\(sealed)")
            #expect(sealed.headers["retry-after"] != nil)
        }
    }

    @Test func `an app's device is held to its rate`() async throws {
        var files = TestFiles()
        files.settings = [.appRatePerAddress: "1/s:1"]
        try await withService(.inProcess, files) { service in
            let ask = Ask(user: "user", product: "pro.monthly", storeKit: "1")
            #expect(try offer(try await service.send(Self.call(ask, to: service))).signatureError?.code == 7232)
            let reply = try await service.send(Self.call(ask, to: service))
            #expect(reply.status == 429 && reply.json["code"].integer == 7110, "\(reply)")
            #expect(reply.headers["retry-after"] == "1" && reply.headers["ratelimit"] != nil)
        }
    }

    @Test func `each answer counts toward caps, and is on record`() async throws {
        try await withCustomer { world, signed, _ in
            let ask = Ask(token: signed, offer: "store_once_a_customer")
            #expect(try offer(try await world.service.send(Self.call(ask, to: world.service))).signatureData != nil)
            // Under another name and by our own call, it is the same customer.
            let again = try offer(try await world.service.send(Self.call(ask, to: world.service)))
            #expect(again.signatureError?.code == 7232)
            let own = world.service.call(
                as: "app",
                world.body("once_a_customer", #""signedTransactions": ["\#(signed)"]"#)
            )
            #expect(try await world.service.send(own).problem == "not-eligible")
        }
    }

    @Test func `an SDK's public key authenticates its caller on these calls only`() async throws {
        try await withCustomer { world, signed, _ in
            let key = "appl_AbCdEfGhIjKlMnOpQrStUvWxYz"
            let bundle: Set<AppName> = [try AppName("com.example.app")]
            let id = try #require(CallerID("revenuecat"))
            let callers = Callers(ledger: world.service.ledger, clock: world.service.clock.wallClock)
            _ = try callers.add(Caller(id: id, role: .app, apps: bundle), expiresInDays: nil).get()
            let sdkKey = try #require(SDKKey(Array(key.utf8)[...]))
            let keyID = try callers.addKey(sdkKey, to: id, expiresInDays: nil).get()
            try world.service.refresh()
            func call(_ ask: Ask) -> Call {
                var ask = ask
                ask.caller = "nobody"
                return Self.call(ask, to: world.service).with("Authorization", "Bearer \(key)")
            }
            #expect(try offer(try await world.service.send(call(Ask(token: signed)))).signatureData != nil)
            #expect(try world.service.entries("sign.intent").last?["caller"] == .text("revenuecat"))
            let other = try await world.service.send(call(Ask(token: signed, bundle: "com.example.other")))
            #expect(other.status == 403 && other.json["code"].integer == 7225)
            let own = world.service.call(as: "nobody", world.body("open")).with("Authorization", "Bearer \(key)")
            #expect(try await world.service.send(own).problem == "unauthenticated")
            try callers.revoke(id, keyID: keyID).get()
            try world.service.refresh()
            #expect(try await world.service.send(call(Ask(token: signed))).status == 401)
        }
    }

    @Test func `only an app of known bundles is given an SDK's key, each key for one caller`() async throws {
        try await withService { service in
            let callers = Callers(ledger: service.ledger, clock: service.clock.wallClock)
            let key = try #require(SDKKey(Array("appl_AbCdEfGh".utf8)[...]))
            let bundle: Set<AppName> = [try AppName("com.example.app")]
            for name in ["one", "two"] {
                let caller = Caller(id: try #require(CallerID(name)), role: .app, apps: bundle)
                _ = try callers.add(caller, expiresInDays: nil).get()
            }
            func fault(_ name: String) throws -> CallerStoreError? {
                let id = try #require(CallerID(name))
                guard case .failure(.refused(let error)) = callers.addKey(key, to: id, expiresInDays: nil) else {
                    return nil
                }
                return error
            }
            let (app, scoped) = (try #require(CallerID("app")), try #require(CallerID("scoped")))
            #expect(try fault("app") == .sdkKeyNeedsApp(app))
            #expect(try fault("scoped") == .sdkKeyNeedsApp(scoped))
            #expect(try fault("one") == nil)
            #expect(try fault("two") == .keyKnown(try #require(CallerID("one"))))
            try callers.revoke(try #require(CallerID("one")), keyID: nil).get()
            #expect(try fault("two") == nil, "the vendor does not replace its key, so it may be added again")
        }
        for text in ["short", "has space in", "quoted\"key", service60] {
            #expect(SDKKey(Array(text.utf8)[...]) == nil, "\(text)")
        }
    }

    /// What looks like an API key of the service is none of an SDK.
    private let service60 = String(repeating: "0", count: 16) + "." + String(repeating: "a", count: 43)
}
