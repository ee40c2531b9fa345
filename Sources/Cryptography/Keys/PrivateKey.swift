// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A P-256 private key, held by OpenSSL in locked memory.
///
/// Threads may share one: signing only reads the key, and each signature works in a context of its own. When the last
/// reference goes away, the private number is wiped. `@unchecked Sendable`: OpenSSL's key object is only read.
@safe
package final class PrivateKey: @unchecked Sendable {
    /// The public half.
    ///
    /// It holds nothing of the private one, and may outlive it.
    package let publicKey: PublicKey

    private let key: Owned
    private let signers: ContextPool

    /// Reads the PKCS #8 text that App Store Connect hands out as a `.p8` file, or an encrypted one, and tests it.
    ///
    /// The text must be one PEM block `PRIVATE KEY` or `ENCRYPTED PRIVATE KEY` and nothing else. The key must be an EC
    /// key on P-256, its numbers in range and belonging together, and a signature made with it must verify.
    ///
    /// - Parameters:
    ///   - pem: The text, as it was read from the file.
    ///   - passphrase: For an encrypted key, and only for that. A line end after it does not count.
    ///   - pin: The SHA-256 digest of the SubjectPublicKeyInfo that the key must have, if one is known. The App Store
    ///     silently refuses offers that another key signed.
    /// - Throws: The first thing that is wrong, in an order from the outside of the text to the numbers in it.
    package convenience init(
        pem: SecureBytes,
        passphrase: SecureBytes? = nil,
        pinnedTo pin: SHA256Digest? = nil
    ) throws(PrivateKeyError) {
        let (kind, der) = try PEM.decode(pem)
        switch (kind, passphrase) {
        case (.privateKey, nil):
            try self.init(checking: PKCS8.decode(der))
        case (.privateKey, .some):
            throw .passphraseNotNeeded
        case (.encryptedPrivateKey, nil):
            throw .passphraseMissing
        case (.encryptedPrivateKey, .some(let passphrase)):
            try self.init(checking: PKCS8.decode(PKCS8.decrypt(der, passphrase: passphrase)))
        }
        if let pin, publicKey.spkiSHA256 != pin {
            throw .otherKeyThanPinned(found: publicKey.spkiSHA256, pinned: pin)
        }
    }

    /// Takes a key over and tests it.
    init(checking key: consuming Owned) throws(PrivateKeyError) {
        try unsafe Self.check(key.pointer)
        do throws(OpenSSLError) {
            publicKey = try unsafe Self.publicKey(of: key.pointer)
            signers = try unsafe EVPKey.contexts(key.pointer, preparedBy: EVP_PKEY_sign_init)
        } catch {
            throw .openSSL(error)
        }
        self.key = key
        try testSignature()
    }

    /// Signs a SHA-256 digest with ECDSA.
    ///
    /// Signing the same digest again gives another signature (FIPS 186-5 section 6.4; OpenSSL mixes the key and the
    /// digest into the random number, so that a weak generator does not give the key away).
    package func signature(of digest: SHA256Digest) throws(SigningError) -> ECDSASignature {
        let der = unsafe signers.withContext { context in
            unsafe digest.withBytes { digest in
                let digest = unsafe digest.bindMemory(to: UInt8.self)
                var isSigned = false
                let der = [UInt8](capacity: ECDSASignature.maximumDERByteCount) { target in
                    unsafe target.withUnsafeMutableBufferPointer { target, count in
                        var length = target.count
                        isSigned =
                            unsafe EVP_PKEY_sign(
                                context,
                                target.baseAddress,
                                &length,
                                digest.baseAddress,
                                digest.count
                            ) == 1
                        if isSigned { count = length }
                    }
                }
                return isSigned ? der : nil
            }
        }
        guard let der else { throw .openSSL(.drain("sign")) }
        return ECDSASignature(trusted: der)
    }

    /// Signs, and verifies the signature before returning it.
    ///
    /// A signature that a fault of memory or processor corrupts is useless, and may reveal the key. Takes about four
    /// times as long as ``signature(of:)``.
    package func verifiedSignature(of digest: SHA256Digest) throws(SigningError) -> ECDSASignature {
        let signature = try signature(of: digest)
        guard publicKey.verifies(signature, of: digest) else { throw .doesNotVerify }
        return signature
    }

    /// Passes the key to OpenSSL's writer.
    func withKey<Result, Failure>(
        _ body: (OpaquePointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(key.pointer)
    }
}

/// Why there is no signature.
package enum SigningError: Error, Hashable, Sendable, CustomStringConvertible {
    case openSSL(OpenSSLError)
    case doesNotVerify

    /// OpenSSL's reason, or that the signature was discarded.
    package var description: String {
        switch self {
        case .openSSL(let error): error.description
        case .doesNotVerify: "The signature just made does not verify, so it was discarded."
        }
    }
}
