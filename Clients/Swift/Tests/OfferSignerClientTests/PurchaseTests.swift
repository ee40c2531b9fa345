// SPDX-License-Identifier: Apache-2.0
#if canImport(StoreKit) && os(Linux)
import Foundation
import OfferSignerClient
import StoreKit
import Testing

/// What StoreKit is given, recorded by the stub module that replaces it.
@MainActor
struct PurchaseTests {
    private let product = Product(id: "com.example.pro.monthly")

    private func recorded(_ result: Product.PurchaseResult) -> Set<Product.PurchaseOption.Recorded> {
        guard case .success(let options) = result else { return [] }
        return Set(options.map(\.recorded))
    }

    @Test func `StoreKit 2 is given the original signature, decoded once, and the token`() async throws {
        let offer = try Sample.offer()
        let signature = try #require(Data(base64Encoded: offer.signature ?? ""))
        #expect(signature.first == 0x30, "DER")
        let options = recorded(try await offer.purchase(product, using: .originalSignature))
        let expected: Set<Product.PurchaseOption.Recorded> = [
            .promotionalOffer(
                offerID: "winback_3m",
                keyID: "ABC123DEFG",
                nonce: offer.nonce,
                signature: signature,
                timestamp: 1_795_250_488_617
            ),
            .appAccountToken(try #require(UUID(uuidString: Sample.token))),
        ]
        #expect(options == expected)
    }

    @Test func `StoreKit 2 is given the JWS and the token`() async throws {
        let options = recorded(try await Sample.offer().purchase(product, using: .jws))
        let expected: Set<Product.PurchaseOption.Recorded> = [
            .promotionalOfferJWS(offerID: "winback_3m", compactJWS: "aGVhZA.Ym9keQ.c2lnbmF0dXJl"),
            .appAccountToken(try #require(UUID(uuidString: Sample.token))),
        ]
        #expect(options == expected)
    }

    @Test(arguments: [nil, "Customer-42"])
    func `StoreKit 1 is given the signature as text, and the token or user name as signed`(username: String?) throws {
        let queue = SKPaymentQueue()
        try Sample.offer(username: username).purchase(SKProduct(), using: queue)
        let payment = try #require(queue.payments.first as? SKMutablePayment)
        #expect(payment.applicationUsername == username ?? Sample.token)
        let discount = try #require(payment.paymentDiscount)
        #expect(discount.identifier == "winback_3m" && discount.keyIdentifier == "ABC123DEFG")
        #expect(discount.signature.hasPrefix("MEUC") && discount.timestamp.int64Value == 1_795_250_488_617)
    }

    @Test func `nothing is bought without the offer`() async throws {
        let (unsigned, withoutJWS) = (try Sample.offer(without: ["signature"]), try Sample.offer(without: ["jws"]))
        let named = try Sample.offer(username: "Customer-42")
        let queue = SKPaymentQueue()
        #expect(throws: PurchaseError.signatureMissing) { try unsigned.purchase(SKProduct(), using: queue) }
        #expect(queue.payments.isEmpty)
        #expect(throws: PurchaseError.signatureMissing) { try unsigned.purchaseOptions(using: .originalSignature) }
        #expect(throws: PurchaseError.jwsMissing) { try withoutJWS.purchaseOptions(using: .jws) }
        #expect(throws: PurchaseError.usernameNeedsStoreKit1) { try named.purchaseOptions(using: .jws) }
    }

    @Test func `StoreKit 2 is given the answer about an introductory offer`() async throws {
        let text = """
            {"grantId": "01a1fd44-8529-71d1-9cd2-cc826b2e918c", "keyIdentifier": "ABC123DEFG", \
            "nonce": "ff88c6c2-cb3c-4160-826d-f40c6a0917bd", "timestamp": 1795250488617, \
            "allowIntroductoryOffer": true, "transactionId": "704000000000000001", "jws": "a.b.c"}
            """
        let offer = try JSONDecoder().decode(SignedIntroductoryOffer.self, from: Data(text.utf8))
        let options = recorded(try await offer.purchase(product))
        #expect(options == [.introductoryOfferEligibility(compactJWS: "a.b.c")])
    }
}
#endif
