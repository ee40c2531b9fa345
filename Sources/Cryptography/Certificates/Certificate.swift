// SPDX-License-Identifier: Apache-2.0

/// An X.509 certificate, version 3 (RFC 5280).
///
/// Holding one says that its form is right, and nothing about who issued it or whether it is still good. Copies share
/// one parsed body. Times are in seconds since 1970 UTC.
package struct Certificate: Sendable {
    let body: CertificateBody

    /// Reads one certificate.
    ///
    /// - Throws: What is wrong with the form: no certificate, bytes after it, another encoding than DER, extensions
    ///   that can't be read.
    package init(der: [UInt8]) throws(CertificateError) {
        body = try CertificateBody(der: der)
    }

    /// Reads the only certificate of a PEM text; other text may surround it, but no other block.
    ///
    /// - Throws: ``CertificateError/notACertificate`` also if there is no certificate, or more than one.
    package init(pem: [UInt8]) throws(CertificateError) {
        guard let blocks = try? CertificatePEM.decode(pem), blocks.count == 1 else { throw .notACertificate }
        body = try CertificateBody(der: blocks[0])
    }

    /// The bytes that it was read from.
    package var der: [UInt8] { body.der }

    /// The SHA-256 digest of ``der``, by which people and tools name a certificate.
    package var fingerprint: SHA256Digest { body.fingerprint }

    /// The first instant of its validity.
    package var notBefore: Int64 { body.notBefore }

    /// The end of its validity; at this instant it is expired already, as OpenSSL has it.
    package var notAfter: Int64 { body.notAfter }

    /// Whether basic constraints say that it issues certificates (`CA:TRUE`).
    package var isAuthority: Bool { body.isAuthority }

    /// Whether its key may be used for this: always, if it does not say what its key may be used for.
    func allows(_ usage: KeyUsage) -> Bool { body.usages & usage.rawValue != 0 }

    /// Whether there is an extension with this identifier, whatever it says.
    package func hasExtension(_ identifier: ObjectIdentifierText) -> Bool { body.hasExtension(identifier) }

    /// The values of all extensions with this identifier, in DER.
    func extensionValues(_ identifier: ObjectIdentifierText) -> [[UInt8]] { body.extensionValues(identifier) }

    /// The key, if it is a point of P-256 written as named curve and without compression; else nil.
    ///
    /// Each read builds it again.
    package var p256Key: PublicKey? {
        guard body.spki.count == 91, body.spki.starts(with: Self.p256Prefix) else { return nil }
        return try? PublicKey(spki: body.spki)
    }

    /// What every SubjectPublicKeyInfo on P-256 starts with (RFC 5480 section 2): nothing is left to interpretation.
    private static let p256Prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]
}

extension Certificate: Hashable {
    /// By the DER.
    package static func == (a: Certificate, b: Certificate) -> Bool { a.body === b.body || a.der == b.der }

    /// By the fingerprint.
    package func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }
}

/// A dotted object identifier, as `1.2.840.113635.100.6.11.1`.
package struct ObjectIdentifierText: Hashable, Sendable {
    /// Decimal numbers joined by dots.
    package let text: String

    /// Names an identifier; for those in the source only.
    package init(_ text: StaticString) {
        self.text = text.description
    }
}

/// What a certificate's key may be used for (RFC 5280 section 4.2.1.3), as OpenSSL numbers it.
enum KeyUsage: UInt32 {
    case digitalSignature = 0x80
    case certificateSigning = 0x04
}
