// SPDX-License-Identifier: Apache-2.0

/// A JSON Web Signature in its compact form: header, payload and signature in base64url, joined by dots.
///
/// Source: RFC 7515 sections 3.1 and 5.1; for ES256, RFC 7518 section 3.4.
package struct CompactJWS: Hashable, Sendable {
    /// The ASCII bytes that are signed: the first two parts and the dot between them.
    package let signingInput: [UInt8]

    /// Joins the UTF-8 JSON of the header and the bytes of the payload.
    package init(header: [UInt8], payload: [UInt8]) {
        signingInput = Base64.encodeURL(header) + [Self.separator] + Base64.encodeURL(payload)
    }

    /// The whole JWS in ASCII, with the signature of ``signingInput``'s SHA-256 digest as r and s side by side.
    package func serialized(signature: ECDSASignature) -> [UInt8] {
        signingInput + [Self.separator] + Base64.encodeURL(signature.rawRS)
    }

    /// The whole JWS in ASCII, with an RS256 signature of ``signingInput``.
    package func serialized(rs256 signature: [UInt8]) -> [UInt8] {
        signingInput + [Self.separator] + Base64.encodeURL(signature)
    }

    private static let separator = UInt8(ascii: ".")
}
