// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// PKCS #8 texts in DER, unencrypted and encrypted (RFC 5958, RFC 8018).
///
/// OpenSSL reads the key; what it would let pass is looked at before, so that every refusal can say what was found.
enum PKCS8 {
    /// What a PrivateKeyInfo is to hold a key for.
    enum Algorithm {
        /// EC on the named curve P-256.
        case p256
        /// RSA, and not RSA for PSS alone.
        case rsa
        case ed25519

        /// OpenSSL's number of it.
        fileprivate var number: Int32 {
            switch self {
            case .p256: NID_X9_62_id_ecPublicKey
            case .rsa: NID_rsaEncryption
            case .ed25519: NID_ED25519
            }
        }
    }

    /// Reads a PrivateKeyInfo that holds a key for that algorithm.
    ///
    /// The numbers are not checked yet.
    static func decode(_ der: SecureBytes, as algorithm: Algorithm = .p256) throws(PrivateKeyError) -> Owned {
        try checkLength(der)
        let info = try privateKeyInfo(der)
        try unsafe checkAlgorithm(info.pointer, algorithm)
        try unsafe checkKeyLength(info.pointer)
        return try decodeKey(der, as: algorithm)
    }

    /// Decrypts an EncryptedPrivateKeyInfo into a PrivateKeyInfo.
    ///
    /// OpenSSL is given the passphrase and no way to ask for one, so it can't wait at a terminal.
    static func decrypt(_ der: SecureBytes, passphrase: SecureBytes) throws(PrivateKeyError) -> SecureBytes {
        try checkLength(der)
        let encrypted = try encryptedInfo(der)
        try unsafe checkScheme(encrypted.pointer)
        let info: Owned
        do throws(OpenSSLError) {
            info = try unsafe passphrase.withBytes { passphrase throws(OpenSSLError) in
                let characters = unsafe passphrase.bindMemory(to: CChar.self)
                return try unsafe Owned(
                    PKCS8_decrypt(encrypted.pointer, characters.baseAddress, Int32(withoutLineEnd(passphrase))),
                    freedBy: { unsafe PKCS8_PRIV_KEY_INFO_free($0) },
                    while: "decrypt the key"
                )
            }
        } catch {
            throw .notDecrypted(error)
        }
        return try unsafe encode(info.pointer)
    }

    /// The length of a passphrase without the line end that an editor put after it.
    private static func withoutLineEnd(_ passphrase: UnsafeRawBufferPointer) -> Int {
        var count = passphrase.count
        if count > 0, unsafe passphrase[count - 1] == UInt8(ascii: "\n") { count -= 1 }
        if count > 0, unsafe passphrase[count - 1] == UInt8(ascii: "\r") { count -= 1 }
        return count
    }

    private static func encryptedInfo(_ der: SecureBytes) throws(PrivateKeyError) -> Owned {
        do throws(OpenSSLError) {
            return try unsafe der.withBytes { bytes throws(OpenSSLError) in
                var next = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
                return try unsafe Owned(
                    d2i_X509_SIG(nil, &next, bytes.count),
                    freedBy: { unsafe X509_SIG_free($0) },
                    while: "read the encrypted key"
                )
            }
        } catch {
            throw .malformedPKCS8(error)
        }
    }

    private static func privateKeyInfo(_ der: SecureBytes) throws(PrivateKeyError) -> Owned {
        do throws(OpenSSLError) {
            return try unsafe der.withBytes { bytes throws(OpenSSLError) in
                var next = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
                return try unsafe Owned(
                    d2i_PKCS8_PRIV_KEY_INFO(nil, &next, bytes.count),
                    freedBy: { unsafe PKCS8_PRIV_KEY_INFO_free($0) },
                    while: "read the key"
                )
            }
        } catch {
            throw .malformedPKCS8(error)
        }
    }

    private static func encode(_ info: OpaquePointer) throws(PrivateKeyError) -> SecureBytes {
        let count = unsafe i2d_PKCS8_PRIV_KEY_INFO(info, nil)
        guard count > 0 else { throw .openSSL(.drain("copy the decrypted key")) }
        let der = try SecureBytes.forKey(Int(count))
        unsafe der.withMutableBytes { target in
            var next = unsafe target.bindMemory(to: UInt8.self).baseAddress
            _ = unsafe i2d_PKCS8_PRIV_KEY_INFO(info, &next)
        }
        return der
    }

    /// Refuses what follows the outermost SEQUENCE.
    private static func checkLength(_ der: SecureBytes) throws(PrivateKeyError) {
        let surplus = der.withSpan { der in DERSequence.byteCount(in: der).map { der.count - $0 } }
        if let surplus, surplus > 0 { throw .trailingBytes(count: surplus) }
    }

    /// Refuses what follows the key inside its OCTET STRING, which OpenSSL would skip.
    private static func checkKeyLength(_ info: OpaquePointer) throws(PrivateKeyError) {
        var start: UnsafePointer<UInt8>?
        var count: Int32 = 0
        guard unsafe PKCS8_pkey_get0(nil, &start, &count, nil, info) == 1 else {
            throw .malformedPKCS8(.drain("read the key"))
        }
        let key = unsafe UnsafeBufferPointer(start: start, count: Int(count))
        // An Ed25519 key is an OCTET STRING of 32 bytes in there (RFC 8410 section 7).
        let isOctets = unsafe key.count > 34 && key[0] == 0x04 && key[1] == 32
        guard let byteCount = isOctets ? 34 : unsafe DERSequence.byteCount(in: key.span) else { return }
        if byteCount < key.count { throw .trailingBytes(count: key.count - byteCount) }
    }

    private static func checkScheme(_ encrypted: OpaquePointer) throws(PrivateKeyError) {
        var algorithm: UnsafePointer<X509_ALGOR>?
        unsafe X509_SIG_get0(encrypted, &algorithm, nil)
        let scheme = unsafe AlgorithmIdentifier(algorithm)
        guard scheme.algorithm == NID_pbes2 else { throw .outdatedEncryption(scheme: scheme.algorithmName) }
    }

    private static func checkAlgorithm(
        _ info: OpaquePointer,
        _ expected: Algorithm
    ) throws(PrivateKeyError) {
        var algorithm: UnsafePointer<X509_ALGOR>?
        guard unsafe PKCS8_pkey_get0(nil, nil, nil, &algorithm, info) == 1 else {
            throw .malformedPKCS8(.drain("read the key's algorithm"))
        }
        let found = unsafe AlgorithmIdentifier(algorithm)
        guard found.algorithm == expected.number else { throw .otherAlgorithm(name: found.algorithmName) }
        guard expected == .p256 else { return }
        guard let curve = found.parameter else { throw .explicitCurve }
        guard curve == NID_X9_62_prime256v1 else { throw .otherCurve(name: found.parameterName) }
    }

    /// Lets OpenSSL read the key, as nothing but a PrivateKeyInfo for that algorithm.
    private static func decodeKey(_ der: SecureBytes, as algorithm: Algorithm) throws(PrivateKeyError) -> Owned {
        var key: OpaquePointer?
        // The decoder keeps the place where the key goes from its making to its use, so the place must stay.
        let isRead = unsafe withUnsafeMutablePointer(to: &key) { place in
            unsafe decodeKey(der, as: algorithm, into: place)
        }
        do throws(OpenSSLError) {
            // Owned first: a key that was made must be freed even if something followed it.
            let owned = try unsafe Owned(key, freedBy: { unsafe EVP_PKEY_free($0) }, while: "read the key")
            guard isRead else { throw .drain("read the key") }
            return owned
        } catch {
            throw .malformedKey(error)
        }
    }

    private static func decodeKey(
        _ der: SecureBytes,
        as algorithm: Algorithm,
        into place: UnsafeMutablePointer<OpaquePointer?>
    ) -> Bool {
        let decoder =
            switch algorithm {
            case .p256: unsafe shim_ec_key_decoder(place)
            case .rsa: unsafe shim_rsa_key_decoder(place)
            case .ed25519: unsafe shim_ed25519_key_decoder(place)
            }
        defer { unsafe OSSL_DECODER_CTX_free(decoder) }
        return unsafe der.withBytes { bytes in
            var next = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
            var rest = bytes.count
            return unsafe OSSL_DECODER_from_data(decoder, &next, &rest) == 1 && rest == 0
        }
    }
}

/// An algorithm and its parameter, by OpenSSL's numbers and names.
private struct AlgorithmIdentifier {
    let algorithm: Int32
    let algorithmName: String
    /// Nil unless the parameter is an object identifier.
    let parameter: Int32?
    let parameterName: String

    init(_ identifier: UnsafePointer<X509_ALGOR>?) {
        var object: OpaquePointer?
        var kind: Int32 = V_ASN1_UNDEF
        var value: UnsafeRawPointer?
        unsafe X509_ALGOR_get0(&object, &kind, &value, identifier)
        algorithm = unsafe OBJ_obj2nid(object)
        algorithmName = unsafe Self.name(object)
        let named = unsafe kind == V_ASN1_OBJECT ? value.map { OpaquePointer($0) } : nil
        parameter = unsafe named.map { unsafe OBJ_obj2nid($0) }
        parameterName = unsafe Self.name(named)
    }

    /// OpenSSL's short name of an object identifier, or its numbers with dots.
    private static func name(_ object: OpaquePointer?) -> String {
        guard let object = unsafe object else { return "nothing" }
        let number = unsafe OBJ_obj2nid(object)
        if number != NID_undef, let name = unsafe OBJ_nid2sn(number) { return unsafe String(cString: name) }
        var text = [CChar](repeating: 0, count: 128)
        let count = unsafe OBJ_obj2txt(&text, Int32(text.count), object, 1)
        let characters = text.prefix(max(0, min(Int(count), text.count - 1)))
        return String(decoding: characters.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
