// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// The question whether a certificate has been revoked, for the responder that its issuer names.
///
/// Only bytes: the caller sends them, and decides what to do when no responder answers.
/// Sources: RFC 6960; RFC 5019 for the profile that large responders follow, SHA-1 as the name of a certificate included.
package struct OCSPRequest: Sendable {
    /// The media type of ``der``.
    package static let mediaType = "application/ocsp-request"

    /// What is asked about.
    package let certificate: Certificate
    /// Who issued it.
    package let issuer: Certificate
    /// The request in DER; the body of a POST.
    package let der: [UInt8]

    /// Asks about a certificate that `issuer` issued, as a verified chain shows.
    ///
    /// - Parameters:
    ///   - certificate: What is asked about.
    ///   - issuer: Who issued it.
    ///   - nonce: 1 to 32 unpredictable bytes (RFC 8954); a responder may leave them out of its answer, and responders
    ///     that prepare their answers do.
    /// - Throws: What OpenSSL said; a verified certificate never causes it.
    package init(
        for certificate: Certificate,
        issuer: Certificate,
        nonce: [UInt8]? = nil
    ) throws(OCSPError) {
        self.certificate = certificate
        self.issuer = issuer
        do throws(OpenSSLError) {
            der = try Self.encode(certificate, issuer: issuer, nonce: nonce)
        } catch {
            throw .openSSL(error)
        }
    }

    /// Where to ask: the `http` addresses of responders in the certificate, at most four, in its order.
    ///
    /// They come from a certificate that was verified; the sender must still check that it may call them.
    package var responders: [String] {
        unsafe certificate.body.withX509 { x509 in
            guard let list = unsafe X509_get1_ocsp(x509) else {
                OpenSSLError.forget()
                return []
            }
            defer { unsafe X509_email_free(list) }
            let addresses = unsafe (0..<shim_sk_STRING_num(list)).compactMap { index in
                unsafe shim_sk_STRING_value(list, index).map { unsafe String(cString: $0) }
            }
            return Array(addresses.filter { $0.hasPrefix("http://") }.prefix(4))
        }
    }

    private static let operation = "make an OCSP request"

    private static func encode(
        _ certificate: Certificate,
        issuer: Certificate,
        nonce: [UInt8]?
    ) throws(OpenSSLError) -> [UInt8] {
        let request = try unsafe Owned(
            OCSP_REQUEST_new(),
            freedBy: { unsafe OCSP_REQUEST_free($0) },
            while: operation
        )
        let identifier = try OCSPCertificateID.make(certificate, issuer: issuer, digest: .sha1)
        // The request takes the identifier over, and frees it with itself; so a copy.
        guard
            let copy = unsafe OCSP_CERTID_dup(identifier.pointer),
            unsafe OCSP_request_add0_id(request.pointer, copy) != nil
        else { throw .drain(operation) }
        if let nonce {
            var nonce = nonce
            guard unsafe OCSP_request_add1_nonce(request.pointer, &nonce, Int32(nonce.count)) == 1 else {
                throw .drain(operation)
            }
        }
        return unsafe CertificateBody.encoded { target in unsafe i2d_OCSP_REQUEST(request.pointer, target) }
    }
}

/// OpenSSL's name of a certificate: its number, and digests of its issuer's name and key.
enum OCSPCertificateID {
    /// By what issuers are named; nothing hangs on its strength, as the response is signed.
    enum Digest: CaseIterable {
        case sha1, sha256
    }

    static func make(
        _ certificate: Certificate,
        issuer: Certificate,
        digest: Digest
    ) throws(OpenSSLError) -> Owned {
        let made = unsafe certificate.body.withX509 { certificate in
            unsafe issuer.body.withX509 { issuer in
                switch digest {
                case .sha1: unsafe OCSP_cert_to_id(EVP_sha1(), certificate, issuer)
                case .sha256: unsafe OCSP_cert_to_id(EVP_sha256(), certificate, issuer)
                }
            }
        }
        return try unsafe Owned(made, freedBy: { unsafe OCSP_CERTID_free($0) }, while: "name a certificate")
    }
}
