// SPDX-License-Identifier: Apache-2.0
#if canImport(StoreKit)
import Foundation
import StoreKit

extension SignedOffer {
    /// Which of its signatures StoreKit 2 is given.
    public enum Form: Sendable {
        /// Apple's original signature (iOS 15; deprecated in iOS 26).
        case originalSignature
        /// The JWS (iOS 15 and later, built with Xcode 26).
        case jws
    }

    /// Buys the product with this offer, by StoreKit 2.
    ///
    /// Every call needs a fresh offer: a signature is good for one buy request, even if the purchase fails.
    ///
    /// The token comes from the offer; `more` are further options. It throws ``PurchaseError`` if the purchase would be without
    /// the offer, and what StoreKit throws.
    @available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
    @available(visionOS, unavailable, message: "Pass purchaseOptions(using:) to purchase(confirmIn:options:).")
    @MainActor
    public func purchase(
        _ product: Product,
        using form: Form,
        adding more: Set<Product.PurchaseOption> = []
    ) async throws -> Product.PurchaseResult {
        try await product.purchase(options: try purchaseOptions(using: form).union(more))
    }

    /// What StoreKit 2 is given: the offer, and the token that was signed with it.
    @available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
    public func purchaseOptions(using form: Form) throws(PurchaseError) -> Set<Product.PurchaseOption> {
        guard applicationUsername == nil else { throw .usernameNeedsStoreKit1 }
        let options: [Product.PurchaseOption] =
            switch form {
            case .originalSignature: [try originalOption()]
            case .jws: try jwsOptions()
            }
        guard let appAccountToken else { return Set(options) }
        guard let token = UUID(uuidString: appAccountToken) else { throw .tokenUnreadable }
        return Set(options).union([.appAccountToken(token)])
    }

    @available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
    private func originalOption() throws(PurchaseError) -> Product.PurchaseOption {
        guard let signature else { throw .signatureMissing }
        guard let bytes = Data(base64Encoded: signature), !bytes.isEmpty else { throw .signatureUnreadable }
        return .promotionalOffer(
            offerID: identifier,
            keyID: keyIdentifier,
            nonce: nonce,
            signature: bytes,
            timestamp: timestamp
        )
    }

    @available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
    private func jwsOptions() throws(PurchaseError) -> [Product.PurchaseOption] {
        guard let jws else { throw .jwsMissing }
        #if compiler(>=6.2)
        return Product.PurchaseOption.promotionalOffer(identifier, compactJWS: jws)
        #else
        throw .needsNewerSDK
        #endif
    }
}

extension SignedIntroductoryOffer {
    /// Buys the product by StoreKit 2, with the service's answer in place of the App Store's own judgment.
    @available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
    @available(visionOS, unavailable, message: "Pass purchaseOptions() to purchase(confirmIn:options:).")
    @MainActor
    public func purchase(
        _ product: Product,
        adding more: Set<Product.PurchaseOption> = []
    ) async throws -> Product.PurchaseResult {
        try await product.purchase(options: try purchaseOptions().union(more))
    }

    /// What StoreKit 2 is given: the answer, and the token if there is one.
    @available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
    public func purchaseOptions() throws(PurchaseError) -> Set<Product.PurchaseOption> {
        #if compiler(>=6.1)
        let option = Product.PurchaseOption.introductoryOfferEligibility(compactJWS: jws)
        guard let appAccountToken else { return [option] }
        guard let token = UUID(uuidString: appAccountToken) else { throw .tokenUnreadable }
        return [option, .appAccountToken(token)]
        #else
        throw .needsNewerSDK
        #endif
    }
}
#endif
