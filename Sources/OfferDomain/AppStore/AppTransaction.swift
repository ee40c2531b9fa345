// SPDX-License-Identifier: Apache-2.0

/// What the App Store signed of a customer's download of the app, whether or not they ever bought anything in it.
///
/// Source: Apple, [JWSAppTransactionDecodedPayload](https://developer.apple.com/documentation/appstoreserverapi/jwsapptransactiondecodedpayload).
package struct AppTransaction: Hashable, Sendable {
    /// The bundle ID that Apple signed; it belongs to a configured app.
    package let bundleID: BundleID
    /// Where the app was downloaded (`receiptType`).
    package let environment: StoreEnvironment
    /// The app's number in the App Store; absent in the sandbox.
    package let appAppleID: Int64?
    /// One for each Apple account and app.
    package let appTransactionID: TransactionID?
    /// When Apple made this, `receiptCreationDate`.
    package let signedAt: Timestamp
    /// When the customer first downloaded the app.
    package let originallyPurchasedAt: Timestamp?

    package init(
        bundleID: BundleID,
        environment: StoreEnvironment,
        appAppleID: Int64?,
        appTransactionID: TransactionID?,
        signedAt: Timestamp,
        originallyPurchasedAt: Timestamp?
    ) {
        self.bundleID = bundleID
        self.environment = environment
        self.appAppleID = appAppleID
        self.appTransactionID = appTransactionID
        self.signedAt = signedAt
        self.originallyPurchasedAt = originallyPurchasedAt
    }
}
