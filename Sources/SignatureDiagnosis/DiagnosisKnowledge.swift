// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// What a diagnosis may use beside the report; all of it is public.
package struct DiagnosisKnowledge: Sendable {
    /// Public halves of signing keys, with their ids where these are known.
    package var keys: [KnownKey] = []
    /// SHA-256 digests of the SubjectPublicKeyInfo of further keys.
    package var pins: [SHA256Digest] = []
    /// Names that may have been signed by mistake.
    package var bundleIDs: [String] = []
    package var productIDs: [String] = []
    /// Identifiers and reference names of offers.
    package var offerIDs: [String] = []
    /// Another report of signatures of the same key.
    package var otherReport: SignatureReport?

    package init() {}
}

/// The public half of a signing key.
package struct KnownKey: Sendable {
    /// By which Apple knows it; `nil` if nobody said.
    package let id: String?
    package let publicKey: PublicKey

    package init(id: String?, publicKey: PublicKey) {
        (self.id, self.publicKey) = (id, publicKey)
    }
}
