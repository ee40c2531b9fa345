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
        appAppleID: Int64?,
        appTransactionID: TransactionID?,
        claims: SignedDataClaims,
        originallyPurchasedAt: Timestamp?
    ) {
        self.appAppleID = appAppleID
        self.appTransactionID = appTransactionID
        bundleID = claims.bundleID
        environment = claims.environment
        signedAt = claims.signedAt
        self.originallyPurchasedAt = originallyPurchasedAt
    }
}
