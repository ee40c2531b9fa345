// SPDX-License-Identifier: Apache-2.0

/// What signed data of the App Store says of itself: of which app it is, and where and when Apple signed it.
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
