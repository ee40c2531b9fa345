// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferSignerClient
import Testing

/// Requests, by the JSON that is sent.
struct RequestTests {
    private func sent(_ send: (OfferSignerClient) async throws -> Void) async throws -> NSDictionary {
        let transport = ScriptedTransport([])
        let url = try #require(URL(string: "http://127.0.0.1"))
        try? await send(OfferSignerClient(url: url, transport: transport, retries: .none) { "KEY" })
        return try #require(try transport.requests.first?.members as NSDictionary?)
    }

    private func json(_ text: String) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary)
    }

    @Test func `a request from an app`() async throws {
        var request = Sample.request
        request.account = .appAccountToken(try #require(UUID(uuidString: Sample.token)))
        request.customer.signedTransactions = ["a.b.c"]
        request.customer.anonymousID = "device-1"
        request.client = ReportedClient(library: "my-app", version: "2.1", os: "iOS 26.1", storeKit: 2)
        let members = try await sent { [request] in _ = try await $0.signPromotionalOffer(request) }
        let expected = try json(
            """
            {"bundleId": "com.example.app", "productId": "com.example.pro.monthly", "offerId": "winback_3m", \
            "formats": ["v1", "jws"], "appAccountToken": "\(Sample.token)", "signedTransactions": ["a.b.c"], \
            "anonymousId": "device-1", \
            "client": {"library": "my-app", "version": "2.1", "os": "iOS 26.1", "storeKit": 2}}
            """
        )
        #expect(members == expected)
    }

    @Test func `a request from a backend`() async throws {
        var request = Sample.request
        request.formats = [.v1]
        request.account = .applicationUsername("Customer-42")
        request.customer = Customer(
            customerID: "customer-42",
            transactionID: "2000000123456789",
            facts: Facts {
                $0.status = .expired
                $0.autoRenew = .off
                $0.expiresAt = Date(timeIntervalSince1970: 1_767_225_600.123)
                $0.offersUsed = [Facts.UsedOffer(type: .winBack, offerId: "back")]
            },
            attributes: ["churnRisk": 0.8, "plan": "gold", "isVIP": true]
        )
        let members = try await sent { [request] in _ = try await $0.signPromotionalOffer(request) }
        let expected = try json(
            """
            {"bundleId": "com.example.app", "productId": "com.example.pro.monthly", "offerId": "winback_3m", \
            "formats": ["v1"], "applicationUsername": "Customer-42", "customerId": "customer-42", \
            "transactionId": "2000000123456789", "facts": {"status": "expired", "autoRenew": "off", \
            "expiresAt": 1767225600123, "offersUsed": [{"type": "winBack", "offerId": "back"}]}, \
            "attributes": {"churnRisk": 0.8, "plan": "gold", "isVIP": true}}
            """
        )
        #expect(members == expected)
    }

    @Test func `a login`() async throws {
        let members = try await sent {
            _ = try await $0.transfer(Transfer(anonymousID: "a-1", customerID: "c-1", bundleID: "com.example.app"))
        }
        let expected = #"{"bundleId": "com.example.app", "from": {"anonymousId": "a-1"}, "to": {"customerId": "c-1"}}"#
        #expect(members == (try json(expected)))
    }

    @Test func `an account for purchases that were made before a login`() async throws {
        let token = try #require(UUID(uuidString: "7E3FB204-2A6B-4B2F-9A3C-1B2C3D4E5F60"))
        let request = AppAccountTokenRequest(
            bundleID: "com.example.app",
            originalTransactionID: "2000000123456789",
            appAccountToken: token,
            customerID: "c-1"
        )
        let members = try await sent { _ = try await $0.setAppAccountToken(request) }
        let expected = """
            {"bundleId": "com.example.app", "originalTransactionId": "2000000123456789", \
            "appAccountToken": "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60", "customerId": "c-1"}
            """
        #expect(members == (try json(expected)))
    }
}
