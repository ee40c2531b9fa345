// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What the app attaches to the purchase, and the service signs.
///
/// A purchase has one of the two at most.
public enum PurchaseAccount: Hashable, Sendable {
    /// StoreKit 2's `appAccountToken`.
    case appAccountToken(UUID)
    /// StoreKit 1's `applicationUsername`, which is signed exactly as it is.
    case applicationUsername(String)

    /// The token as it is signed: in lowercase.
    var token: String? {
        guard case .appAccountToken(let token) = self else { return nil }
        return token.uuidString.lowercased()
    }

    var username: String? {
        guard case .applicationUsername(let name) = self else { return nil }
        return name
    }
}
