// SPDX-License-Identifier: Apache-2.0
import Configuration
package import OfferDomain

/// An app as one store calls it.
package enum StoreApp: Hashable, Sendable {
    case appStore(BundleID)
    case googlePlay(PackageName)

    var store: Store {
        switch self {
        case .appStore: .appStore
        case .googlePlay: .googlePlay
        }
    }

    /// The bundle ID or the package name.
    var name: String {
        switch self {
        case .appStore(let bundleID): bundleID.text
        case .googlePlay(let packageName): packageName.text
        }
    }
}
