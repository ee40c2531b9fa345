// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// An RSA private key of 2048 to 8192 bits that signs RS256: RSASSA-PKCS1-v1_5 with SHA-256.
///
/// Threads may share one. Locked memory holds the key in DER, and each signature parses it again. OpenSSL keeps copies of the
/// primes in ordinary memory while it has a parsed key, and wipes them after the signature. The service signs once an hour.
///
/// Source: RFC 8017 section 8.2, RFC 7518 section 3.3.
package final class RSAPrivateKey: Sendable {
    /// The public half.
    ///
    /// It holds nothing of the private one, and may outlive it.
    package let publicKey: RSAPublicKey

    private let der: SecureBytes

    /// Reads an unencrypted PKCS #8 text, as Google puts it into the key file of a service account, and tests it.
    ///
    /// The text must be one PEM block `PRIVATE KEY` and nothing else. The numbers must belong together, and a signature
    /// made with them must verify. Takes some tens of milliseconds, most of them for testing that the primes are prime.
    ///
    /// - Throws: The first thing that is wrong, in an order from the outside of the text to the numbers in it.
    package init(pem: SecureBytes) throws(RSAPrivateKeyError) {
        let key: Owned
        do throws(PrivateKeyError) {
            let kind: PEM.Kind
            (kind, der) = try PEM.decode(pem)
            guard kind == .privateKey else { throw .passphraseMissing }
            key = try PKCS8.decode(der, as: .rsa)
        } catch {
            throw RSAPrivateKeyError(error)
        }
        try unsafe Self.check(key.pointer)
        do throws(OpenSSLError) {
            publicKey = try unsafe Self.publicKey(of: key.pointer)
        } catch {
            throw .openSSL(error)
        }
        try testSignature()
    }

    /// Signs a message: as many bytes as the key's modulus has, 256 for a key of 2048 bits.
    ///
    /// The same message gives the same signature. OpenSSL verifies what it computed from the primes before it gives it
    /// away, so that a fault of memory or processor does not give the key away.
    package func signatureRS256(of message: [UInt8]) throws(SigningError) -> [UInt8] {
        try signatureRS256(of: SHA256.digest(of: message))
    }

    /// Signs a message, given its SHA-256 digest.
    package func signatureRS256(of digest: SHA256Digest) throws(SigningError) -> [UInt8] {
        let signers = try signers()
        let byteCount = publicKey.modulusByteCount
        let signature = unsafe signers.withContext { context in
            unsafe digest.withBytes { digest in
                let digest = unsafe digest.bindMemory(to: UInt8.self)
                var isSigned = false
                let signature = unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { target, count in
                    count = target.count
                    isSigned =
                        unsafe EVP_PKEY_sign(context, target.baseAddress, &count, digest.baseAddress, digest.count) == 1
                    if !isSigned { count = 0 }
                }
                return isSigned ? signature : nil
            }
        }
        guard let signature else { throw .openSSL(.drain("sign")) }
        return signature
    }

    /// A pool that goes, and the key's numbers with it, after one signature.
    private func signers() throws(SigningError) -> ContextPool {
        do throws(PrivateKeyError) {
            let key = try PKCS8.decode(der, as: .rsa)
            do throws(OpenSSLError) {
                // The contexts have a reference of their own to it.
                return try unsafe EVPKey.rsaContexts(key.pointer, preparedBy: EVP_PKEY_sign_init)
            } catch {
                throw .openSSL(error)
            }
        } catch {
            throw .openSSL(OpenSSLError(operation: "read the key", reasons: [error.description]))
        }
    }

    /// The sizes of a modulus that are taken, in bits.
    package static let bits = 2048...8192

    private static func check(_ key: OpaquePointer) throws(RSAPrivateKeyError) {
        guard unsafe EVP_PKEY_is_a(key, "RSA") == 1 else { throw .otherAlgorithm(name: "another algorithm") }
        let bits = unsafe Int(EVP_PKEY_get_bits(key))
        guard Self.bits.contains(bits) else { throw .size(bits: bits) }
        guard
            unsafe EVPKey.check(key, EVP_PKEY_public_check),
            unsafe EVPKey.check(key, EVP_PKEY_check)
        else { throw .numbersDoNotMatch }
    }

    private static func publicKey(of key: OpaquePointer) throws(OpenSSLError) -> RSAPublicKey {
        let spki = try unsafe EVPKey.spki(of: key)
        do throws(RSAPublicKeyError) {
            return try RSAPublicKey(spki: spki)
        } catch {
            throw error.openSSLError
        }
    }

    private func testSignature() throws(RSAPrivateKeyError) {
        let message = Array("offer-signer key self-test v1\0".utf8)
        do throws(SigningError) {
            let signature = try signatureRS256(of: message)
            guard publicKey.verifiesRS256(signature, of: message) else { throw .doesNotVerify }
        } catch {
            switch error {
            case .openSSL(let error): throw .openSSL(error)
            case .doesNotVerify: throw .selfTestFailed
            }
        }
    }
}
