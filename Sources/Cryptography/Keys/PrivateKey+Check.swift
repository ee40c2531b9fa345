// SPDX-License-Identifier: Apache-2.0
import CLinux
import COpenSSL

extension PrivateKey {
    /// Refuses what OpenSSL loads without a word: other curves, numbers out of range, halves that do not match.
    static func check(_ key: OpaquePointer) throws(PrivateKeyError) {
        guard unsafe EVP_PKEY_is_a(key, "EC") == 1 else { throw .otherAlgorithm(name: "another algorithm") }
        // The key inside PKCS #8 may name a curve once more, and OpenSSL believes that one.
        guard let curve = unsafe EVPKey.curveName(of: key) else { throw .explicitCurve }
        guard curve == "prime256v1" else { throw .otherCurve(name: curve) }
        guard unsafe EVPKey.check(key, EVP_PKEY_private_check) else { throw .scalarOutOfRange }
        guard unsafe EVPKey.check(key, EVP_PKEY_public_check) else { throw .invalidPublicKey }
        guard
            unsafe EVPKey.check(key, EVP_PKEY_pairwise_check),
            unsafe EVPKey.check(key, EVP_PKEY_check)
        else { throw .publicKeyMismatch }
    }

    /// The public half, in an OpenSSL object of its own.
    static func publicKey(of key: OpaquePointer) throws(OpenSSLError) -> PublicKey {
        let spki = try unsafe EVPKey.spki(of: key)
        do throws(PublicKeyError) {
            return try PublicKey(spki: spki)
        } catch {
            switch error {
            case .notP256(let error): throw error
            }
        }
    }

    /// Signs a random message that can't be a store's, and verifies the signature.
    package func testSignature() throws(PrivateKeyError) {
        var message = Array("offer-signer key self-test v1\0".utf8)
        do throws(RandomError) {
            message += try SystemRandom().bytes(32)
        } catch {
            throw .file(.noRandom(error))
        }
        let digest = SHA256.digest(of: message)
        do throws(SigningError) {
            _ = try verifiedSignature(of: digest)
        } catch {
            switch error {
            case .openSSL(let error): throw .openSSL(error)
            case .doesNotVerify: throw .selfTestFailed
            }
        }
    }
}
