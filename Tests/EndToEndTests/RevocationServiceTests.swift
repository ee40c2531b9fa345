// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The running service, with signed data whose certificates may have been revoked.
    // Its tests share one fake store.
    @Suite(.serialized) struct RevocationServiceTests {
        private static let shared = Result { try FakeAppStore() }

        private let store: FakeAppStore
        private let demo: DemoFolder

        init() async throws {
            store = try Self.shared.get()
            try store.reset()
            try store.setOCSP(.good)
            demo = try await DemoFolder()
        }

        private func service(_ check: String) async throws -> RunningService {
            try await RunningService(
                demo,
                options: ["--app-store-roots", store.rootPEMPath, "--revocation-check", check]
            )
        }

        /// A request that describes the customer by signed data alone.
        private func request() throws -> String {
            let ids = try store.addSubscription(
                .init(.expired, productID: DemoFolder.product, group: "21234567", endsInDays: -60)
            )
            let transaction = try store.signTransaction(ids.originalTransactionID)
            let renewal = try store.signRenewalInfo(ids.originalTransactionID)
            return """
                {"bundleId": "com.example.app", "productId": "com.example.pro.monthly", "offerId": "winback_3m",
                 "customerId": "anna", "signedTransactions": ["\(transaction)"], "signedRenewalInfo": ["\(renewal)"]}
                """
        }

        @Test func `where an answer is required, the first data waits for it`() async throws {
            let service = try await service("required")
            let request = try request()
            try store.misbehave(.hang, at: .ocsp)
            for _ in 0..<3 {
                let refusal = try service.sign(request)
                #expect(refusal.status == 503 && refusal.body.contains("/problems/store-unavailable"), "\(refusal)")
            }
            // The questions that hang end after five seconds, and the next ones come after a pause.
            try await eventually("the responder is missed") {
                try service.ask("/health/ready").body.contains(#""name":"revocation-unknown""#)
            }
            #expect(try service.ask("/health/ready").status == 200)
            try store.behave()
            try await eventually("the data is taken") { try service.sign(request).status == 200 }
            #expect(!(try service.ask("/health/ready").body.contains("revocation-unknown")))
            let metrics = try service.ask("/metrics").body
            #expect(metrics.contains(#"offer_signer_ocsp_questions_total{certificate="leaf",outcome="good"} 1"#))
            #expect(metrics.contains(#"offer_signer_ocsp_questions_total{certificate="leaf",outcome="timeout"} 1"#))
            #expect(metrics.contains(#"offer_signer_signed_data_verifications_total{chain="new"} 1"#))
            #expect(metrics.contains(#"offer_signer_revocation_certificates{certificate="leaf",state="good"} 1"#))
        }

        @Test func `data under a revoked certificate is refused as soon as that is known`() async throws {
            let service = try await service("background")
            try store.setOCSP(.revoked, about: .intermediate)
            let request = try request()
            try store.misbehave(.hang, at: .ocsp)
            #expect(try service.sign(request).status == 200, "the service does not know of it yet")
            try store.behave()
            try await eventually("it is refused") { try service.sign(request).status == 400 }
            let refusal = try service.sign(request)
            #expect(refusal.body.contains("/problems/invalid-signed-data"), "\(refusal)")
            #expect(refusal.body.contains("certificate-revoked") && refusal.body.contains("/signedTransactions/0"))
            #expect(try service.ask("/health/ready").body.contains(#""name":"certificate-revoked""#))
            try await service.logs("a certificate has been revoked")
            // What rests on no signed data goes on.
            #expect(try service.sign(demo.request(customer: "bert")).status == 200)
        }

        @Test func `asks no OCSP responder when that is off`() async throws {
            let service = try await service("off")
            try store.setOCSP(.revoked)
            let request = try request()
            for _ in 0..<3 { #expect(try service.sign(request).status == 200) }
            #expect(try await service.stop() == .exited(0))
            #expect(try store.counts().ocspConnections == 0)
        }
    }
}
