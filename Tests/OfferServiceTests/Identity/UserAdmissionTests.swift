// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import TestSupport
import Testing

/// A flood of forged tokens, or of one user's requests, uses up only its own share.
struct UserAdmissionTests {
    private func withUsers(
        _ settings: [Setting: String],
        _ body: (TestService, FakeIdentityProvider, (String) throws -> String) async throws -> Void
    ) async throws {
        let provider = try FakeIdentityProvider()
        var files = TestFiles.trusting(provider)
        files.settings.merge(settings) { _, new in new }
        try await withService(.inProcess, files) { service async throws in
            try await body(service, provider) { user in
                try UserToken(provider.issuer, of: user, at: service.clock.now).text(provider)
            }
        }
    }

    @Test func `forged tokens use up the rate of their own address, before a signature is verified`() async throws {
        try await withUsers([.appRatePerAddress: "1/min:3"]) { service, provider, token async throws in
            let anna = try token("anna")
            var wrong = UserToken(provider.issuer, at: service.clock.now)
            wrong.key = "es2"
            let forged = try wrong.text(provider)
            var statuses: [Int] = []
            for _ in 0..<5 {
                statuses.append(try await service.send(.preview(forged).from("192.0.2.1")).status)
            }
            #expect(statuses == [401, 401, 401, 429, 429])
            let counted = Metric.tokensRefused(issuer: provider.issuer, reason: "signature-wrong")
            #expect(service.metrics[counted] == 3, "what comes after is not even verified")
            #expect(try await service.send(.preview(anna).from("192.0.2.1")).problem == "rate-limited")
            #expect(try await service.send(.preview(anna).from("192.0.2.2")).status == 200)
        }
    }

    @Test func `a user who asks too often takes nothing of what the others may ask`() async throws {
        try await withUsers([.appRatePerCustomer: "1/min:2", .appRate: "1/min:4"]) { service, _, token async throws in
            var statuses: [Int] = []
            for (number, user) in ["anna", "anna", "anna", "anna", "eve", "eve"].enumerated() {
                let call = Call.preview(try token(user)).from("192.0.2.\(number)")
                statuses.append(try await service.send(call).status)
            }
            #expect(statuses == [200, 200, 429, 429, 200, 200], "one user from many addresses")
        }
    }

    @Test func `all users of a provider share the rate of an app`() async throws {
        try await withUsers([.appRate: "1/min:2"]) { service, _, token async throws in
            var statuses: [Int] = []
            for user in ["anna", "eve", "mia"] {
                statuses.append(try await service.send(.preview(try token(user))).status)
            }
            #expect(statuses == [200, 200, 429])
        }
    }

    @Test func `a user transfers no more often than the rate of one customer`() async throws {
        try await withUsers([.appRatePerCustomer: "1/min:2"]) { service, _, token async throws in
            var statuses: [Int] = []
            for (number, user) in ["anna", "anna", "anna", "eve"].enumerated() {
                let body = """
                    {"bundleId": "com.example.app", "from": {"anonymousId": "device-\(number)"},
                     "to": {"customerId": "\(user)"}}
                    """
                var call = Call.preview(try token(user)).at("/v1/customers/transfers")
                call.body = Array(body.utf8)
                statuses.append(try await service.send(call).status)
            }
            #expect(statuses == [200, 200, 429, 200])
        }
    }

    @Test func `each item of a user's batch counts for the address`() async throws {
        try await withUsers([.appRatePerAddress: "1/min:4"]) { service, _, token async throws in
            let item = #"{"bundleId": "com.example.app", "productId": "pro.monthly", "offerId": "open"}"#
            let anna = try token("anna")
            func send(_ count: Int) async throws -> Reply {
                let body = #"{"requests": [\#(Array(repeating: item, count: count).joined(separator: ","))]}"#
                var call = Call.preview(anna).at("/v1/app-store/promotional-offers/signatures/batch")
                call.body = Array(body.utf8)
                return try await service.send(call)
            }
            #expect(try await send(3).status == 200)
            #expect(try await send(2).problem == "rate-limited", "one is left")
        }
    }
}
