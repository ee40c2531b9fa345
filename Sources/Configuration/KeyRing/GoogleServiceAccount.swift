// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import OfferDomain

/// A service account of Google's with its key, and the apps that it may ask about.
package final class GoogleServiceAccount: Sendable {
    /// The account and its key, by their names.
    package let name: GoogleAccountName
    /// The apps that the account may ask about, in the order of the file.
    package let packageNames: [PackageName]
    /// Signs the assertions that Google exchanges for access tokens.
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

/// The names of a service account and of one of its keys.
package struct GoogleAccountName: Hashable, Sendable {
    /// `client_email` of the key file.
    package let email: GoogleEmail
    /// `private_key_id` of the key file.
    package let keyID: GoogleKeyID

    package init(email: GoogleEmail, keyID: GoogleKeyID) {
        self.email = email
        self.keyID = keyID
    }
}

/// The e-mail address of a service account, as `signer@example.iam.gserviceaccount.com`: 3 to 255 of `[A-Za-z0-9._-]` and
/// one `@` between two of them.
package struct GoogleEmail: Hashable, Sendable, CustomStringConvertible {
    /// The address as Google writes it.
    package let text: String

    /// Takes an address that has the form above; `nil` otherwise.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard (3...255).contains(text.utf8.count), parts.count == 2, parts.allSatisfy({ !$0.isEmpty }),
            parts.joined().allSatisfy(isPlain)
        else { return nil }
        self.text = text
    }

    /// The address itself.
    package var description: String { text }
}

/// Google's id of a service account's key: 1 to 128 of `[A-Za-z0-9._-]`, in fact 40 hexadecimal digits.
package struct GoogleKeyID: Hashable, Sendable, CustomStringConvertible {
    /// The ID as Google writes it.
    package let text: String

    /// Takes an ID that has the form above; `nil` otherwise.
    package init?(_ text: String) {
        guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy(isPlain) else { return nil }
        self.text = text
    }

    /// The ID itself.
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
