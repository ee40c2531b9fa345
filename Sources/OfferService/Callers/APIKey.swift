// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// The credential of a caller, `ID.SECRET`: the id finds it, the secret proves it.
///
/// The secret has 256 random bits, so its SHA-256 can be kept without a slow hash.
package struct APIKey: Hashable, Sendable {
    /// 16 hexadecimal digits.
    package let id: String
    /// 43 characters of base64url.
    private let secret: [UInt8]

    /// A fresh key.
    package init(random: some RandomSource) {
        id = hexadecimal(random.bytes(8))
        secret = Base64.encodeURL(random.bytes(32))
    }

    /// Reads what a caller presents; `nil` if it hasn't the shape of a key.
    package init?(_ credential: ArraySlice<UInt8>) {
        let (idBytes, dot) = (credential.prefix(16), credential.dropFirst(16))
        guard credential.count == 60, dot.first == UInt8(ascii: ".") else { return nil }
        id = String(decoding: idBytes, as: UTF8.self)
        secret = Array(dot.dropFirst())
    }

    /// What is stored of the secret.
    package var secretDigest: [UInt8] { SHA256.digest(of: secret).bytes }

    /// The whole credential; shown once, when it is made.
    package var credential: String { "\(id).\(String(decoding: secret, as: UTF8.self))" }
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}
