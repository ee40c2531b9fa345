// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// An RSA public key of 2048 to 8192 bits that verifies RS256, which is RSASSA-PKCS1-v1_5 with SHA-256, and PS256.
///
/// Source: RFC 8017 section 8.2, RFC 7518 sections 3.3 and 6.3.1.
package struct RSAPublicKey: Sendable {
    /// The SubjectPublicKeyInfo in DER (RFC 5280 section 4.1.2.7, RFC 8017 appendix A.1): 294 bytes for 2048 bits.
    package let spki: [UInt8]

    /// The SHA-256 digest of ``spki``, by which a key is named in the audit log.
    package let spkiSHA256: SHA256Digest

    /// As many as a signature has.
    package let modulusByteCount: Int

    private let verifiers: ContextPool
    private let pssVerifiers: ContextPool

    /// Makes a key of its numbers, big-endian and without zeros in front, as a JWK has them in `n` and `e`.
    ///
    /// The exponent is odd, from 65537 up, and of at most 8 bytes.
    package init(modulus: [UInt8], exponent: [UInt8]) throws(RSAPublicKeyError) {
        guard let first = modulus.first, first != 0 else { throw .malformed }
        let bits = modulus.count * 8 - first.leadingZeroBitCount
        guard RSAPrivateKey.bits.contains(bits) else { throw .size(bits: bits) }
        guard (3...8).contains(exponent.count), let first = exponent.first, let last = exponent.last, first != 0,
            last & 1 == 1
        else { throw .exponent }
        let key = DERWriter.sequence(DERWriter.integer(modulus) + DERWriter.integer(exponent))
        try self.init(spki: DERWriter.sequence(Self.algorithm + DERWriter.bitString(key)))
    }

    /// Reads a SubjectPublicKeyInfo in DER; nothing may follow it.
    init(spki: [UInt8]) throws(RSAPublicKeyError) {
        let bits: Int
        do throws(OpenSSLError) {
            let key = try EVPKey.publicKey(spki)
            guard unsafe EVP_PKEY_is_a(key.pointer, "RSA") == 1 else {
                throw .init(operation: Self.reading, reasons: [])
            }
            bits = unsafe Int(EVP_PKEY_get_bits(key.pointer))
            modulusByteCount = unsafe Int(EVP_PKEY_get_size(key.pointer))
            guard unsafe EVPKey.check(key.pointer, EVP_PKEY_public_check) else {
                throw .init(operation: Self.reading, reasons: ["the numbers are unfit"])
            }
            verifiers = try unsafe EVPKey.rsaContexts(key.pointer, preparedBy: EVP_PKEY_verify_init)
            pssVerifiers = try unsafe EVPKey.rsaPSSContexts(key.pointer)
        } catch {
            throw .openSSL(error)
        }
        guard RSAPrivateKey.bits.contains(bits) else { throw .size(bits: bits) }
        self.spki = spki
        spkiSHA256 = SHA256.digest(of: spki)
    }

    /// Whether the signature over the message was made with this key's private half.
    ///
    /// Any thread may ask.
    package func verifiesRS256(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        verifiesRS256(signature, of: SHA256.digest(of: message))
    }

    /// Whether the signature over a message of that SHA-256 digest was made with this key's private half.
    package func verifiesRS256(_ signature: [UInt8], of digest: SHA256Digest) -> Bool {
        verifies(signature, of: digest, verifiers)
    }

    /// The same of a signature that is padded as PS256: RSASSA-PSS with SHA-256 and a salt of 32 bytes.
    ///
    /// Source: RFC 8017 section 8.1, RFC 7518 section 3.5.
    package func verifiesPS256(_ signature: [UInt8], of digest: SHA256Digest) -> Bool {
        verifies(signature, of: digest, pssVerifiers)
    }

    private func verifies(_ signature: [UInt8], of digest: SHA256Digest, _ verifiers: ContextPool) -> Bool {
        guard signature.count == modulusByteCount else { return false }
        let answer = unsafe verifiers.withContext { context in
            unsafe digest.withBytes { digest in
                let digest = unsafe digest.bindMemory(to: UInt8.self)
                // A context stays good after a signature that does not verify.
                return unsafe Int?.some(
                    Int(EVP_PKEY_verify(context, signature, signature.count, digest.baseAddress, digest.count))
                )
            }
        }
        if answer != 1 { OpenSSLError.forget() }
        return answer == 1
    }

    private static let reading = "read the public key"

    /// The AlgorithmIdentifier of rsaEncryption with its NULL (RFC 3279 section 2.3.1).
    private static let algorithm: [UInt8] = [
        0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
}

extension RSAPublicKey: Hashable {
    /// By the SubjectPublicKeyInfo.
    package static func == (a: RSAPublicKey, b: RSAPublicKey) -> Bool { a.spki == b.spki }

    /// By the digest of the SubjectPublicKeyInfo.
    package func hash(into hasher: inout Hasher) { hasher.combine(spkiSHA256) }
}

/// Why numbers are not taken as an RSA public key.
package enum RSAPublicKeyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No modulus, or one with zeros in front.
    case malformed
    /// Outside of ``RSAPrivateKey/bits``.
    case size(bits: Int)
    case exponent
    case openSSL(OpenSSLError)

    /// What was found and expected of the numbers.
    package var description: String {
        switch self {
        case .malformed: "The modulus is missing or begins with zero."
        case .size(let bits):
            "The RSA key has \(bits) bits; \(RSAPrivateKey.bits.lowerBound) to \(RSAPrivateKey.bits.upperBound) were expected."
        case .exponent: "The exponent is not an odd number from 65537 up, of at most 8 bytes."
        case .openSSL(let error): "This is not an RSA public key. \(error)"
        }
    }

    /// For those who made the key themselves.
    var openSSLError: OpenSSLError {
        if case .openSSL(let error) = self { return error }
        return OpenSSLError(operation: "derive the public key", reasons: [description])
    }
}
