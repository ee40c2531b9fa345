// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import OfferDomain

/// A service account of Google's with its key, and the apps that it may ask about.
package final class GoogleServiceAccount: Sendable {
    package let name: GoogleAccountName
    package let packageNames: [PackageName]
    package let privateKey: RSAPrivateKey
    /// SHA-256 over the SubjectPublicKeyInfo as 64 hex digits; records name the key by it.
    package let publicKeyDigest: String

    package init(name: GoogleAccountName, packageNames: [PackageName], privateKey: RSAPrivateKey) {
        self.name = name
        self.packageNames = packageNames
        self.privateKey = privateKey
        publicKeyDigest = privateKey.publicKey.spkiSHA256.hex
    }
}

/// Which key of which service account.
package struct GoogleAccountName: Hashable, Sendable {
    package let email: GoogleEmail
    package let keyID: GoogleKeyID

    package init(email: GoogleEmail, keyID: GoogleKeyID) {
        self.email = email
        self.keyID = keyID
    }
}

/// The e-mail address of a service account, as `signer@example.iam.gserviceaccount.com`: 3 to 255 of `[A-Za-z0-9._-]` and
/// one `@` between two of them.
package struct GoogleEmail: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard (3...255).contains(text.utf8.count), parts.count == 2, parts.allSatisfy({ !$0.isEmpty }),
            parts.joined().allSatisfy(isPlain)
        else { return nil }
        self.text = text
    }

    package var description: String { text }
}

/// Google's id of a service account's key: 1 to 128 of `[A-Za-z0-9._-]`, in fact 40 hexadecimal digits.
package struct GoogleKeyID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init?(_ text: String) {
        guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy(isPlain) else { return nil }
        self.text = text
    }

    package var description: String { text }
}

private func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
        true
    default: false
    }
}
