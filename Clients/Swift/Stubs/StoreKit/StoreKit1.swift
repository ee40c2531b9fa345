// SPDX-License-Identifier: Apache-2.0
import Foundation

// StoreKit 1 as far as the client uses it, with Apple's signatures, for Linux.
// Source: https://developer.apple.com/documentation/storekit/original-api-for-in-app-purchase

open class SKProduct: NSObject {}

open class SKPayment: NSObject {
    public let product: SKProduct

    public required init(product: SKProduct) { self.product = product }
}

open class SKMutablePayment: SKPayment {
    open var applicationUsername: String?
    open var paymentDiscount: SKPaymentDiscount?
}

open class SKPaymentDiscount: NSObject {
    open private(set) var identifier: String
    open private(set) var keyIdentifier: String
    open private(set) var nonce: UUID
    open private(set) var signature: String
    open private(set) var timestamp: NSNumber

    public init(identifier: String, keyIdentifier: String, nonce: UUID, signature: String, timestamp: NSNumber) {
        self.identifier = identifier
        self.keyIdentifier = keyIdentifier
        self.nonce = nonce
        self.signature = signature
        self.timestamp = timestamp
    }
}

open class SKPaymentQueue: NSObject {
    /// Apple's keeps them for the App Store.
    public private(set) var payments: [SKPayment] = []

    open class func `default`() -> SKPaymentQueue { SKPaymentQueue() }

    open func add(_ payment: SKPayment) { payments.append(payment) }
}
