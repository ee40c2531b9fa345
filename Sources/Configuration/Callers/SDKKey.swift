// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// The public key that the SDK of another vendor sends as its bearer token, such as `appl_…` of RevenueCat.
///
/// It ships in the app, so it proves no more than an app's API key. Only the calls below `/compat` take it.
package struct SDKKey: CallerCredential, Hashable {
    private let text: ArraySlice<UInt8>

    /// Reads 8 to 128 visible ASCII characters without quotes, which are no ``APIKey``; `nil` of anything else.
    package init?(_ text: ArraySlice<UInt8>) {
        guard (8...128).contains(text.count), text.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 }),
            APIKey(text) == nil
        else { return nil }
        self.text = text
    }

    /// `sdk-` and 12 hexadecimal digits, which say nothing of the key.
    package var id: String {
        Self.prefix + secretDigest.description.prefix(12)
    }

    /// What the database has of the key.
    package var secretDigest: SHA256Digest { SHA256.digest(of: text) }

    /// What the IDs of such keys begin with.
    package static let prefix = "sdk-"
    /// How many live ones a caller may have: of several SDKs, and of debug and release builds.
    package static let mostLive = 8
}
