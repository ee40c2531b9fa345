// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// An Ed25519 private key, held by OpenSSL in locked memory.
///
/// A key that was read can sign and nothing else: only ``create(path:)`` writes one, the moment it is made. Threads may
/// share one: signing only reads the key, and each signature works in a context of its own. When the last reference goes
/// away, the secret is wiped. `@unchecked Sendable`: OpenSSL's key object is only read.
///
/// Source: RFC 8032 section 5.1, RFC 8410.
@safe
package final class Ed25519PrivateKey: @unchecked Sendable {
    /// The public half.
    ///
    /// It holds nothing of the private one, and may outlive it.
    package let publicKey: Ed25519PublicKey

    private let key: Owned

    /// Reads an unencrypted PKCS #8 text, as `openssl genpkey -algorithm ed25519` writes it, and tests it.
    ///
    /// The text must be one PEM block `PRIVATE KEY` and nothing else, and a signature made with the key must verify.
    ///
    /// - Throws: The first thing that is wrong, in an order from the outside of the text to the secret in it.
    package convenience init(pem: SecureBytes) throws(Ed25519PrivateKeyError) {
        let key: Owned
        do throws(PrivateKeyError) {
            let (kind, der) = try PEM.decode(pem)
            guard kind == .privateKey else { throw .passphraseMissing }
            key = try PKCS8.decode(der, as: .ed25519)
        } catch {
            throw Ed25519PrivateKeyError(error)
        }
        try self.init(checking: key)
    }

    /// Makes a new key, and a new file of mode 0600 that holds it as an unencrypted PKCS #8 text in PEM.
    ///
    /// The file must not exist; it is on the disk when this returns, and not there if this throws.
    package static func create(path: String) throws(Ed25519PrivateKeyError) -> Ed25519PrivateKey {
        let made = try generate()
        do throws(PrivateKeyError) {
            try unsafe EVPKey.writePKCS8(made.key.pointer, to: path)
        } catch {
            throw Ed25519PrivateKeyError(error)
        }
        return made
    }

    /// A new key that is written nowhere, and is gone when the last reference to it is.
    package static func generate() throws(Ed25519PrivateKeyError) -> Ed25519PrivateKey {
        guard SecureMemory.isStarted else { throw .secureMemory(.notStarted) }
        let key: Owned
        do throws(OpenSSLError) {
            key = try unsafe Owned(
                shim_EVP_ed25519_gen(),
                freedBy: { unsafe EVP_PKEY_free($0) },
                while: "make a key"
            )
        } catch {
            throw .openSSL(error)
        }
        return try Ed25519PrivateKey(checking: key)
    }

    /// Takes a key over and tests it.
    private init(checking key: consuming Owned) throws(Ed25519PrivateKeyError) {
        publicKey = try unsafe Self.publicKey(of: key.pointer)
        self.key = key
        let message = Array("offer-signer key self-test v1\0".utf8)
        do throws(SigningError) {
            _ = try signature(of: message)
        } catch {
            switch error {
            case .openSSL(let error): throw .openSSL(error)
            case .doesNotVerify: throw .selfTestFailed
            }
        }
    }

    /// Signs a message, and verifies the signature before returning it; 64 bytes, the same each time.
    package func signature(of message: [UInt8]) throws(SigningError) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: Ed25519PublicKey.signatureByteCount)
        var count = signature.count
        do throws(OpenSSLError) {
            let context = try EVPKey.digestContext()
            guard
                unsafe EVP_DigestSignInit(context.pointer, nil, nil, nil, key.pointer) == 1,
                unsafe EVP_DigestSign(context.pointer, &signature, &count, message, message.count) == 1
            else { throw .drain("sign") }
        } catch {
            throw .openSSL(error)
        }
        guard publicKey.verifies(signature, of: message) else { throw .doesNotVerify }
        return signature
    }

    private static func publicKey(of key: OpaquePointer) throws(Ed25519PrivateKeyError) -> Ed25519PublicKey {
        guard unsafe EVP_PKEY_is_a(key, "ED25519") == 1 else { throw .otherAlgorithm(name: "another algorithm") }
        var bytes = [UInt8](repeating: 0, count: Ed25519PublicKey.byteCount)
        var count = bytes.count
        guard unsafe EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1,
            let publicKey = Ed25519PublicKey(bytes: bytes)
        else { throw .openSSL(.drain("derive the public key")) }
        return publicKey
    }
}
