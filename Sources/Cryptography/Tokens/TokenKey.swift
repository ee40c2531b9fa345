// SPDX-License-Identifier: Apache-2.0
package import JSON

/// A public key as a JSON Web Key, fit to verify tokens: EC on P-256, RSA of 2048 to 4096 bits, or Ed25519.
///
/// Source: RFC 7517 section 4, RFC 7518 section 6, RFC 8037 section 2.
package struct TokenKey: Sendable {
    private enum Kind: Sendable {
        case p256(PublicKey)
        case rsa(RSAPublicKey)
        case ed25519(Ed25519PublicKey)
    }

    /// `nil` if it has none.
    package let id: String?
    /// What it may verify: by its kind, and by its own `alg` if it has one.
    package let algorithms: Set<TokenAlgorithm>
    /// The key's SubjectPublicKeyInfo.
    package let spki: [UInt8]
    private let kind: Kind

    /// Reads a JSON Web Key.
    ///
    /// - Throws: Why it can't verify tokens here.
    package init(_ value: JSONValue) throws(TokenKeyFault) {
        guard let members = value.object else { throw .notObject }
        guard !["d", "p", "q", "dp", "dq", "qi", "k"].contains(where: { members[$0] != nil }) else { throw .secret }
        if let use = members["use"], !use.string(equals: "sig") { throw .otherUse }
        if let operations = members["key_ops"] {
            guard operations.array?.contains(where: { $0.string(equals: "verify") }) == true else { throw .otherUse }
        }
        switch members["kid"] {
        case nil: id = nil
        case let value?:
            guard let text = value.string, (1...JSONWebToken.maximumKeyIDBytes).contains(text.utf8.count) else {
                throw .idUnfit
            }
            id = text
        }
        let (kind, spki, fitting) = try Self.kind(members)
        algorithms = try Self.narrowed(fitting, by: members["alg"])
        (self.kind, self.spki) = (kind, spki)
    }

    /// Whether the signature was made with this key's private half, by an algorithm that fits the key.
    package func verifies(_ signature: [UInt8], of input: ArraySlice<UInt8>, by algorithm: TokenAlgorithm) -> Bool {
        guard algorithms.contains(algorithm) else { return false }
        switch (kind, algorithm) {
        case (.p256(let key), .es256):
            guard let signature = ECDSASignature(rawRS: signature) else { return false }
            return key.verifies(signature, of: SHA256.digest(of: input))
        case (.rsa(let key), .rs256): return key.verifiesRS256(signature, of: SHA256.digest(of: input))
        case (.rsa(let key), .ps256): return key.verifiesPS256(signature, of: SHA256.digest(of: input))
        case (.ed25519(let key), .edDSA): return key.verifies(signature, of: Array(input))
        default: return false
        }
    }

    /// The digest of the key by RFC 7638, of a key on P-256; `nil` of others.
    package var p256Thumbprint: SHA256Digest? {
        guard case .p256 = kind else { return nil }
        let x = String(decoding: Base64.encodeURL(Array(spki.suffix(64).prefix(32))), as: UTF8.self)
        let y = String(decoding: Base64.encodeURL(Array(spki.suffix(32))), as: UTF8.self)
        return SHA256.digest(of: Array(#"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#.utf8))
    }

    private static func narrowed(
        _ fitting: Set<TokenAlgorithm>,
        by value: JSONValue?
    ) throws(TokenKeyFault) -> Set<TokenAlgorithm> {
        guard let value else { return fitting }
        guard let named = value.string.flatMap(TokenAlgorithm.init), fitting.contains(named) else {
            throw .otherAlgorithm
        }
        return [named]
    }

    private static func kind(
        _ members: JSONObject
    ) throws(TokenKeyFault) -> (Kind, spki: [UInt8], Set<TokenAlgorithm>) {
        switch (members["kty"]?.string, members["crv"]?.string) {
        case ("EC", "P-256"):
            let key = try p256(members)
            return (.p256(key), key.spki, [.es256])
        case ("RSA", _):
            let key = try rsa(members)
            return (.rsa(key), key.spki, [.rs256, .ps256])
        case ("OKP", "Ed25519"):
            guard let x = number(members, "x"), let key = Ed25519PublicKey(bytes: x) else { throw .numbersUnfit }
            return (.ed25519(key), key.spki, [.edDSA])
        default: throw .otherKind
        }
    }

    private static func p256(_ members: JSONObject) throws(TokenKeyFault) -> PublicKey {
        guard let x = number(members, "x"), let y = number(members, "y"), x.count == 32, y.count == 32 else {
            throw .numbersUnfit
        }
        do throws(PublicKeyError) {
            return try PublicKey(spki: p256Prefix + x + y)
        } catch {
            throw .numbersUnfit
        }
    }

    private static func rsa(_ members: JSONObject) throws(TokenKeyFault) -> RSAPublicKey {
        guard let modulus = number(members, "n"), let exponent = number(members, "e") else { throw .numbersUnfit }
        // Longer keys take long to verify, and providers do not use them.
        guard modulus.count <= 512 else { throw .tooLarge }
        do throws(RSAPublicKeyError) {
            return try RSAPublicKey(modulus: modulus, exponent: exponent)
        } catch {
            if case .size = error { throw .tooSmall }
            throw .numbersUnfit
        }
    }

    private static func number(_ members: JSONObject, _ name: String) -> [UInt8]? {
        members[name]?.stringBytes.flatMap(Base64.decodeURL)
    }

    /// A SubjectPublicKeyInfo on P-256 up to its point (RFC 5480 section 2), and the mark of an uncompressed one.
    private static let p256Prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]
}

/// Why a JSON Web Key is passed over; these are all the ways.
package enum TokenKeyFault: Error, Hashable, Sendable, CustomStringConvertible {
    case notObject
    /// It has private numbers, or is symmetric.
    case secret
    case otherUse
    case idUnfit
    case otherKind
    case otherAlgorithm
    case numbersUnfit
    case tooSmall
    case tooLarge

    /// A phrase without its subject, which is the key at its place in the set.
    package var description: String {
        switch self {
        case .notObject: "is no object"
        case .secret: "has secret numbers, which must never be published"
        case .otherUse: "is not for verifying signatures (use, key_ops)"
        case .idUnfit: "has a kid that is not a text of 1 to \(JSONWebToken.maximumKeyIDBytes) bytes"
        case .otherKind: "is neither EC on P-256 nor RSA nor Ed25519"
        case .otherAlgorithm: "has an alg that is not supported or does not fit its kty"
        case .numbersUnfit: "has numbers that make no key"
        case .tooSmall: "is RSA of fewer than 2048 bits"
        case .tooLarge: "is RSA of more than 4096 bits"
        }
    }
}
