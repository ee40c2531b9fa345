// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// OpenSSL's object for a certificate, and what is asked of it often.
///
/// `@unchecked Sendable`: the object is not changed after `init`, which has OpenSSL compute all that it would compute
/// later, and OpenSSL counts references atomically.
@safe
final class CertificateBody: @unchecked Sendable {
    let der: [UInt8]
    let fingerprint: SHA256Digest
    let notBefore: Int64
    let notAfter: Int64
    let isAuthority: Bool
    /// OpenSSL's bits of what the key may be used for; all of them if it does not say.
    let usages: UInt32
    /// The SubjectPublicKeyInfo in DER.
    let spki: [UInt8]
    private let x509: Owned

    init(der: [UInt8]) throws(CertificateError) {
        x509 = try Self.decode(der)
        let flags = unsafe X509_get_extension_flags(x509.pointer)
        // Version 3 is written as 2.
        guard unsafe X509_get_version(x509.pointer) == 2 else { throw .notVersion3 }
        guard flags & UInt32(EXFLAG_INVALID) == 0 else {
            OpenSSLError.forget()
            throw .malformedExtensions
        }
        notBefore = try unsafe Self.seconds(X509_get0_notBefore(x509.pointer))
        notAfter = try unsafe Self.seconds(X509_get0_notAfter(x509.pointer))
        isAuthority = flags & UInt32(EXFLAG_BCONS) != 0 && flags & UInt32(EXFLAG_CA) != 0
        usages = unsafe X509_get_key_usage(x509.pointer)
        spki = unsafe Self.encodedKey(of: x509.pointer)
        fingerprint = SHA256.digest(of: der)
        self.der = der
    }

    /// Passes OpenSSL's object to a call that does not change it.
    func withX509<Result, Failure>(_ body: (OpaquePointer) throws(Failure) -> Result) throws(Failure) -> Result {
        try unsafe body(x509.pointer)
    }

    func hasExtension(_ identifier: ObjectIdentifierText) -> Bool {
        guard let object = unsafe OBJ_txt2obj(identifier.text, 1) else {
            OpenSSLError.forget()
            return false
        }
        defer { unsafe ASN1_OBJECT_free(object) }
        return unsafe X509_get_ext_by_OBJ(x509.pointer, object, -1) >= 0
    }

    func extensionValues(_ identifier: ObjectIdentifierText) -> [[UInt8]] {
        guard let object = unsafe OBJ_txt2obj(identifier.text, 1) else {
            OpenSSLError.forget()
            return []
        }
        defer { unsafe ASN1_OBJECT_free(object) }
        var values: [[UInt8]] = []
        var place: Int32 = -1
        while case let next = unsafe X509_get_ext_by_OBJ(x509.pointer, object, place), next >= 0 {
            place = next
            let value = unsafe X509_EXTENSION_get_data(X509_get_ext(x509.pointer, next))
            let bytes = unsafe UnsafeBufferPointer(
                start: ASN1_STRING_get0_data(value),
                count: Int(ASN1_STRING_length(value))
            )
            values.append(unsafe Array(bytes))
        }
        return values
    }

    /// Whether it says that its key may be used for this, and does so by name.
    func hasExtendedUsage(_ usage: Int32) -> Bool {
        guard unsafe X509_get_extension_flags(x509.pointer) & UInt32(EXFLAG_XKUSAGE) != 0 else { return false }
        return unsafe X509_get_extended_key_usage(x509.pointer) & UInt32(usage) != 0
    }

    /// Whether it is signed with its own key.
    var isSelfSigned: Bool {
        let isSelfSigned = unsafe X509_self_signed(x509.pointer, 1) == 1
        if !isSelfSigned { OpenSSLError.forget() }
        return isSelfSigned
    }

    private static func decode(_ der: [UInt8]) throws(CertificateError) -> Owned {
        guard !DescribedCurve.mayBe(in: der) else { throw .curveNotNamed }
        var consumed = 0
        let made = unsafe der.withUnsafeBufferPointer { der in
            var next = der.baseAddress
            let made = unsafe d2i_X509(nil, &next, der.count)
            if let start = der.baseAddress, let next = unsafe next { consumed = unsafe next - start }
            return unsafe made
        }
        guard let made = unsafe made else {
            OpenSSLError.forget()
            throw .notACertificate
        }
        let owned = unsafe Owned(made, freedBy: { unsafe X509_free($0) })
        guard consumed == der.count else { throw .trailingBytes(der.count - consumed) }
        // OpenSSL reads more than DER, and then one certificate would have several texts and several digests.
        guard unsafe encoded({ target in unsafe i2d_X509(owned.pointer, target) }) == der else { throw .notDER }
        return owned
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) throws(CertificateError) -> Int64 {
        var seconds: Int64 = 0
        guard unsafe shim_unix_seconds(time, &seconds) == 1 else {
            OpenSSLError.forget()
            throw .malformedValidity
        }
        return seconds
    }

    private static func encodedKey(of x509: OpaquePointer) -> [UInt8] {
        unsafe encoded { target in unsafe i2d_X509_PUBKEY(X509_get_X509_PUBKEY(x509), target) }
    }

    /// What one of OpenSSL's `i2d` functions writes; empty if it fails.
    static func encoded(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
        let count = Int(write(nil))
        guard count > 0 else {
            OpenSSLError.forget()
            return []
        }
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { target, written in
            var next = target.baseAddress
            written = max(0, Int(unsafe write(&next)))
        }
    }
}
