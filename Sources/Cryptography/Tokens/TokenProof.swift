// SPDX-License-Identifier: Apache-2.0
import JSON

/// A DPoP proof whose signature verifies: for one request, the sender has a private key.
///
/// Source: RFC 9449 sections 4.2 and 4.3.
package struct TokenProof: Sendable {
    /// What tokens name the key by in `cnf.jkt`.
    package let thumbprint: SHA256Digest
    /// 1 to 128 bytes.
    package let id: String
    /// The claim `nonce`, which the service gave out before; nil without one.
    package let nonce: String?
    /// In milliseconds since 1970.
    package let issuedAt: Int64
    private let method: String
    private let url: String
    private let tokenHash: String

    /// Reads a proof and verifies its signature with its own key.
    package init(_ text: ArraySlice<UInt8>) throws(ProofFault) {
        let proof: JSONWebToken
        do throws(TokenFault) {
            proof = try JSONWebToken(text)
        } catch .algorithmNone, .algorithmSymmetric, .algorithmNotAllowed, .algorithmMissing {
            throw .algorithmNotES256
        } catch {
            throw .form
        }
        guard proof.type?.lowercased() == "dpop+jwt" else { throw .otherType }
        guard proof.algorithm == .es256 else { throw .algorithmNotES256 }
        // The kind first: to check the numbers of an RSA key takes long, and anyone may send one.
        guard let value = proof.headerKey, value.object?["kty"]?.string(equals: "EC") == true,
            let key = try? TokenKey(value), let thumbprint = key.p256Thumbprint
        else { throw .keyUnfit }
        guard proof.isSigned(by: key) else { throw .signatureWrong }
        self.thumbprint = thumbprint
        let claims = proof.payload
        id = try Self.text("jti", claims)
        guard (1...128).contains(id.utf8.count) else { throw .claimUnfit("jti") }
        method = try Self.text("htm", claims)
        url = try Self.text("htu", claims)
        tokenHash = try Self.text("ath", claims)
        nonce = claims["nonce"] == nil ? nil : try Self.text("nonce", claims)
        guard let issued = claims["iat"] else { throw .claimMissing("iat") }
        guard let instant = TokenClaims.milliseconds(issued) else { throw .claimUnfit("iat") }
        issuedAt = instant
    }

    /// Checks that the proof is for this request, and for this token.
    ///
    /// `url` is the request's, with the origin that clients know the service by.
    package func check(
        method: String,
        url: String,
        token: ArraySlice<UInt8>,
        confirmation: String?
    ) throws(ProofFault) {
        guard self.method.utf8.elementsEqual(method.utf8) else { throw .otherMethod }
        guard let own = Self.normalized(self.url), own == Self.normalized(url) else { throw .otherURL }
        let hash = Base64.encodeURL(SHA256.digest(of: token).bytes)
        guard hash == Array(tokenHash.utf8) else { throw .otherToken }
        guard let confirmation, Array(confirmation.utf8) == Base64.encodeURL(thumbprint.bytes) else {
            throw .otherKey
        }
    }

    private static func text(_ name: String, _ claims: JSONObject) throws(ProofFault) -> String {
        guard let value = claims[name] else { throw .claimMissing(name) }
        guard let text = value.string else { throw .claimUnfit(name) }
        return text
    }

    /// The bytes of a URL without query and fragment, its scheme and host in lowercase and without the scheme's own port.
    ///
    /// Source: RFC 3986 sections 6.2.2 and 6.2.3.
    private static func normalized(_ url: String) -> [UInt8]? {
        let bytes = Array(url.utf8).prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        for (scheme, port) in [("https://", ":443"), ("http://", ":80")]
        where bytes.prefix(scheme.utf8.count).map(lowercased).elementsEqual(scheme.utf8) {
            let rest = bytes.dropFirst(scheme.utf8.count)
            var authority = rest.prefix { $0 != UInt8(ascii: "/") }.map(lowercased)
            if authority.suffix(port.utf8.count).elementsEqual(port.utf8) { authority.removeLast(port.utf8.count) }
            let path = rest.drop { $0 != UInt8(ascii: "/") }
            return Array(scheme.utf8) + authority + (path.isEmpty ? [UInt8(ascii: "/")] : Array(path))
        }
        return nil
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
