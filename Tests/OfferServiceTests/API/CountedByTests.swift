// SPDX-License-Identifier: Apache-2.0
import OfferService
import TestSupport
import Testing

/// A refusal by a cap tells a backend by which of the customer's names it counted.
struct CountedByTests {
    private static func counted(_ reply: Reply) -> [String] {
        let findings = reply.json["decision"]["findings"].elements
        return findings.flatMap { $0["countedBy"].elements.compactMap(\.text) }
    }

    @Test func `names the kinds under which there are grants, and no others`() async throws {
        try await withService { service async throws in
            let transaction = #""facts": {"subscribedBefore": true, "originalTransactionId": "20000001"}"#
            func body(_ name: String) -> String {
                #"{"bundleId": "com.example.app", "productId": "pro.monthly", "offerId": "store_once", "#
                    + #""customerId": "\#(name)", \#(transaction)}"#
            }
            #expect(try await service.send(service.call(body("ada"))).status == 200)
            let same = try await service.send(service.call(body("ada")))
            #expect(
                same.status == 403 && Self.counted(same) == ["customerId", "originalTransactionId"],
                "\(same.body)"
            )
            let other = try await service.send(service.call(body("grace")))
            #expect(other.status == 403 && Self.counted(other) == ["originalTransactionId"], "\(other.body)")
        }
    }

    @Test func `apps never see countedBy, even if they see the findings`() async throws {
        var files = TestFiles()
        files.showsFindingsToApps = true
        files.offers = files.offers.replacing(
            #"{id: "once", appStore: {offerId: "store_once"}, "#,
            with: #"{id: "once", appStore: {offerId: "store_once"}, admitsUnprovenCustomers: true, "#
        )
        try await withService(.inProcess, files) { service async throws in
            let body =
                #"{"bundleId": "com.example.app", "productId": "pro.monthly", "offerId": "store_once", "#
                + #""anonymousId": "a1"}"#
            for _ in 0..<2 {
                let reply = try await service.send(service.call(as: "app", body))
                #expect(!reply.body.contains("countedBy"), "\(reply.body)")
            }
        }
    }
}
