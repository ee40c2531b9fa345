// SPDX-License-Identifier: Apache-2.0

/// Three certificates, each issued by the next, that were found good at some instant.
///
/// A copy costs three references.
package struct VerifiedChain: Hashable, Sendable {
    /// The certificate whose key signed the data.
    package let leaf: Certificate
    /// The certificate that issued the leaf.
    package let intermediate: Certificate
    /// The root of ours that issued the intermediate.
    package let root: Certificate

    /// The chain's name: the digest of the digests of leaf and intermediate.
    package let identity: SHA256Digest

    init(leaf: Certificate, intermediate: Certificate, root: Certificate) {
        self.leaf = leaf
        self.intermediate = intermediate
        self.root = root
        identity = SHA256.digest(of: leaf.fingerprint.bytes + intermediate.fingerprint.bytes)
    }

    /// The first instant, in seconds since 1970 UTC, at which one of the three is expired.
    package var notAfter: Int64 { min(leaf.notAfter, intermediate.notAfter, root.notAfter) }
}

/// What a certificate is in its chain.
package enum CertificateRole: String, Hashable, Sendable {
    case leaf, intermediate, root
}
