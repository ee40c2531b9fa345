// SPDX-License-Identifier: Apache-2.0

/// Elliptic curves that are described by their parameters instead of a name (RFC 5480, section 2.1.1, forbids it).
///
/// OpenSSL decodes a certificate's key while it reads the certificate. A malicious curve keeps it busy for a quarter of
/// a second with the square root that a compressed point needs, so untrusted bytes are scanned first.
enum DescribedCurve {
    /// Whether DER may describe one: whether it names the kind of a field, `prime-field` or `characteristic-two-field` of
    /// ANSI X9.62, which each description has and nothing else.
    static func mayBe(in der: [UInt8]) -> Bool {
        der.indices.contains { start in
            der[start] == fieldType[0] && der[start...].starts(with: fieldType)
                && [1, 2].contains(der[start...].dropFirst(fieldType.count).first)
        }
    }

    /// The content of 1.2.840.10045.1, before its last number.
    private static let fieldType: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x01]
}
