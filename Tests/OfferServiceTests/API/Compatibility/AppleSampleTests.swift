// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferService
import TestSupport
import Testing

/// `POST /compat/apple-sample/offer`, as clients of the server that Apple showed in 2019 ask.
struct AppleSampleTests {
    private static let path = "/compat/apple-sample/offer"

    private func withCustomer(
        _ wire: Wire = .inProcess,
        _ body: (StoreService, _ signed: String) async throws -> Void
    ) async throws {
        try await withStoreService(wire, asksStore: false) { world in
            let id = try world.customer([.init(.active)]).subscriptions[0].originalTransactionID
            try await world.deliver(.init("SUBSCRIBED", transactionID: id))
            try await body(world, try world.store.signTransaction(id))
        }
    }

    private func form(as caller: String, _ service: TestService, _ body: String) -> Call {
        var call = Call(body: Array(body.utf8)).at(Self.path).with("Content-Type", "application/x-www-form-urlencoded")
        if let credential = service.credentials[caller] { call = call.with("Authorization", "Bearer \(credential)") }
        return call
    }

    @Test(arguments: Wire.allCases)
    func `signs what either spelling asks for, in JSON and in a form`(wire: Wire) async throws {
        try await withCustomer(wire) { world, signed in
            let service = world.service
            let (token, upper) = (world.token, world.token.uppercased())
            let calls: [(call: Call, binding: String)] = [
                (
                    service.call(
                        as: "backend",
                        """
                        {"appBundleID": "com.example.app", "productIdentifier": "com.example.monthly", \
                        "offerID": "store_open", "applicationUsername": "\(token)", "locale": "de"}
                        """
                    ).at(Self.path), token
                ),
                (
                    service.call(
                        as: "app",
                        """
                        {"appBundleID": "com.example.app", "productID": "com.example.monthly", \
                        "subscriptionOfferID": "store_open", "applicationUsername": "\(upper)", \
                        "signedTransactions": ["\(signed)"]}
                        """
                    ).at(Self.path), upper
                ),
                (
                    service.call(
                        as: "backend",
                        """
                        {"appBundleID": "com.example.app", "productID": "com.example.monthly", \
                        "offerID": "store_open", "customerId": "customer-42", "facts": {"subscribedBefore": true}}
                        """
                    ).at(Self.path), ""
                ),
                (
                    form(
                        as: "backend",
                        service,
                        "appBundleID=com.example.app&productID=com%2Eexample.monthly&offerID=store_open"
                            + "&applicationUsername=\(token)&more=1"
                    ), token
                ),
            ]
            for (call, binding) in calls {
                let reply = try await service.send(call)
                #expect(reply.status == 200, "\(reply)")
                let answer = reply.json
                let ours = try Tree(
                    """
                    {"identifier": "store_open", "keyIdentifier": "\(answer["keyID"].text ?? "")", \
                    "nonce": "\(answer["nonce"].text ?? "")", "signature": "\(answer["signature"].text ?? "")", \
                    "timestamp": \(answer["timestamp"].integer ?? 0)}
                    """
                )
                var signed = SignedAnswer(ours, binding: binding)
                signed.productID = "com.example.monthly"
                #expect(signed.isV1Signed(by: try #require(service.publicKeys["active.p8"])), "\(reply)")
            }
            #expect(try service.entries("sign.intent").count == calls.count)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `refuses as the service's own calls do`(wire: Wire) async throws {
        try await withCustomer(wire) { world, _ in
            let service = world.service
            let known = #""appBundleID": "com.example.app", "productID": "com.example.monthly""#
            let token = #""applicationUsername": "\#(world.token)""#
            func json(_ caller: String, _ members: String) -> Call {
                service.call(as: caller, "{\(members)}").at(Self.path)
            }
            let fields = "appBundleID=com.example.app&productID=com.example.monthly&offerID=store_open"
            let rows: [(call: Call, problem: String)] = [
                (json("nobody", #"\#(known), "offerID": "store_open", \#(token)"#), "unauthenticated"),
                (json("auditor", #"\#(known), "offerID": "store_open", \#(token)"#), "role-not-allowed"),
                (
                    json(
                        "scoped",
                        #""appBundleID": "com.example.other", "productID": "p", "offerID": "store_open""#
                    ), "bundle-not-allowed"
                ),
                (json("app", #"\#(known), "offerID": "store_open", \#(token)"#), "eligibility-undecided"),
                (json("backend", #"\#(known), "offerID": "store_lapsed", \#(token)"#), "not-eligible"),
                (json("backend", #"\#(known), "offerID": "open", \#(token)"#), "unknown-offer"),
                (
                    json("app", #"\#(known), "offerID": "store_open", "facts": {"subscribedBefore": true}"#),
                    "assertion-not-allowed"
                ),
                (json("backend", known), "invalid-request"),
                (
                    json("backend", #"\#(known), "offerID": "a", "subscriptionOfferID": "b", \#(token)"#),
                    "invalid-request"
                ),
                (json("backend", #"\#(known), "offerID": "store_open", "applicationUsername": 7"#), "invalid-request"),
                (form(as: "backend", service, "offerID=store_open"), "invalid-parameter"),
                (form(as: "backend", service, fields + "&offerID=store_open"), "invalid-parameter"),
                (form(as: "backend", service, fields + "&applicationUsername=a+b"), "invalid-parameter"),
                (form(as: "app", service, fields), "eligibility-undecided"),
                (json("backend", "").with("Content-Type", "text/plain"), "unsupported-media-type"),
                (Call.get(Self.path + "?offerID=store_open"), "method-not-allowed"),
            ]
            for (call, problem) in rows {
                let reply = try await service.send(call)
                #expect(reply.problem == problem, "\(String(decoding: call.body, as: UTF8.self)): \(reply)")
            }
            #expect(try service.entries("sign.intent").isEmpty)
        }
    }
}
