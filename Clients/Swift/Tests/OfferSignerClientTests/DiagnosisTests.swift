// SPDX-License-Identifier: Apache-2.0
#if canImport(StoreKit) && os(Linux)
import Foundation
import OfferSignerClient
import StoreKit
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Reports as the package makes them, and what a running service finds in them.
@Suite(.enabled(if: TestedService.url != nil, "Scripts/swift-client starts a service for these tests"))
struct DiagnosisTests {
    private struct Diagnosis: Decodable {
        struct Finding: Decodable { let code, certainty: String }
        struct Level: Decodable { let domain: String }
        let verdict: String
        let findings: [Finding]
        let errors: [Level]?
    }

    private let url: URL
    private let key: String

    init() throws {
        url = try #require(TestedService.url)
        key = try #require(TestedService.key)
    }

    private func signed(_ account: PurchaseAccount?) async throws -> SignedOffer {
        let facts = Facts {
            $0.status = .expired
            $0.expiresAt = Date(timeIntervalSince1970: 1_767_225_600)
        }
        let request = SignatureRequest(
            bundleID: "com.example.app",
            productID: "com.example.pro.monthly",
            offerID: "winback_3m",
            account: account,
            customer: Customer(customerID: UUID().uuidString.lowercased(), facts: facts),
            formats: [.v1]
        )
        return try await OfferSignerClient(url: url, token: key).signPromotionalOffer(request)
    }

    private func diagnose(_ report: OfferReport) async throws -> Diagnosis {
        var report = report
        report.bundleID = "com.example.app"
        var request = URLRequest(url: url.appendingPathComponent("v1/diagnoses"))
        request.httpMethod = "POST"
        request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(report)
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode
        try #require(status == 200, "\(String(decoding: data, as: UTF8.self))")
        return try JSONDecoder().decode(Diagnosis.self, from: data)
    }

    private struct Row: Sendable {
        var account: PurchaseAccount? = .appAccountToken(UUID())
        var attached = AttachedValues()
        var error: (any Error)?
        let verdict: String
        var finding: String?
    }

    private static let rows = [
        Row(verdict: "signed-correctly"),
        Row(error: StoreKitError.userCancelled, verdict: "signed-correctly", finding: "cancelled"),
        Row(
            error: StoreKitError.systemError(NSError(domain: "SKErrorDomain", code: 18)),
            verdict: "not-eligible-at-store",
            finding: "not-eligible-at-store"
        ),
        Row(
            error: Product.PurchaseError.ineligibleForOffer,
            verdict: "not-eligible-at-store",
            finding: "not-eligible-at-store"
        ),
        Row(
            attached: AttachedValues(account: .nothing),
            error: Product.PurchaseError.invalidOfferSignature,
            verdict: "payload-differs",
            finding: "token-not-attached"
        ),
        Row(
            account: nil,
            attached: AttachedValues(account: .appAccountToken(UUID())),
            verdict: "payload-differs",
            finding: "token-not-signed"
        ),
        Row(
            account: .applicationUsername("Anna"),
            attached: AttachedValues(account: .appAccountToken(UUID())),
            verdict: "payload-differs",
            finding: "username-signed"
        ),
        Row(attached: AttachedValues(timestamp: 1_795_250_488), verdict: "payload-differs"),
        Row(attached: AttachedValues(nonce: UUID()), verdict: "payload-differs", finding: "other-nonce"),
    ]

    @Test(arguments: rows)
    private func `the service finds what is wrong`(row: Row) async throws {
        let offer = try await signed(row.account)
        let report = offer.report(
            productID: "com.example.pro.monthly",
            attached: row.attached,
            error: row.error,
            attemptedAt: Date()
        )
        let diagnosis = try await diagnose(report)
        #expect(diagnosis.verdict == row.verdict, "\(diagnosis)")
        if let finding = row.finding { #expect(diagnosis.findings.map(\.code).contains(finding), "\(diagnosis)") }
        #expect(diagnosis.errors?.isEmpty != true && (diagnosis.errors == nil) == (row.error == nil))
    }
}
#endif
