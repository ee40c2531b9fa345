// SPDX-License-Identifier: Apache-2.0

/// What the App Store asks while a customer is about to cancel: which message or offer to show.
///
/// Source: Apple, [DecodedRealtimeRequestBody](https://developer.apple.com/documentation/retentionmessaging/decodedrealtimerequestbody).
package struct RealtimeRequest: Hashable, Sendable {
    /// Names the subscription that the customer is about to cancel.
    package let originalTransactionID: TransactionID
    /// The app's number in the App Store, which alone names the app; it may be absent in the sandbox.
    package var appAppleID: Int64?
    /// The product that the customer has, the store's own text, at most 255 bytes.
    package let productID: String
    /// As `en-US`; the store's own text, at most 64 bytes.
    package let userLocale: String
    /// The UUID that Apple gave this request.
    package let requestIdentifier: UniqueID
    /// The environment that Apple signed, which some configured app takes.
    package let environment: StoreEnvironment

    /// What each request has; the caller sets the app's number.
    package init(
        originalTransactionID: TransactionID,
        productID: String,
        userLocale: String,
        requestIdentifier: UniqueID,
        environment: StoreEnvironment
    ) {
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        self.userLocale = userLocale
        self.requestIdentifier = requestIdentifier
        self.environment = environment
    }
}
