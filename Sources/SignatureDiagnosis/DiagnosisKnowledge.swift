// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// What a diagnosis may use beside the report; all of it is public.
package struct DiagnosisKnowledge: Sendable {
    /// Public halves of signing keys, with their ids where these are known.
    package var keys: [KnownKey] = []
    /// Further keys; only their digest is known.
    package var pins: [KnownPin] = []
    /// Names that may have been signed by mistake.
    package var bundleIDs: [String] = []
    /// Products that may have been signed instead of the product that was bought.
    package var productIDs: [String] = []
    /// Identifiers and reference names of offers.
    package var offerIDs: [String] = []
    /// The identifiers of each product's offers; empty if they are not known.
    package var offersByProduct: [String: Set<String>] = [:]
    /// What the audit log has of signatures that may be this one.
    package var recordedNonces: [String] = []
    /// In milliseconds since 1970, in decimal digits.
    package var recordedTimestamps: [String] = []
    /// Milliseconds since 1970; `nil` if the clock does not count.
    package var now: Int64?
    /// Another report of signatures of the same key.
    package var otherReport: SignatureReport?

    /// Nothing beside the report.
    package init() {}

    /// The ids of all keys that are known by one.
    var keyIDs: [String] { keys.compactMap(\.id) + pins.compactMap(\.id) }
}

/// What is known of a signing key whose public half is not available.
package struct KnownPin: Hashable, Sendable {
    /// Apple's ID of the key; `nil` if it was not given.
    package let id: String?
    /// SHA-256 of its SubjectPublicKeyInfo.
    package let digest: SHA256Digest

    /// A key by its pin; its ID is known from elsewhere.
    package init(id: String? = nil, digest: SHA256Digest) { (self.id, self.digest) = (id, digest) }
}

/// The public half of a signing key.
package struct KnownKey: Sendable {
    /// Apple's ID of the key; `nil` if it was not given.
    package let id: String?
    /// Verifies what the key signed.
    package let publicKey: PublicKey
    /// The issuer ID of App Store Connect, in lower case; `nil` if it was not given.
    package let issuerID: String?

    /// A key whose signatures can be verified.
    package init(id: String?, publicKey: PublicKey, issuerID: String? = nil) {
        (self.id, self.publicKey, self.issuerID) = (id, publicKey, issuerID)
    }
}
