// SPDX-License-Identifier: Apache-2.0
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// StoreKit 2's errors, with Apple's names, for Linux.
// Source: https://developer.apple.com/documentation/storekit/storekiterror and …/product/purchaseerror

extension Product {
    public enum PurchaseError: Error, Hashable, Sendable {
        case invalidQuantity, productUnavailable, purchaseNotAllowed, ineligibleForOffer, invalidOfferIdentifier
        case invalidOfferPrice, invalidOfferSignature, missingOfferParameters
        /// Of a newer SDK.
        case paymentMethodBindingConfigurationRequired
    }
}

public enum StoreKitError: Error, Sendable {
    case unknown, userCancelled, notAvailableInStorefront, notEntitled, unsupported
    case networkError(URLError)
    case systemError(any Error)
}
