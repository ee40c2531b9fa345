// SPDX-License-Identifier: Apache-2.0
#if canImport(StoreKit) && os(Linux)
import Foundation
import OfferSignerClient
import StoreKit
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Reports of refused offers, by their JSON; ``DiagnosisTests`` sends them to a service.
struct ReportTests {
    static func members(_ report: OfferReport) throws -> NSDictionary {
        let data = try JSONEncoder().encode(report)
        return try #require(try JSONSerialization.jsonObject(with: data) as? NSDictionary)
    }

    @Test func `has the answer as it was signed, and nothing attached otherwise`() throws {
        let attemptedAt = Date(timeIntervalSince1970: 1_795_250_501.25)
        var report = try Sample.offer().report(productID: "com.example.pro.monthly", attemptedAt: attemptedAt)
        report.bundleID = "com.example.app"
        report.client = ReportedClient(library: "app", version: "2.1", os: "iOS 26.1", storeKit: 2)
        report.signedTransaction = "a.b.c"
        let members = try Self.members(report)
        let offer = try Sample.offer()
        let expected: NSDictionary = [
            "grantId": offer.grantId, "identifier": "winback_3m", "bundleId": "com.example.app",
            "productId": "com.example.pro.monthly", "keyIdentifier": "ABC123DEFG",
            "nonce": "ff88c6c2-cb3c-4160-826d-f40c6a0917bd", "timestamp": 1_795_250_488_617,
            "appAccountToken": Sample.token, "signature": offer.signature ?? "", "jws": offer.jws ?? "",
            "signedTransaction": "a.b.c", "attemptedAt": 1_795_250_501_250,
            "client": ["library": "app", "version": "2.1", "os": "iOS 26.1", "storeKit": 2] as NSDictionary,
        ]
        #expect(members == expected)
    }

    private static let other = UUID()
    private static var accounts: [(AttachedValues.Account, NSDictionary?)] {
        [
            (.asSigned, nil),
            (.nothing, ["appAccountToken": NSNull(), "applicationUsername": NSNull()]),
            (
                .appAccountToken(other),
                ["appAccountToken": other.uuidString.lowercased(), "applicationUsername": NSNull()]
            ),
            (.applicationUsername("Anna"), ["appAccountToken": NSNull(), "applicationUsername": "Anna"]),
        ]
    }

    @Test(arguments: accounts.indices)
    func `tells nothing attached apart from what was signed`(index: Int) throws {
        let (account, expected) = Self.accounts[index]
        let attached = AttachedValues(signature: "TUVV", account: account)
        let report = try Sample.offer().report(productID: "p", attached: attached, attemptedAt: Date())
        let members = try Self.members(report)
        #expect(members["attached"] as? NSDictionary == expected)
        #expect(members["signature"] as? String == "TUVV", "as the app attached it")
    }

    private struct Row: Sendable {
        let error: any Error
        var first: ReportedError.Level?
        var name: String?
        var under: [ReportedError.Level] = []
    }

    private static let nested = NSError(
        domain: "SKErrorDomain",
        code: 12,
        userInfo: [NSUnderlyingErrorKey: NSError(domain: "ASD Server/ErrorDomain", code: 3903)]
    )

    private static let rows = [
        Row(
            error: nested,
            first: .init("SKErrorDomain", 12),
            under: [.init("ASDServerErrorDomain", 3903)]
        ),
        Row(
            error: StoreKitError.systemError(nested),
            first: .init("SKErrorDomain", 12),
            under: [.init("ASDServerErrorDomain", 3903)]
        ),
        Row(
            error: StoreKitError.networkError(URLError(.timedOut)),
            name: "networkError",
            under: [.init("NSURLErrorDomain", -1001)]
        ),
        Row(error: StoreKitError.userCancelled, name: "userCancelled"),
        Row(error: Product.PurchaseError.invalidOfferSignature, name: "invalidOfferSignature"),
        Row(error: Product.PurchaseError.ineligibleForOffer, name: "ineligibleForOffer"),
        Row(error: Product.PurchaseError.missingOfferParameters, name: "missingOfferParameters"),
        Row(error: Product.PurchaseError.paymentMethodBindingConfigurationRequired),
        Row(error: StoreKitError.unsupported),
    ]

    @Test(arguments: rows)
    private func `an error has its name, and the chain of domains and codes`(row: Row) throws {
        let error = ReportedError(row.error)
        #expect(error.name == row.name && error.underlying == row.under, "\(error)")
        if let first = row.first { #expect(error.domain == first.domain && error.code == first.code, "\(error)") }
        #expect(error.domain.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) })
    }

    @Test func `a chain ends after four errors`() {
        let chain = (1...6).reduce(NSError(domain: "a", code: 0)) { inner, code in
            NSError(domain: "a", code: code, userInfo: [NSUnderlyingErrorKey: inner])
        }
        let error = ReportedError(chain)
        #expect(error.code == 6 && error.underlying.map(\.code) == [5, 4, 3])
    }
}

extension ReportedError.Level {
    fileprivate init(_ domain: String, _ code: Int) { self.init(domain: domain, code: code) }
}
#endif
