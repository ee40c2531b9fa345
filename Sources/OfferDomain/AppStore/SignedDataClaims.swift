// SPDX-License-Identifier: Apache-2.0

/// The app, environment and time that signed data of the App Store names.
package struct SignedDataClaims: Hashable, Sendable {
    /// The bundle ID that Apple signed; it belongs to a configured app.
    package let bundleID: BundleID
    /// The environment that Apple signed, or that the ID of an external purchase token shows; the app accepts it.
    package let environment: StoreEnvironment
    /// When Apple signed this.
    package let signedAt: Timestamp

    /// Takes claims that were checked.
    package init(bundleID: BundleID, environment: StoreEnvironment, signedAt: Timestamp) {
        self.bundleID = bundleID
        self.environment = environment
        self.signedAt = signedAt
    }
}
