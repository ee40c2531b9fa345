// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A P-256 public key.
package struct PublicKey: Sendable {
    /// The SubjectPublicKeyInfo in DER (RFC 5280 section 4.1.2.7, RFC 5480): 91 bytes.
    package let spki: [UInt8]

    /// The SHA-256 digest of ``spki``, by which a key is pinned and named in the audit log.
    package let spkiSHA256: SHA256Digest

    private let verifiers: ContextPool

    /// Reads a SubjectPublicKeyInfo in DER; nothing may follow it, and it must be a point of P-256.
    package init(spki: [UInt8]) throws(PublicKeyError) {
        do throws(OpenSSLError) {
            let key = try EVPKey.publicKey(spki)
            guard unsafe EVPKey.isOnP256(key.pointer) else { throw OpenSSLError(operation: Self.reading, reasons: []) }
            verifiers = try unsafe EVPKey.contexts(key.pointer, preparedBy: EVP_PKEY_verify_init)
        } catch {
            throw .notP256(error)
        }
        self.spki = spki
        spkiSHA256 = SHA256.digest(of: spki)
    }

    /// The point without compression, as ANSI X9.63 writes it: 65 bytes.
    var point: [UInt8] { Array(spki.suffix(65)) }

    /// The key in a PEM block “PUBLIC KEY”, with a line end after each line, for tools and people.
    package var pem: String {
        let text = String(decoding: Base64.encode(spki), as: UTF8.self)
        var lines = ["-----BEGIN PUBLIC KEY-----"]
        var rest = text[...]
        while !rest.isEmpty {
            lines.append(String(rest.prefix(64)))
            rest = rest.dropFirst(64)
        }
        return (lines + ["-----END PUBLIC KEY-----", ""]).joined(separator: "\n")
    }

    /// Whether the signature over the digest was made with this key's private half.
    ///
    /// Any thread may ask.
    package func verifies(_ signature: ECDSASignature, of digest: SHA256Digest) -> Bool {
        let der = signature.der
        let answer = unsafe verifiers.withContext { context in
            unsafe digest.withBytes { digest in
                let digest = unsafe digest.bindMemory(to: UInt8.self)
                // A context stays good after a signature that does not verify.
                return unsafe Int?.some(
                    Int(EVP_PKEY_verify(context, der, der.count, digest.baseAddress, digest.count))
                )
            }
        }
        if answer != 1 { OpenSSLError.forget() }
        return answer == 1
    }

    private static let reading = "read the public key"
}

extension PublicKey: Hashable {
    /// By the SubjectPublicKeyInfo.
    package static func == (a: PublicKey, b: PublicKey) -> Bool { a.spki == b.spki }

    /// By the digest of the SubjectPublicKeyInfo.
    package func hash(into hasher: inout Hasher) { hasher.combine(spkiSHA256) }
}

/// Why bytes are not taken as a public key.
package enum PublicKeyError: Error, Hashable, Sendable, CustomStringConvertible {
    case notP256(OpenSSLError)

    /// What was expected, with OpenSSL's reason.
    package var description: String {
        switch self {
        case .notP256(let error): "This is not a public key on P-256 in SubjectPublicKeyInfo form. \(error)"
        }
    }
}
