// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// OpenSSL's object for a successful response, and what is asked of it.
@safe
struct OCSPBasicResponse: ~Copyable {
    /// One of the answers in a response.
    struct Answer {
        /// OpenSSL's number of it.
        let status: Int32
        let thisUpdate: Int64
        let nextUpdate: Int64?
        let revokedAt: Int64?
    }

    private let basic: Owned

    /// Reads a response in DER; nothing may follow it.
    init(_ der: [UInt8]) throws(OCSPError) {
        let response = try Self.decode(der)
        let status = unsafe OCSP_response_status(response.pointer)
        guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else { throw .unsuccessful(OCSPFailure(status)) }
        guard let basic = unsafe OCSP_response_get1_basic(response.pointer) else {
            OpenSSLError.forget()
            throw .malformed
        }
        self.basic = unsafe Owned(basic, freedBy: { unsafe OCSP_BASICRESP_free($0) })
    }

    /// Checks that the response is to this request, if it says to which it is.
    func checkNonce(against request: [UInt8]) throws(OCSPError) {
        let isOurs = unsafe request.withUnsafeBufferPointer { request in
            var next = request.baseAddress
            guard let request = unsafe d2i_OCSP_REQUEST(nil, &next, request.count) else { return false }
            defer { unsafe OCSP_REQUEST_free(request) }
            // 0 means that the two differ; one of the two, or both, may be missing.
            return unsafe OCSP_check_nonce(request, basic.pointer) != 0
        }
        guard isOurs else {
            OpenSSLError.forget()
            throw .nonceMismatch
        }
    }

    /// Checks that the issuer, or a responder that the issuer appointed, signed the response.
    func checkSignature(issuer: Certificate, at unixSeconds: Int64) throws(OCSPError) {
        let signer = try signer(issuer: issuer)
        if signer != issuer {
            guard signer.body.hasExtendedUsage(XKU_OCSP_SIGN), signer.allows(.digitalSignature) else {
                throw .responderNotDelegated
            }
            do throws(ChainError) {
                let path = CertificatePath(leaf: signer, untrusted: [], trusted: [issuer], endsAnywhere: true)
                _ = try path.found(at: unixSeconds)
            } catch {
                throw .responderNotIssued(error)
            }
        }
        guard isSignedOverStrongDigest else { throw .tooWeak }
        guard try isSigned(by: signer) else { throw .wrongSignature }
    }

    /// What the response says of a certificate.
    func answer(for certificate: Certificate, issuer: Certificate) throws(OCSPError) -> Answer {
        let index = try index(of: certificate, issuer: issuer)
        guard let single = unsafe OCSP_resp_get0(basic.pointer, index) else { throw .malformed }
        var reason: Int32 = -1
        var revokedAt: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var thisUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var nextUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        let status = unsafe OCSP_single_get0_status(single, &reason, &revokedAt, &thisUpdate, &nextUpdate)
        guard let start = try unsafe Self.seconds(thisUpdate) else { throw .malformedTimes }
        return Answer(
            status: status,
            thisUpdate: start,
            nextUpdate: try unsafe Self.seconds(nextUpdate),
            revokedAt: try unsafe Self.seconds(revokedAt)
        )
    }

    private static func decode(_ der: [UInt8]) throws(OCSPError) -> Owned {
        guard !DescribedCurve.mayBe(in: der) else { throw .malformed }
        var consumed = 0
        let made = unsafe der.withUnsafeBufferPointer { der in
            var next = der.baseAddress
            let made = unsafe d2i_OCSP_RESPONSE(nil, &next, der.count)
            if let start = der.baseAddress, let next = unsafe next { consumed = unsafe next - start }
            return unsafe made
        }
        guard let made = unsafe made else {
            OpenSSLError.forget()
            throw .malformed
        }
        let response = unsafe Owned(made, freedBy: { unsafe OCSP_RESPONSE_free($0) })
        guard consumed == der.count else { throw .malformed }
        return response
    }

    /// The certificate of the signer that the response names: the issuer's own, or one in the response.
    private func signer(issuer: Certificate) throws(OCSPError) -> Certificate {
        let own: Owned
        do throws(OpenSSLError) {
            own = try CertificateStack.make([issuer])
        } catch {
            throw .openSSL(error)
        }
        var signer: OpaquePointer?
        guard unsafe OCSP_resp_get0_signer(basic.pointer, &signer, own.pointer) == 1 else {
            OpenSSLError.forget()
            throw .responderUnknown
        }
        let der = unsafe CertificateBody.encoded { target in unsafe i2d_X509(signer, target) }
        if der == issuer.der { return issuer }
        do throws(CertificateError) {
            return try Certificate(der: der)
        } catch {
            throw .malformed
        }
    }

    private var isSignedOverStrongDigest: Bool {
        var algorithm: OpaquePointer?
        unsafe X509_ALGOR_get0(&algorithm, nil, nil, OCSP_resp_get0_tbs_sigalg(basic.pointer))
        var digest: Int32 = 0
        guard unsafe OBJ_find_sigid_algs(OBJ_obj2nid(algorithm), &digest, nil) == 1 else {
            OpenSSLError.forget()
            return false
        }
        return [NID_sha256, NID_sha384, NID_sha512].contains(digest)
    }

    /// Whether the signature is this certificate's; who that is, was looked into before.
    private func isSigned(by signer: Certificate) throws(OCSPError) -> Bool {
        do throws(OpenSSLError) {
            let signers = try CertificateStack.make([signer])
            let flags = UInt(OCSP_NOINTERN | OCSP_TRUSTOTHER)
            let isSigned = unsafe OCSP_basic_verify(basic.pointer, signers.pointer, nil, flags) == 1
            if !isSigned { OpenSSLError.forget() }
            return isSigned
        } catch {
            throw .openSSL(error)
        }
    }

    /// The one answer about the certificate, which may be named by SHA-1 or by SHA-256.
    private func index(of certificate: Certificate, issuer: Certificate) throws(OCSPError) -> Int32 {
        var found: [Int32] = []
        for digest in OCSPCertificateID.Digest.allCases {
            do throws(OpenSSLError) {
                let identifier = try OCSPCertificateID.make(certificate, issuer: issuer, digest: digest)
                var last: Int32 = -1
                while case let next = unsafe OCSP_resp_find(basic.pointer, identifier.pointer, last), next >= 0 {
                    found.append(next)
                    last = next
                }
            } catch {
                throw .openSSL(error)
            }
        }
        guard let first = found.first else { throw .wrongCertificate }
        guard found.count == 1 else { throw .repeatedCertificate }
        return first
    }

    private static func seconds(_ time: UnsafePointer<ASN1_GENERALIZEDTIME>?) throws(OCSPError) -> Int64? {
        guard let time = unsafe time else { return nil }
        var seconds: Int64 = 0
        guard unsafe shim_unix_seconds(time, &seconds) == 1 else {
            OpenSSLError.forget()
            throw .malformedTimes
        }
        return seconds
    }
}
