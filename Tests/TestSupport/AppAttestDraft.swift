// SPDX-License-Identifier: Apache-2.0

/// An app on a device with App Attest, and the authority that vouches for it: what they write, right or wrong.
///
/// Whatever is changed here is in the objects, and the certificate's nonce matches the changed data, so that nothing
/// else is wrong with them.
package struct AppAttestDraft: Sendable {
    /// A key and who signs with it: ECDSA in DER, of the message's SHA-256.
    package struct Key: Sendable {
        package let spki: [UInt8]
        package let sign: @Sendable ([UInt8]) throws -> [UInt8]

        package init(spki: [UInt8], sign: @escaping @Sendable ([UInt8]) throws -> [UInt8]) {
            (self.spki, self.sign) = (spki, sign)
        }

        /// 65 bytes, of a key on P-256.
        package var point: [UInt8] { Array(spki.suffix(65)) }
    }

    package static let production = Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)

    package var rootKey: Key
    package var intermediateKey: Key
    package var deviceKey: Key
    package var root: CertificateDraft
    package var intermediate: CertificateDraft
    package var leaf: CertificateDraft
    package let digest: @Sendable ([UInt8]) -> [UInt8]

    package var appID: String
    package var identifier = AppAttestDraft.production
    package var counter: UInt32 = 0
    /// By default the digest of the device's key.
    package var credentialID: [UInt8]?
    package var coseKey: CBORDraft?
    package var extensions: CBORDraft?
    package var rest: [UInt8] = []
    package var format = "apple-appattest"
    /// The nonce's extensions in the leaf, by the nonce.
    package var nonceExtensions: @Sendable (_ nonce: [UInt8]) -> [[UInt8]] = { [AppAttestDraft.nonceExtension($0)] }
    /// What `x5c` contains, from leaf and intermediate.
    package var certificates: @Sendable ([[UInt8]]) -> [[UInt8]] = { $0 }
    /// The object's members as they are written.
    package var members: @Sendable ([(CBORDraft, CBORDraft)]) -> [(CBORDraft, CBORDraft)] = { $0 }

    /// Drafts everything as it should be, good for a year before and after the instant.
    ///
    /// The keys are root's, intermediate's and device's.
    package init(
        appID: String,
        keys: (root: Key, intermediate: Key, device: Key),
        at instant: Int64,
        digest: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.appID = appID
        self.digest = digest
        (rootKey, intermediateKey, deviceKey) = keys
        func draft(_ subject: String, _ issuer: String, _ key: Key, _ extensions: [[UInt8]]) -> CertificateDraft {
            CertificateDraft(
                subject: subject,
                issuer: issuer,
                key: key.spki,
                validFrom: instant - 31_536_000,
                until: instant + 31_536_000,
                extensions: extensions
            )
        }
        let (authority, issuing) = (DER.basicConstraints(isAuthority: true), DER.keyUsage(0x06))
        root = draft("Test Attestation Root", "Test Attestation Root", keys.root, [authority, issuing])
        intermediate = draft("Test Attestation CA", "Test Attestation Root", keys.intermediate, [authority, issuing])
        intermediate.serial = [2]
        leaf = draft(
            "Test Key",
            "Test Attestation CA",
            keys.device,
            [DER.basicConstraints(isAuthority: false), DER.keyUsage(0xF0)]
        )
        leaf.serial = [3]
    }

    package var keyID: [UInt8] { digest(deviceKey.point) }

    package func rootDER() throws -> [UInt8] { try root.der(signedBy: rootKey.sign) }

    /// Apple's extension with a nonce.
    package static func nonceExtension(_ nonce: [UInt8], tag: UInt8 = 0xA1) -> [UInt8] {
        let value = KeyDER.element(0x30, KeyDER.element(tag, KeyDER.element(0x04, nonce)))
        return DER.certificateExtension("1.2.840.113635.100.8.2", value)
    }

    /// What an attestation says of the app and its key.
    package var authenticatorData: [UInt8] {
        let id = credentialID ?? keyID
        let key = coseKey ?? Self.coseKey(deviceKey.point)
        var data = digest(Array(appID.utf8))
        data += [0x40]
        data += bytes(counter)
        data += identifier
        data += [0, UInt8(id.count)]
        data += id
        data += key.encoded
        data += extensions?.encoded ?? []
        return data + rest
    }

    package static func coseKey(_ point: [UInt8]) -> CBORDraft {
        .map([
            (.integer(1), .integer(2)), (.integer(3), .integer(-7)), (.integer(-1), .integer(1)),
            (.integer(-2), .bytes(Array(point[1..<33]))), (.integer(-3), .bytes(Array(point[33...]))),
        ])
    }

    /// The attestation object for what the app has had attested.
    package func attestation(_ clientDataHash: [UInt8], data: [UInt8]? = nil) throws -> [UInt8] {
        let nonce = digest(authenticatorData + clientDataHash)
        var leaf = leaf
        leaf.key = deviceKey.spki
        leaf.extensions += nonceExtensions(nonce)
        let chain = [
            try leaf.der(signedBy: intermediateKey.sign), try intermediate.der(signedBy: rootKey.sign),
        ]
        let statement: [(CBORDraft, CBORDraft)] = [
            (.text("x5c"), .array(certificates(chain).map(CBORDraft.bytes))), (.text("receipt"), .bytes([1, 2, 3])),
        ]
        let members: [(CBORDraft, CBORDraft)] = [
            (.text("fmt"), .text(format)), (.text("attStmt"), .map(statement)),
            (.text("authData"), .bytes(data ?? authenticatorData)),
        ]
        return CBORDraft.map(self.members(members)).encoded
    }

    /// The assertion with which the key's counter is `counter`.
    package func assertion(_ clientDataHash: [UInt8], counter: UInt32) throws -> [UInt8] {
        var data = digest(Array(appID.utf8))
        data += [0x40]
        data += bytes(counter)
        data += extensions?.encoded ?? []
        data += rest
        let members: [(CBORDraft, CBORDraft)] = [
            (.text("signature"), .bytes(try deviceKey.sign(digest(data + clientDataHash)))),
            (.text("authenticatorData"), .bytes(data)),
        ]
        return CBORDraft.map(self.members(members)).encoded
    }

    private func bytes(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

/// A value of CBOR to be written.
package indirect enum CBORDraft: Sendable {
    case integer(Int64)
    case bytes([UInt8])
    case text(String)
    case array([CBORDraft])
    case map([(CBORDraft, CBORDraft)])
    /// As it is.
    case raw([UInt8])

    package var encoded: [UInt8] {
        switch self {
        case .integer(let integer):
            integer < 0 ? Self.head(1, UInt64(-1 - integer)) : Self.head(0, UInt64(integer))
        case .bytes(let bytes): Self.head(2, UInt64(bytes.count)) + bytes
        case .text(let text): Self.head(3, UInt64(text.utf8.count)) + Array(text.utf8)
        case .array(let elements): Self.head(4, UInt64(elements.count)) + elements.flatMap(\.encoded)
        case .map(let members):
            Self.head(5, UInt64(members.count)) + members.flatMap { $0.0.encoded + $0.1.encoded }
        case .raw(let bytes): bytes
        }
    }

    /// The kind of a value with its number, as short as it can be.
    package static func head(_ kind: UInt8, _ argument: UInt64) -> [UInt8] {
        let bytes = [56, 48, 40, 32, 24, 16, 8, 0].map { UInt8(truncatingIfNeeded: argument >> $0) }
        switch argument {
        case 0..<24: return [kind << 5 | UInt8(argument)]
        case 24...0xFF: return [kind << 5 | 24] + bytes.suffix(1)
        case 0x100...0xFFFF: return [kind << 5 | 25] + bytes.suffix(2)
        case 0x1_0000...0xFFFF_FFFF: return [kind << 5 | 26] + bytes.suffix(4)
        default: return [kind << 5 | 27] + bytes
        }
    }
}
