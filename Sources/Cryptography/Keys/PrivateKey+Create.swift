// SPDX-License-Identifier: Apache-2.0
import COpenSSL

extension PrivateKey {
    /// A new key, for what is signed in our own name and for demonstrations; offers need a key made by Apple.
    package static func generate() throws(PrivateKeyError) -> PrivateKey {
        guard SecureMemory.isStarted else { throw .secureMemory(.notStarted) }
        let key: Owned
        do throws(OpenSSLError) {
            key = try unsafe Owned(
                shim_EVP_EC_gen("P-256"),
                freedBy: { unsafe EVP_PKEY_free($0) },
                while: "make a key"
            )
        } catch {
            throw .openSSL(error)
        }
        return try PrivateKey(checking: key)
    }

    /// Writes the key as an unencrypted PKCS #8 text in PEM into a new file of mode 0600.
    ///
    /// The file must not exist; it is on the disk when this returns, and not there if this throws. The text is made in
    /// secure memory.
    package func writePKCS8(to path: String) throws(PrivateKeyError) {
        try unsafe withKey { key throws(PrivateKeyError) in try unsafe EVPKey.writePKCS8(key, to: path) }
    }
}
