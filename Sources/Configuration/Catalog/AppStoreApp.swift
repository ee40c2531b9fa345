// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// An app as the App Store's signed data names it.
package struct AppStoreApp: Hashable, Sendable {
    /// `bundleId` of what is signed must be exactly this.
    package let bundleID: BundleID
    /// The app's number in the App Store; nil if the settings don't have it.
    package let appAppleID: Int64?
    /// The environments whose signed data is accepted; never Xcode or LocalTesting.
    package let environments: Set<StoreEnvironment>

    package init(bundleID: BundleID, appAppleID: Int64?, environments: Set<StoreEnvironment>) {
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.environments = environments
    }

    /// The environment, if there is only one; otherwise `nil`.
    package var onlyEnvironment: StoreEnvironment? { environments.count == 1 ? environments.first : nil }
}
