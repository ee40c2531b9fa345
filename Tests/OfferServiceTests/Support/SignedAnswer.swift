// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation

/// An answer with a signature, and what Apple's documentation says that the signature is over.
///
/// Source: Apple, [Generating a signature for promotional offers](https://developer.apple.com/documentation/storekit/generating-a-signature-for-promotional-offers)
/// and [Generating JWS to sign App Store requests](https://developer.apple.com/documentation/storekit/generating-jws-to-sign-app-store-requests).
struct SignedAnswer {
    let answer: Tree
    var bundleID = "com.example.app"
    var productID = "pro.monthly"
    /// What the app attaches to its purchase: the token, the user name, or nothing.
    var binding: String

    init(_ reply: Reply, binding: String = "") {
        self.init(reply.json, binding: binding)
    }

    /// One answer of several in a reply.
    init(_ answer: Tree, binding: String = "") {
        self.answer = answer
        self.binding = binding
    }

    /// The UTF-8 text of the seven fields, as the app that has this answer can put it together.
    var payload: [UInt8] {
        let fields = [
            bundleID, answer["keyIdentifier"].text ?? "", productID, answer["identifier"].text ?? "", binding,
            answer["nonce"].text ?? "", answer["timestamp"].integer.map { "\($0)" } ?? "",
        ]
        return Array(fields.joined(separator: "\u{2063}").utf8)
    }

    func isV1Signed(by key: PublicKey) -> Bool {
        guard let text = answer["signature"].text, let der = Data(base64Encoded: text),
            let signature = ECDSASignature(der: Array(der))
        else { return false }
        return key.verifies(signature, of: SHA256.digest(of: payload))
    }

    /// What ECDSA signed in the JWS: SHA-256 of its first two parts.
    var jwsDigest: SHA256Digest? {
        let parts = jwsParts
        return parts.count == 3 ? SHA256.digest(of: Array("\(parts[0]).\(parts[1])".utf8)) : nil
    }

    func isJWSSigned(by key: PublicKey) -> Bool {
        guard let digest = jwsDigest, let raw = Self.decoded(jwsParts[2]), let signature = ECDSASignature(rawRS: raw)
        else { return false }
        return key.verifies(signature, of: digest)
    }

    var jwsHeader: Tree { part(0) }
    var jwsClaims: Tree { part(1) }

    private var jwsParts: [String] {
        answer["jws"].text?.split(separator: ".", omittingEmptySubsequences: false).map(String.init) ?? []
    }

    private func part(_ index: Int) -> Tree {
        guard jwsParts.count == 3, let bytes = Self.decoded(jwsParts[index]) else { return .null }
        return (try? Tree(String(decoding: bytes, as: UTF8.self))) ?? .null
    }

    /// The bytes of a base64url text without padding (RFC 7515 section 2).
    private static func decoded(_ text: String) -> [UInt8]? {
        guard !text.contains(where: { "+/=".contains($0) }) else { return nil }
        let standard = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        let padding = String(repeating: "=", count: (4 - standard.count % 4) % 4)
        return Data(base64Encoded: standard + padding).map(Array.init)
    }
}
