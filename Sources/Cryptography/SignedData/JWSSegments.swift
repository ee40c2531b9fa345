// SPDX-License-Identifier: Apache-2.0

/// The parts of a compact JWS (RFC 7515 section 7.1), split and decoded, but not interpreted.
struct JWSSegments {
    /// The digest of the header as it is written; a name for the header.
    let headerDigest: SHA256Digest
    /// The digest of what is signed.
    let signedDigest: SHA256Digest
    let payload: [UInt8]
    let signature: ECDSASignature
    private let headerText: ArraySlice<UInt8>

    /// More than any header needs that has three certificates; those of Apple make 4 to 5 KiB.
    static let maximumHeaderBytes = 12_288

    init(_ jws: [UInt8], maximumBytes: Int) throws(SignedDataError) {
        guard jws.count <= maximumBytes else { throw .tooLarge(limit: maximumBytes) }
        let parts = jws.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else { throw .notThreeSegments }
        guard parts[0].count <= Self.maximumHeaderBytes else { throw .headerTooLarge(limit: Self.maximumHeaderBytes) }
        headerText = parts[0]
        guard let payload = Base64.decodeURL(Array(parts[1])) else { throw .notBase64URL(.payload) }
        self.payload = payload
        signature = try Self.signature(in: Array(parts[2]))
        headerDigest = SHA256.digest(of: jws[..<parts[0].endIndex])
        signedDigest = SHA256.digest(of: jws[..<parts[1].endIndex])
    }

    /// The header's bytes.
    func header() throws(SignedDataError) -> [UInt8] {
        guard let header = Base64.decodeURL(Array(headerText)) else { throw .notBase64URL(.header) }
        return header
    }

    private static func signature(in text: [UInt8]) throws(SignedDataError) -> ECDSASignature {
        guard let bytes = Base64.decodeURL(text) else { throw .notBase64URL(.signature) }
        guard bytes.count == 64 else {
            throw ECDSASignature(der: bytes) == nil ? .signatureNot64Bytes : .signatureInDER
        }
        let isInRange =
            bytes[..<32].lexicographicallyPrecedes(p256Order)
            && bytes[32...].lexicographicallyPrecedes(p256Order)
        guard isInRange, let signature = ECDSASignature(rawRS: bytes) else { throw .signatureOutOfRange }
        return signature
    }

    /// The order of P-256's group (SP 800-186 section 3.2.1.3), big-endian.
    private static let p256Order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]
}
