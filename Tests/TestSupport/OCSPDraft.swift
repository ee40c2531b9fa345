// SPDX-License-Identifier: Apache-2.0

/// An OCSP response to be made, right or wrong: it contains whatever is written here.
package struct OCSPDraft: Sendable {
    /// One of the answers.
    package struct Single: Sendable {
        /// A CertID.
        package var identifier: [UInt8]
        package var status: [UInt8] = OCSPDraft.good
        /// GeneralizedTimes.
        package var thisUpdate: [UInt8]
        package var nextUpdate: [UInt8]?

        package init(identifier: [UInt8], thisUpdate: Int64, nextUpdate: Int64?) {
            self.identifier = identifier
            self.thisUpdate = DER.generalizedTime(thisUpdate)
            self.nextUpdate = nextUpdate.map(DER.generalizedTime)
        }
    }

    package static let good: [UInt8] = [0x80, 0]
    package static let unknown: [UInt8] = [0x82, 0]

    package static func revoked(at unixSeconds: Int64) -> [UInt8] {
        KeyDER.element(0xA1, DER.generalizedTime(unixSeconds))
    }

    package var code: UInt8 = 0
    /// Who says so: a name or the digest of a key, with their tags.
    package var responder: [UInt8]
    package var producedAt: Int64
    package var singles: [Single]
    package var extensions: [[UInt8]] = []
    package var algorithm = DER.ecdsaWithSHA256
    package var certificates: [[UInt8]] = []

    package init(responder name: String, producedAt: Int64, singles: [Single]) {
        responder = Self.byName(name)
        self.producedAt = producedAt
        self.singles = singles
    }

    package static func byName(_ name: String) -> [UInt8] { KeyDER.element(0xA1, DER.name(name)) }

    package static func byKey(digest: [UInt8]) -> [UInt8] { KeyDER.element(0xA2, KeyDER.element(0x04, digest)) }

    /// The nonce extension, its value wrapped as OpenSSL wraps it.
    package static func nonce(_ bytes: [UInt8]) -> [UInt8] {
        DER.certificateExtension("1.3.6.1.5.5.7.48.1.2", KeyDER.element(0x04, bytes))
    }

    /// A CertID (RFC 6960 section 4.1.1).
    package static func identifier(digest: String, name: [UInt8], key: [UInt8], serial: [UInt8]) -> [UInt8] {
        KeyDER.element(
            0x30,
            KeyDER.element(0x30, DER.identifier(digest), [5, 0]),
            KeyDER.element(0x04, name),
            KeyDER.element(0x04, key),
            KeyDER.element(0x02, serial)
        )
    }

    /// What the responder signs.
    package var contents: [UInt8] {
        let answers = singles.map { single in
            let next = single.nextUpdate.map { KeyDER.element(0xA0, $0) } ?? []
            return KeyDER.element(0x30, single.identifier, single.status, single.thisUpdate, next)
        }
        return KeyDER.element(
            0x30,
            responder,
            DER.generalizedTime(producedAt),
            KeyDER.element(0x30, Array(answers.joined())),
            extensions.isEmpty ? [] : KeyDER.element(0xA1, KeyDER.element(0x30, Array(extensions.joined())))
        )
    }

    /// The response in DER, with the signature that `sign` makes over what is to be signed.
    package func der(signedBy sign: ([UInt8]) throws -> [UInt8]) rethrows -> [UInt8] {
        guard code == 0 else { return KeyDER.element(0x30, KeyDER.element(0x0A, [code])) }
        let basic = KeyDER.element(
            0x30,
            contents,
            algorithm,
            KeyDER.element(0x03, [0], try sign(contents)),
            certificates.isEmpty ? [] : KeyDER.element(0xA0, KeyDER.element(0x30, Array(certificates.joined())))
        )
        let typed = KeyDER.element(0x30, DER.identifier("1.3.6.1.5.5.7.48.1.1"), KeyDER.element(0x04, basic))
        return KeyDER.element(0x30, KeyDER.element(0x0A, [code]), KeyDER.element(0xA0, typed))
    }
}
