// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferSignerClient
import Testing

/// The table of client libraries in docs/client-libraries.md: our answer, decoded with the types that each declares.
struct PasteTableTests {
    /// A library's own declaration of an offer, as far as it is decoded.
    protocol Declared: Decodable {
        /// Identifier, key, nonce, signature, and milliseconds, as the library hands them to StoreKit.
        var parts: Parts? { get }
    }

    struct Parts: Equatable {
        let identifier, keyIdentifier: String
        let nonce: UUID
        let signature: Data
        let timestamp: Int
    }

    /// OpenIAP 3.2.1, so react-native-iap 16, expo-iap 5, flutter_inapp_purchase 10, godot-iap, kmp-iap and maui-iap.
    struct DiscountOfferInputIOS: Declared {
        let identifier, keyIdentifier, nonce, signature: String
        /// `Float` in GraphQL.
        let timestamp: Double
        var parts: Parts? { .init(identifier, keyIdentifier, nonce, signature, Int(exactly: timestamp)) }
    }

    /// Flutter's `SKPaymentDiscountWrapper`, for StoreKit 1.
    struct SKPaymentDiscountWrapper: Declared {
        let identifier, keyIdentifier, nonce, signature: String
        let timestamp: Int
        var parts: Parts? { .init(identifier, keyIdentifier, nonce, signature, timestamp) }
    }

    /// Flutter's `SK2SubscriptionOfferSignature` beside the offer's ID; of other names.
    struct SK2PromotionalOffer: Declared {
        let offerId, keyID, nonce, signature: String
        let timestamp: Int
        var parts: Parts? { .init(offerId, keyID, nonce, signature, timestamp) }

        private enum CodingKeys: String, CodingKey {
            case offerId = "identifier"
            case keyID = "keyIdentifier"
            case nonce, signature, timestamp
        }
    }

    /// cordova-plugin-purchase 13; of other names, and the number that its Objective-C code wants.
    struct CordovaDiscount: Declared {
        let id, key, nonce, signature: String
        let timestamp: Double
        var parts: Parts? { .init(id, key, nonce, signature, NSNumber(value: timestamp).intValue) }

        private enum CodingKeys: String, CodingKey {
            case id = "identifier"
            case key = "keyIdentifier"
            case nonce, signature, timestamp
        }
    }

    /// Flare's `SignedData`, and RevenueCat's `PromotionalOffer.SignedData`.
    struct SignedData: Declared {
        let identifier, keyIdentifier: String
        let nonce: UUID
        let signature: String
        let timestamp: Int
        var parts: Parts? { .init(identifier, keyIdentifier, nonce.uuidString, signature, timestamp) }
    }

    /// Codename One's `ApplePromotionalOffer`, whose timestamp is a Java `long`.
    struct ApplePromotionalOffer: Declared {
        let identifier, keyIdentifier, nonce, signature: String
        let timestamp: Int64
        var parts: Parts? { .init(identifier, keyIdentifier, nonce, signature, Int(timestamp)) }
    }

    /// The type of docs/client-libraries.md, and this package's.
    struct Documented: Declared {
        let offer: SignedOffer
        init(from decoder: any Decoder) throws { offer = try SignedOffer(from: decoder) }
        var parts: Parts? {
            offer.signature.flatMap {
                .init(offer.identifier, offer.keyIdentifier, offer.nonce.uuidString, $0, offer.timestamp)
            }
        }
    }

    static var libraries: [any Declared.Type] {
        [
            DiscountOfferInputIOS.self, SKPaymentDiscountWrapper.self, SK2PromotionalOffer.self, CordovaDiscount.self,
            SignedData.self, ApplePromotionalOffer.self, Documented.self,
        ]
    }

    @Test(arguments: libraries.indices)
    func `a library's types read our answer`(index: Int) throws {
        let library = Self.libraries[index]
        let declared = try JSONDecoder().decode(library, from: Data(Sample.answer().utf8))
        let parts = try #require(declared.parts, "\(library)")
        #expect(parts.identifier == "winback_3m" && parts.keyIdentifier == "ABC123DEFG")
        #expect(parts.nonce.uuidString.lowercased() == "ff88c6c2-cb3c-4160-826d-f40c6a0917bd")
        #expect(parts.timestamp == 1_795_250_488_617)
        #expect(parts.signature.first == 0x30 && parts.signature.count == 71, "DER, after one decoding of Base64")
    }

    @Test func `an offer without a part is read by none of them`() throws {
        for member in ["identifier", "keyIdentifier", "nonce", "timestamp"] {
            let answer = Data(Sample.answer(without: [member]).utf8)
            for library in Self.libraries {
                #expect(throws: DecodingError.self, "\(library)") { try JSONDecoder().decode(library, from: answer) }
            }
        }
    }

    /// OpenIAP's `promotionalOfferJWS`.
    private struct PromotionalOfferJWS: Decodable {
        let offerId, jws: String
        enum CodingKeys: String, CodingKey { case offerId = "identifier", jws }
    }

    /// RevenueCat's `StoreKit2PromotionalOfferPurchaseOptions`.
    private struct PromotionalOfferOptions: Decodable {
        let offerID, compactJWS: String
        enum CodingKeys: String, CodingKey { case offerID = "identifier", compactJWS = "jws" }
    }

    /// OpenIAP's `compactJWS`, and RevenueCat's `introductoryOfferEligibilityJWS`: the answer has no offer.
    private struct IntroductoryOfferJWS: Decodable {
        let compactJWS: String
        enum CodingKeys: String, CodingKey { case compactJWS = "jws" }
    }

    @Test func `types for a JWS read a text of three parts beside the offer's ID`() throws {
        let answer = Data(Sample.answer().utf8)
        let openIAP = try JSONDecoder().decode(PromotionalOfferJWS.self, from: answer)
        let revenueCat = try JSONDecoder().decode(PromotionalOfferOptions.self, from: answer)
        let introductory = Data(Sample.answer(without: ["identifier", "signature"]).utf8)
        let eligibility = try JSONDecoder().decode(IntroductoryOfferJWS.self, from: introductory)
        #expect(openIAP.offerId == "winback_3m" && revenueCat.offerID == "winback_3m")
        #expect(openIAP.jws.split(separator: ".").count == 3)
        #expect(Set([openIAP.jws, revenueCat.compactJWS, eligibility.compactJWS]).count == 1)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(IntroductoryOfferJWS.self, from: Data(Sample.answer(without: ["jws"]).utf8))
        }
    }

    /// OpenIAP and Flutter refuse a token that is no UUID.
    @Test func `a token is a UUID in lowercase`() throws {
        let token = try #require(try Sample.offer().appAccountToken)
        #expect(UUID(uuidString: token) != nil && token == token.lowercased())
    }
}

extension PasteTableTests.Parts {
    /// `nil` if the nonce is no UUID or the signature no Base64.
    init?(_ identifier: String, _ key: String, _ nonce: String, _ signature: String, _ timestamp: Int?) {
        guard let nonce = UUID(uuidString: nonce), let signature = Data(base64Encoded: signature), let timestamp else {
            return nil
        }
        self.init(
            identifier: identifier,
            keyIdentifier: key,
            nonce: nonce,
            signature: signature,
            timestamp: timestamp
        )
    }
}
