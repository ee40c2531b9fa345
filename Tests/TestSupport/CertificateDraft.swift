// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A certificate to be made, right or wrong: it contains whatever is written here.
package struct CertificateDraft: Sendable {
    package var version = 3
    package var serial: [UInt8] = [1]
    package var issuer: String
    package var subject: String
    /// Seconds since 1970.
    package var notBefore: Int64
    package var notAfter: Int64
    /// A SubjectPublicKeyInfo.
    package var key: [UInt8]
    package var extensions: [[UInt8]]
    package var signatureAlgorithm = DER.ecdsaWithSHA256

    package init(
        subject: String,
        issuer: String,
        key: [UInt8],
        validFrom notBefore: Int64,
        until notAfter: Int64,
        extensions: [[UInt8]]
    ) {
        self.issuer = issuer
        self.subject = subject
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.key = key
        self.extensions = extensions
    }

    /// The certificate in DER, with the signature that `sign` makes over what is to be signed.
    package func der(signedBy sign: ([UInt8]) throws -> [UInt8]) rethrows -> [UInt8] {
        let contents = KeyDER.element(
            0x30,
            version == 1 ? [] : KeyDER.element(0xA0, KeyDER.element(0x02, [UInt8(version - 1)])),
            KeyDER.element(0x02, serial),
            signatureAlgorithm,
            DER.name(issuer),
            KeyDER.element(0x30, DER.time(notBefore), DER.time(notAfter)),
            DER.name(subject),
            key,
            extensions.isEmpty ? [] : KeyDER.element(0xA3, KeyDER.element(0x30, Array(extensions.joined())))
        )
        return try DER.signed(contents, algorithm: signatureAlgorithm, signature: sign(contents))
    }
}

/// Pieces of certificates and OCSP responses.
package enum DER {
    package static let ecdsaWithSHA256 = KeyDER.element(0x30, identifier("1.2.840.10045.4.3.2"))
    package static let ecdsaWithSHA384 = KeyDER.element(0x30, identifier("1.2.840.10045.4.3.3"))
    package static let ecdsaWithSHA1 = KeyDER.element(0x30, identifier("1.2.840.10045.4.1"))
    package static let sha256WithRSA = KeyDER.element(0x30, identifier("1.2.840.113549.1.1.11"), [5, 0])

    /// What is signed, how, and the signature.
    package static func signed(_ contents: [UInt8], algorithm: [UInt8], signature: [UInt8]) -> [UInt8] {
        KeyDER.element(0x30, contents, algorithm, KeyDER.element(0x03, [0], signature))
    }

    /// An OBJECT IDENTIFIER from its dotted form.
    package static func identifier(_ dotted: String) -> [UInt8] {
        let numbers = dotted.split(separator: ".").compactMap { UInt64($0) }
        let arcs = [numbers[0] * 40 + numbers[1]] + numbers[2...]
        let bytes = arcs.flatMap { arc in
            var groups = [UInt8(arc & 127)]
            var rest = arc >> 7
            while rest > 0 {
                groups.insert(UInt8(rest & 127) | 128, at: 0)
                rest >>= 7
            }
            return groups
        }
        return KeyDER.element(0x06, bytes)
    }

    /// A Name of one common name.
    package static func name(_ commonName: String) -> [UInt8] {
        let attribute = KeyDER.element(0x30, identifier("2.5.4.3"), KeyDER.element(0x0C, Array(commonName.utf8)))
        return KeyDER.element(0x30, KeyDER.element(0x31, attribute))
    }

    /// A UTCTime before 2050, a GeneralizedTime from then on, as certificates have it.
    package static func time(_ unixSeconds: Int64) -> [UInt8] {
        let text = generalizedText(unixSeconds)
        return text < "2050" ? KeyDER.element(0x17, Array(text.dropFirst(2).utf8)) : generalizedTime(unixSeconds)
    }

    /// A GeneralizedTime, as OCSP has it.
    package static func generalizedTime(_ unixSeconds: Int64) -> [UInt8] {
        KeyDER.element(0x18, Array(generalizedText(unixSeconds).utf8))
    }

    private static func generalizedText(_ unixSeconds: Int64) -> String {
        var seconds = time_t(unixSeconds)
        var parts = unsafe tm()
        guard unsafe gmtime_r(&seconds, &parts) != nil else { return "" }
        let fields = unsafe [parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec]
        let year = unsafe parts.tm_year + 1900
        return "\(year)" + fields.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined() + "Z"
    }

    package static func certificateExtension(
        _ dotted: String,
        isCritical: Bool = false,
        _ value: [UInt8]
    ) -> [UInt8] {
        KeyDER.element(0x30, identifier(dotted), isCritical ? [1, 1, 0xFF] : [], KeyDER.element(0x04, value))
    }

    package static func basicConstraints(isAuthority: Bool, pathLength: UInt8? = nil) -> [UInt8] {
        let length = pathLength.map { KeyDER.element(0x02, [$0]) } ?? []
        let value = KeyDER.element(0x30, isAuthority ? [1, 1, 0xFF] : [], length)
        return certificateExtension("2.5.29.19", isCritical: true, value)
    }

    /// Bits as RFC 5280 numbers them from the left: 0x80 is digitalSignature, 0x04 keyCertSign.
    package static func keyUsage(_ bits: UInt8) -> [UInt8] {
        let unused = UInt8(bits.trailingZeroBitCount)
        return certificateExtension("2.5.29.15", isCritical: true, KeyDER.element(0x03, [unused, bits]))
    }

    package static func extendedKeyUsage(_ dotted: String) -> [UInt8] {
        certificateExtension("2.5.29.37", KeyDER.element(0x30, identifier(dotted)))
    }

    /// One of Apple's extensions that mark a certificate; its value is NULL.
    package static func marker(_ dotted: String) -> [UInt8] {
        certificateExtension(dotted, [5, 0])
    }

    /// Where OCSP responders are.
    package static func responders(_ addresses: [String]) -> [UInt8] {
        let descriptions = addresses.flatMap { address in
            KeyDER.element(0x30, identifier("1.3.6.1.5.5.7.48.1"), KeyDER.element(0x86, Array(address.utf8)))
        }
        return certificateExtension("1.3.6.1.5.5.7.1.1", KeyDER.element(0x30, descriptions))
    }
}
