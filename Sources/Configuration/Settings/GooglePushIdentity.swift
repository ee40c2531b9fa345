// SPDX-License-Identifier: Apache-2.0

/// The sender whose notifications are Google Play's: what the push subscription is set to.
///
/// The service compares both byte by byte. Google signs a token for every project that asks, so only the e-mail address
/// keeps other projects out. The audience keeps out what the same account sends elsewhere.
package struct GooglePushIdentity: Hashable, Sendable {
    /// 1 to 512 bytes from 0x21 to 0x7E; by default, Google takes the URL that it pushes to.
    package let audience: String
    /// The service account that the push subscription signs as: the claim `email`.
    package let email: GoogleEmail

    package init(audience: String, email: GoogleEmail) {
        self.audience = audience
        self.email = email
    }

    /// Whether a text can be an audience.
    package static func isAudience(_ text: String) -> Bool {
        (1...512).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
