// SPDX-License-Identifier: Apache-2.0
#if canImport(StoreKit) && !os(visionOS)
import Foundation
import StoreKit

extension SignedOffer {
    /// Buys the product with this offer by StoreKit 1.
    ///
    /// The payment queue reports the transaction to its observers.
    ///
    /// Every call needs a fresh offer: a signature is good for one buy request, even if the purchase fails.
    ///
    /// - Throws: ``PurchaseError/signatureMissing`` if the answer has only a JWS, which StoreKit 1 does not take.
    public func purchase(_ product: SKProduct, using queue: SKPaymentQueue) throws(PurchaseError) {
        queue.add(try payment(for: product))
    }

    /// The payment that the call above adds, for apps that change it further.
    public func payment(for product: SKProduct) throws(PurchaseError) -> SKMutablePayment {
        guard let signature else { throw .signatureMissing }
        let payment = SKMutablePayment(product: product)
        payment.applicationUsername = applicationUsername ?? appAccountToken
        payment.paymentDiscount = SKPaymentDiscount(
            identifier: identifier,
            keyIdentifier: keyIdentifier,
            nonce: nonce,
            signature: signature,
            timestamp: NSNumber(value: timestamp)
        )
        return payment
    }
}
#endif
