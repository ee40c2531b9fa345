// SPDX-License-Identifier: Apache-2.0
package import JSON

/// What a token says; its times in milliseconds since 1970.
///
/// Source: RFC 7519 section 4.1.
package struct TokenClaims: Sendable {
    /// The claim `iss`.
    package let issuer: String
    /// 1 to 255 bytes.
    package let subject: String
    /// The claim `exp`.
    package let expiresAt: Int64
    /// The claim `iat`.
    package let issuedAt: Int64
    let notBefore: Int64?
    /// Every claim.
    package let all: JSONObject

    /// Reads the claims that every token must have.
    package init(_ payload: JSONObject) throws(TokenFault) {
        all = payload
        issuer = try Self.required("iss", in: payload) { $0.string }
        subject = try Self.required("sub", in: payload) { value in
            value.string.flatMap { (1...255).contains($0.utf8.count) ? $0 : nil }
        }
        expiresAt = try Self.required("exp", in: payload, Self.milliseconds)
        issuedAt = try Self.required("iat", in: payload, Self.milliseconds)
        notBefore = payload["nbf"] == nil ? nil : try Self.required("nbf", in: payload, Self.milliseconds)
    }

    /// A claim that is a text or an array of texts.
    func texts(_ name: String) throws(TokenFault) -> [String] {
        try Self.required(name, in: all) { value in
            if let text = value.string { return [text] }
            guard let array = value.array else { return nil }
            let texts = array.compactMap(\.string)
            return texts.count == array.count ? texts : nil
        }
    }

    /// What it grants: the list in `scope`, and `scp`, which some providers write as a list and some as an array.
    var scopes: Set<[UInt8]> {
        get throws(TokenFault) {
            var scopes: Set<[UInt8]> = []
            for name in ["scope", "scp"] where all[name] != nil {
                for text in try texts(name) {
                    scopes.formUnion(text.utf8.split(separator: UInt8(ascii: " ")).map(Array.init))
                }
            }
            return scopes
        }
    }

    /// What the token is bound to (`cnf`, RFC 7800); `nil` if it is bound to nothing.
    ///
    /// - Throws: ``TokenFault/boundOtherwise`` if it is bound to anything that is not known here.
    package var binding: TokenBinding? {
        get throws(TokenFault) {
            guard let confirmation = all["cnf"] else { return nil }
            guard let members = confirmation.object, members.count == 1 else { throw .boundOtherwise }
            if let thumbprint = members["jkt"]?.string { return .key(thumbprint: thumbprint) }
            guard let text = members["x5t#S256"]?.string, let bytes = Base64.decodeURL(Array(text.utf8)),
                let digest = SHA256Digest(bytes: bytes)
            else { throw .boundOtherwise }
            return .certificate(digest)
        }
    }

    private static func required<Value>(
        _ name: String,
        in claims: JSONObject,
        _ parse: (JSONValue) -> Value?
    ) throws(TokenFault) -> Value {
        guard let value = claims[name] else { throw .claimMissing(name) }
        guard let parsed = parse(value) else { throw .claimUnfit(name) }
        return parsed
    }

    /// Seconds since 1970, fractions too; not in the form with an exponent, and not beyond the year 9999.
    static func milliseconds(_ value: JSONValue) -> Int64? {
        guard value.kind == .number, !value.text.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }),
            let seconds = value.double, (0...253_402_300_799).contains(seconds)
        else { return nil }
        return Int64(seconds * 1000)
    }
}

/// What the sender of a token has to have besides the token.
package enum TokenBinding: Hashable, Sendable {
    /// The key with that thumbprint, in base64url (RFC 9449 section 6.1).
    case key(thumbprint: String)
    /// The certificate with that SHA-256 of its DER (RFC 8705 section 3.1).
    case certificate(SHA256Digest)
}
