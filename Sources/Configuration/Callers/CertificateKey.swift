// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// A client certificate as a credential (RFC 8705 section 2.2): known by the SHA-256 digest of its DER; its issuer is not checked.
package struct CertificateKey: CallerCredential, Hashable {
    /// SHA-256 of the certificate's DER, the `x5t#S256` of RFC 8705.
    package let digest: SHA256Digest

    package init(_ digest: SHA256Digest) {
        self.digest = digest
    }

    /// `cert-` and the first 16 hexadecimal digits of ``digest``.
    package var id: String { Self.prefix + digest.description.prefix(16) }

    /// What the database has of it; the certificate itself is no secret.
    package var secretDigest: SHA256Digest { digest }

    /// What the IDs of such keys begin with.
    package static let prefix = "cert-"
}
