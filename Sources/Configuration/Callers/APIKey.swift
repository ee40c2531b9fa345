// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// What a caller proves itself by; found by its id, and compared by the digest of its secret.
package protocol CallerCredential: Sendable {
    var id: String { get }
    /// What is stored of the secret.
    var secretDigest: SHA256Digest { get }
}

/// The credential of a caller, `ID.SECRET`: the id finds it, the secret proves it.
///
/// The secret has 256 random bits, so its SHA-256 can be kept without a slow hash.
package struct APIKey: CallerCredential, Hashable {
    /// 16 hexadecimal digits, a point, and 43 characters of base64url.
    private let text: ArraySlice<UInt8>

    /// A fresh key.
    package init(random: some RandomSource) {
        text = Array(hexadecimal(random.bytes(8)).utf8) + [UInt8(ascii: ".")] + Base64.encodeURL(random.bytes(32))
    }

    /// Reads what a caller presents; `nil` if it hasn't the shape of a key.
    package init?(_ credential: ArraySlice<UInt8>) {
        guard credential.count == 60, credential[credential.startIndex + 16] == UInt8(ascii: ".") else { return nil }
        text = credential
    }

    /// 16 hexadecimal digits.
    package var id: String { String(decoding: text.prefix(16), as: UTF8.self) }

    /// What is stored of the secret.
    package var secretDigest: SHA256Digest { SHA256.digest(of: text.dropFirst(17)) }

    /// The whole credential; shown once, when it is made.
    package var credential: String { String(decoding: text, as: UTF8.self) }
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}
