// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Why a purchase was not begun.
///
/// StoreKit was not called, since it would sell at the full price.
public enum PurchaseError: Error, Hashable, Sendable {
    /// The answer has no original signature; ask with the format `v1`.
    case signatureMissing
    /// The answer has no JWS; ask with the format `jws`.
    case jwsMissing
    /// The signature is no Base64; it was changed on the way to the app.
    case signatureUnreadable
    /// The signed token is no UUID; it was changed on the way to the app.
    case tokenUnreadable
    /// The offer was signed for a user name of StoreKit 1, which StoreKit 2 cannot attach.
    case usernameNeedsStoreKit1
    /// This SDK has no call for it: JWS of promotional offers need Xcode 26, those of introductory offers Xcode 16.3.
    case needsNewerSDK
}
