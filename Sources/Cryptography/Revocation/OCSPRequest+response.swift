// SPDX-License-Identifier: Apache-2.0
import COpenSSL

extension OCSPRequest {
    /// More than any response needs that has one answer and a certificate or two.
    package static let maximumResponseBytes = 16_384

    /// What a response to this request says of the certificate.
    ///
    /// A response is believed if it is signed by the issuer, or by a responder with the issuer's certificate for
    /// signing OCSP responses (RFC 6960 section 4.2.2.2). It must be neither from the future nor too old.
    ///
    /// - Parameters:
    ///   - response: The response in DER, as the responder sent it.
    ///   - unixSeconds: Now, in seconds since 1970 UTC.
    ///   - freshness: How old an answer may be.
    /// - Returns: What the responder says.
    /// - Throws: Why the response is not believed.
    package func status(
        from response: [UInt8],
        at unixSeconds: Int64,
        freshness: OCSPFreshness = OCSPFreshness()
    ) throws(OCSPError) -> OCSPStatus {
        guard response.count <= Self.maximumResponseBytes else {
            throw .tooLarge(limit: Self.maximumResponseBytes)
        }
        let basic = try OCSPBasicResponse(response)
        try basic.checkNonce(against: der)
        try basic.checkSignature(issuer: issuer, at: unixSeconds)
        let answer = try basic.answer(for: certificate, issuer: issuer)
        let end = try freshness.end(
            thisUpdate: answer.thisUpdate,
            nextUpdate: answer.nextUpdate,
            at: unixSeconds
        )
        switch answer.status {
        case V_OCSP_CERTSTATUS_GOOD: return .good(validUntil: end)
        case V_OCSP_CERTSTATUS_REVOKED: return .revoked(at: answer.revokedAt ?? answer.thisUpdate)
        default: return .unknown(validUntil: end)
        }
    }
}
