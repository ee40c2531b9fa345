// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Glibc

/// What private and public keys ask of OpenSSL's key objects.
enum EVPKey {
    /// Whether the key is an EC key on P-256 whose public half is a point of the curve.
    static func isOnP256(_ key: OpaquePointer) -> Bool {
        guard unsafe EVP_PKEY_is_a(key, "EC") == 1, unsafe curveName(of: key) == "prime256v1" else { return false }
        return unsafe check(key, EVP_PKEY_public_check)
    }

    /// OpenSSL's name of the curve; nil if the curve has none.
    static func curveName(of key: OpaquePointer) -> String? {
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return nil }
        return String(decoding: name[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The answer of one of OpenSSL's checks.
    ///
    /// A failed one leaves no trace in the error queue.
    static func check(_ key: OpaquePointer, _ passes: (OpaquePointer) -> Int32) -> Bool {
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else {
            OpenSSLError.forget()
            return false
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        let isPassed = unsafe passes(context) == 1
        if !isPassed { OpenSSLError.forget() }
        return isPassed
    }

    /// Contexts that sign or verify SHA-256 digests with the key.
    static func contexts(
        _ key: OpaquePointer,
        preparedBy prepare: (OpaquePointer) -> Int32
    ) throws(OpenSSLError) -> ContextPool {
        let template = try unsafe Owned(
            EVP_PKEY_CTX_new_from_pkey(nil, key, nil),
            freedBy: { unsafe EVP_PKEY_CTX_free($0) },
            while: "prepare the key"
        )
        guard
            unsafe prepare(template.pointer) == 1,
            unsafe EVP_PKEY_CTX_set_signature_md(template.pointer, SHA256.algorithm) == 1
        else { throw .drain("prepare the key") }
        return unsafe ContextPool(
            template: template,
            duplicatedBy: { unsafe EVP_PKEY_CTX_dup($0) },
            freedBy: { unsafe EVP_PKEY_CTX_free($0) }
        )
    }

    /// Contexts that sign or verify SHA-256 digests with an RSA key, padded as RFC 8017 section 9.2 (PKCS1-v1_5) has it.
    static func rsaContexts(
        _ key: OpaquePointer,
        preparedBy prepare: (OpaquePointer) -> Int32
    ) throws(OpenSSLError) -> ContextPool {
        try unsafe contexts(key) { context in
            guard unsafe prepare(context) == 1 else { return 0 }
            return unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING)
        }
    }

    /// Contexts that verify SHA-256 digests with an RSA key, padded as RFC 8017 section 9.1 (PSS) has it, with SHA-256 in the
    /// mask and a salt as long as the digest (RFC 7518 section 3.5).
    static func rsaPSSContexts(_ key: OpaquePointer) throws(OpenSSLError) -> ContextPool {
        try unsafe contexts(key) { context in
            guard unsafe EVP_PKEY_verify_init(context) == 1,
                unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
            else { return 0 }
            return unsafe EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST)
        }
    }

    /// The SubjectPublicKeyInfo of a key's public half, in DER.
    static func spki(of key: OpaquePointer) throws(OpenSSLError) -> [UInt8] {
        let count = unsafe i2d_PUBKEY(key, nil)
        guard count > 0 else { throw .drain("derive the public key") }
        return unsafe [UInt8](unsafeUninitializedCapacity: Int(count)) { target, written in
            var next = target.baseAddress
            written = unsafe Int(i2d_PUBKEY(key, &next))
        }
    }

    /// Reads a SubjectPublicKeyInfo in DER; nothing may follow it.
    static func publicKey(_ spki: [UInt8]) throws(OpenSSLError) -> Owned {
        let reading = "read the public key"
        var isWhole = false
        let key = unsafe spki.withUnsafeBufferPointer { spki in
            var next = spki.baseAddress
            let key = unsafe d2i_PUBKEY(nil, &next, spki.count)
            isWhole = unsafe spki.baseAddress.map { unsafe next == $0 + spki.count } == true
            return unsafe key
        }
        let owned = try unsafe Owned(key, freedBy: { unsafe EVP_PKEY_free($0) }, while: reading)
        guard isWhole else { throw OpenSSLError(operation: reading, reasons: ["bytes follow the key"]) }
        return owned
    }

    /// A new context for signing or verifying whole messages.
    static func digestContext() throws(OpenSSLError) -> Owned {
        try unsafe Owned(
            EVP_MD_CTX_new(),
            freedBy: { unsafe EVP_MD_CTX_free($0) },
            while: "prepare the key"
        )
    }

    /// Writes a key as an unencrypted PKCS #8 text in PEM into a new file of mode 0600, durably or not at all.
    ///
    /// The text is made in secure memory.
    static func writePKCS8(_ key: OpaquePointer, to path: String) throws(PrivateKeyError) {
        let text: Owned
        do throws(OpenSSLError) {
            text = try unsafe pkcs8Text(of: key)
        } catch {
            throw .openSSL(error)
        }
        var start: UnsafeMutablePointer<CChar>?
        let count = unsafe shim_BIO_get_mem_data(text.pointer, &start)
        do throws(SecretFileError) {
            try unsafe SecretFile.create(path: path, contents: UnsafeRawBufferPointer(start: start, count: count))
        } catch {
            throw .file(error)
        }
    }

    private static func pkcs8Text(of key: OpaquePointer) throws(OpenSSLError) -> Owned {
        let text = try unsafe Owned(
            BIO_new(BIO_s_secmem()),
            freedBy: { unsafe BIO_free_all($0) },
            while: "write the key"
        )
        guard unsafe PEM_write_bio_PKCS8PrivateKey(text.pointer, key, nil, nil, 0, nil, nil) == 1 else {
            throw .drain("write the key")
        }
        return text
    }
}
