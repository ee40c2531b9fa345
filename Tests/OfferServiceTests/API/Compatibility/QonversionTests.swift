// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferService
import TestSupport
import Testing

/// `POST /compat/qonversion/v3/users/{userId}/offers/{offerId}/signatures`, as Qonversion's SDK asks and reads.
struct QonversionTests {
    private func call(
        as caller: String,
        _ service: TestService,
        user: String = "QON_0a1b2c3d",
        offer: String = "store_open",
        _ body: String
    ) -> Call {
        service.call(as: caller, body).at("/compat/qonversion/v3/users/\(user)/offers/\(offer)/signatures")
    }

    private func body(token: String? = nil, bundle: String = "com.example.app") -> String {
        let account = token.map { #""app_account_token": "\#($0)", "# } ?? ""
        return #"{"product": "com.example.monthly", \#(account)"app_bundle_id": "\#(bundle)"}"#
    }

    /// A customer that an App Store notification reported.
    private func withKnownCustomer(
        _ wire: Wire = .inProcess,
        _ body: (StoreService) async throws -> Void
    ) async throws {
        try await withStoreService(wire, asksStore: false) { world in
            let customer = try world.customer([.init(.active)])
            let id = customer.subscriptions[0].originalTransactionID
            try await world.deliver(.init("SUBSCRIBED", transactionID: id))
            try await body(world)
        }
    }

    @Test(arguments: Wire.allCases)
    func `signs for a customer in the ledger, with the token exactly as it was sent`(wire: Wire) async throws {
        try await withKnownCustomer(wire) { world in
            for token in [world.token, world.token.uppercased()] {
                let reply = try await world.service.send(call(as: "backend", world.service, body(token: token)))
                #expect(reply.status == 200, "\(reply)")
                // The SDK takes an empty text for a mistake, and a timestamp of 0 for the device's clock.
                let answer = reply.json
                #expect(answer["key_identifier"].text == "ACTIVE0001")
                #expect((answer["timestamp"].integer ?? 0) > 1_600_000_000_000)
                let ours = try Tree(
                    """
                    {"identifier": "store_open", "keyIdentifier": "ACTIVE0001", \
                    "nonce": "\(answer["nonce"].text ?? "")", "signature": "\(answer["signature"].text ?? "")", \
                    "timestamp": \(answer["timestamp"].integer ?? 0)}
                    """
                )
                var signed = SignedAnswer(ours, binding: token)
                signed.productID = "com.example.monthly"
                #expect(signed.isV1Signed(by: try #require(world.service.publicKeys["active.p8"])), "\(token)")
            }
            #expect(try world.service.entries("sign.intent").count == 2)
        }
    }

    @Test func `records which SDK asked`() async throws {
        try await withKnownCustomer { world in
            let call = call(as: "backend", world.service, body(token: world.token))
                .with("Source-Version", "6.4.0").with("Platform", "iOS")
            #expect(try await world.service.send(call).status == 200)
            let client = try #require(try world.service.entries("sign.intent").first)["client"]
            #expect(client == (try Tree(#"{"library": "Qonversion", "os": "iOS", "version": "6.4.0"}"#)), "\(client)")
        }
    }

    @Test(arguments: Wire.ofRun)
    func `refuses in the SDK's form, and never with what makes it stop`(wire: Wire) async throws {
        try await withKnownCustomer(wire) { world in
            let (service, token) = (world.service, world.token)
            let rows: [(call: Call, status: Int)] = [
                // An app proves nothing by this call.
                (call(as: "app", service, body(token: token)), 422),
                (call(as: "backend", service, body()), 422),
                (call(as: "nobody", service, body(token: token)), 422),
                (call(as: "auditor", service, body(token: token)), 422),
                (call(as: "scoped", service, body(token: token, bundle: "com.example.other")), 422),
                (call(as: "backend", service, offer: "store_lapsed", body(token: token)), 422),
                (call(as: "backend", service, offer: "none", body(token: token)), 422),
                (call(as: "backend", service, offer: "open", body(token: token)), 422),
                (call(as: "backend", service, user: "a%2Fb", body(token: token)), 400),
                (call(as: "backend", service, user: "a%20b", body(token: token)), 400),
                (call(as: "backend", service, user: "%C3%A4", body(token: token)), 400),
                (call(as: "backend", service, offer: "a%E2%81%A3b", body(token: token)), 400),
                (call(as: "backend", service, body(token: "two words")), 400),
                (call(as: "backend", service, "{}"), 400),
                (call(as: "backend", service, "{"), 400),
            ]
            for (call, status) in rows {
                let reply = try await service.send(call)
                #expect(reply.status == status, "\(call.path): \(reply)")
                #expect(reply.json["error"]["message"].text?.isEmpty == false, "\(reply)")
                #expect(reply.headers["content-type"] == "application/json")
            }
            #expect(try service.entries("sign.intent").isEmpty)
            let plain = call(as: "backend", service, offer: "store%5Fopen", body(token: token))
            #expect(try await service.send(plain).status == 200, "an id is decoded")
        }
    }
}
