// SPDX-License-Identifier: Apache-2.0

/// Why signed data is not believed.
///
/// None of it says more of the data than where the fault is, so all of it may be logged and answered.
package enum SignedDataError: Error, Hashable, Sendable {
    case tooLarge(limit: Int)
    case notThreeSegments
    case headerTooLarge(limit: Int)
    /// Padding, characters of another alphabet, and unused bits that are not zero are no canonical base64url.
    case notBase64URL(SignedDataSegment)
    /// The fault is `offset` bytes into the decoded header.
    case headerNotJSON(offset: Int)
    case headerNotObject
    case algorithmMissing
    case algorithmNone
    case algorithmSymmetric
    case algorithmNotES256
    case forbiddenMember(ForbiddenHeaderMember)
    case certificatesMissing
    case certificatesNotArray
    case notThreeCertificates
    /// The index counts from 0.
    case certificateNotBase64(index: Int)
    case certificate(CertificateError, index: Int)
    case chain(ChainError)
    case signatureInDER
    case signatureNot64Bytes
    case signatureOutOfRange
    case wrongSignature
    /// Whether the chain's certificates have been revoked is not known now; asking again later may help.
    case revocationUnknown

    /// The reason in a few lowercase words joined by hyphens, for metrics and problems.
    ///
    /// There is a small, fixed number of them.
    package var label: String {
        switch self {
        case .tooLarge: "too-large"
        case .notThreeSegments: "not-three-segments"
        case .headerTooLarge: "header-too-large"
        case .notBase64URL(let segment): "\(segment.rawValue)-not-base64url"
        case .headerNotJSON: "header-not-json"
        case .headerNotObject: "header-not-object"
        case .algorithmMissing: "algorithm-missing"
        case .algorithmNone: "algorithm-none"
        case .algorithmSymmetric: "algorithm-symmetric"
        case .algorithmNotES256: "algorithm-not-es256"
        case .forbiddenMember(let member): "forbidden-member-\(member.rawValue)"
        case .certificatesMissing: "certificates-missing"
        case .certificatesNotArray: "certificates-not-array"
        case .notThreeCertificates: "not-three-certificates"
        case .certificateNotBase64: "certificate-not-base64"
        case .certificate(let error, _): error.label
        case .chain(let error): error.label
        case .signatureInDER: "signature-in-der"
        case .signatureNot64Bytes: "signature-not-64-bytes"
        case .signatureOutOfRange: "signature-out-of-range"
        case .wrongSignature: "wrong-signature"
        case .revocationUnknown: "revocation-unknown"
        }
    }
}

extension SignedDataError: CustomStringConvertible {
    /// One sentence for a caller; it shows nothing of the data.
    package var description: String {
        switch self {
        case .tooLarge(let limit): "The signed data has more than \(limit) bytes."
        case .notThreeSegments: "Signed data has three parts, not empty, with a dot between them."
        case .headerTooLarge(let limit): "The header has more than \(limit) bytes."
        case .notBase64URL(let segment): "The \(segment.rawValue) is not canonical base64url without padding."
        case .headerNotJSON(let offset): "The header is not strict JSON; the fault is at its byte \(offset)."
        case .headerNotObject: "The header is not a JSON object."
        case .algorithmMissing: "The header names no algorithm."
        case .algorithmNone: "The header says that the data is not signed."
        case .algorithmSymmetric: "The header names an algorithm with a shared secret; the keys here are public."
        case .algorithmNotES256: "The header names a different algorithm than ES256."
        case .forbiddenMember(let member): "The header has the member \(member.rawValue), which is not accepted here."
        case .certificatesMissing: "The header has no x5c."
        case .certificatesNotArray: "The header's x5c is not an array of texts."
        case .notThreeCertificates: "The header's x5c does not have exactly three certificates."
        case .certificateNotBase64(let index): "Certificate \(index) of x5c is not canonical Base64."
        case .certificate(let error, let index): "Certificate \(index) of x5c is not accepted. \(error)"
        case .chain(let error): error.description
        case .signatureInDER: "The signature is in DER; JWS has r and s side by side, 64 bytes."
        case .signatureNot64Bytes: "The signature does not have 64 bytes."
        case .signatureOutOfRange: "A number of the signature is zero, or not less than the order of P-256."
        case .wrongSignature: "The signature was not made over this data with the leaf's key."
        case .revocationUnknown: "Whether the chain's certificates have been revoked is not known now."
        }
    }
}

/// A part of a compact JWS.
package enum SignedDataSegment: String, Hashable, Sendable {
    case header, payload, signature
}

/// Header members that would change what is verified, or with what (RFC 7515 section 4.1, RFC 7797).
package enum ForbiddenHeaderMember: String, Hashable, Sendable, CaseIterable {
    case crit, b64, jwk, jku, x5u
}
