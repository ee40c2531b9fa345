// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import OfferDomain

struct AppStoreClaimsTests {
    private static let base =
        #""iss":"57246542-96fe-1a63-e053-0824d011072a","iat":1698148900,"aud":"%","bid":"com.example.app","#
        + #""nonce":"20fba8a0-2b80-4a7d-a17f-85c1854727f8","#

    private func common() throws -> AppStoreClaims.Common {
        AppStoreClaims.Common(
            issuerID: try #require(UniqueID("57246542-96FE-1A63-E053-0824D011072A")),
            issuedAt: Timestamp(milliseconds: 1_698_148_900_999),
            bundleID: try BundleID("com.example.app"),
            nonce: try #require(UniqueID("20FBA8A0-2B80-4A7D-A17F-85C1854727F8"))
        )
    }

    private func expect(_ claims: AppStoreClaims, _ rest: String) throws {
        let base = AppStoreClaimsTests.base.replacingOccurrences(of: "%", with: claims.audience)
        #expect(String(decoding: claims.payloadBytes, as: UTF8.self) == "{\(base)\(rest)}")
        #expect(try JSONSerialization.jsonObject(with: Data(claims.payloadBytes)) is [String: Any])
    }

    @Test
    func `names algorithm, key and type in the header`() throws {
        let header = AppStoreClaims.headerBytes(keyID: try KeyID("ABC123DEFG"))
        #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"ES256","kid":"ABC123DEFG","typ":"JWT"}"#)
    }

    @Test
    func `claims a promotional offer, with a transaction only if there is one`() throws {
        let product = try ProductID("pro.monthly")
        let offer = try OfferID("3 months")
        let claims = AppStoreClaims.promotionalOffer(
            try common(),
            productID: product,
            offerID: offer,
            transactionID: nil
        )
        #expect(claims.audience == "promotional-offer")
        try expect(claims, #""productId":"pro.monthly","offerIdentifier":"3 months""#)
        try expect(
            .promotionalOffer(try common(), productID: product, offerID: offer, transactionID: try TransactionID("99")),
            #""productId":"pro.monthly","offerIdentifier":"3 months","transactionId":"99""#
        )
    }

    @Test(arguments: [true, false])
    func `allows or denies an introductory offer with a real boolean`(allows: Bool) throws {
        let claims = AppStoreClaims.introductoryOfferEligibility(
            try common(),
            productID: try ProductID("pro"),
            allows: allows,
            transactionID: try TransactionID("99")
        )
        #expect(claims.audience == "introductory-offer-eligibility")
        try expect(claims, #""productId":"pro","allowIntroductoryOffer":\#(allows),"transactionId":"99""#)
    }

    @Test
    func `passes an advanced commerce request on as it came`() throws {
        let request = try AdvancedCommerceRequest(base64: Array("eyJhIjoiPz8/In0=".utf8))
        let claims = AppStoreClaims.advancedCommerce(try common(), request: request)
        #expect(claims.audience == "advanced-commerce-api")
        try expect(claims, #""request":"eyJhIjoiPz8/In0=""#)
    }

    @Test(arguments: [
        ("", AdvancedCommerceRequestError.empty), ("YQ=", .notPadded), ("YQ", .notPadded), ("YR==", .notCanonical),
        ("YWJ=", .notCanonical), ("Y===", .notPadded), ("====", .notPadded), ("YQ=a", .notPadded),
        ("-_-_", .notBase64(offset: 0)), ("YQ\"=", .notBase64(offset: 2)), ("YW\n=", .notBase64(offset: 2)),
        (String(repeating: "A", count: 65_540), .tooLong(limit: 65_536)),
    ])
    func `refuses what is not standard Base64`(text: String, error: AdvancedCommerceRequestError) {
        #expect(throws: error) { try AdvancedCommerceRequest(base64: Array(text.utf8)) }
    }

    @Test
    func `reads what Foundation encodes`() throws {
        var random = SplitMix(seed: 5)
        for count in 1...100 {
            let data = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
            let text = data.base64EncodedString()
            #expect(try AdvancedCommerceRequest(base64: Array(text.utf8)).base64 == text)
        }
    }
}
