// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport

/// A leaf, its issuer, and what a responder says of the leaf.
struct TestResponder {
    let authority: TestAuthority
    let request: OCSPRequest
    /// Right, until a test changes it.
    var draft: OCSPDraft
    var key: TestKey
    private let issuer: [UInt8]

    init(_ authority: TestAuthority? = nil, nonce: [UInt8]? = nil) throws {
        let authority = try authority ?? TestAuthority()
        self.authority = authority
        issuer = try authority.intermediateDER()
        request = try OCSPRequest(
            for: Certificate(der: authority.leafDER()),
            issuer: Certificate(der: issuer),
            nonce: nonce
        )
        key = authority.intermediateKey
        draft = OCSPDraft(
            responder: authority.intermediate.subject,
            producedAt: testInstant - 60,
            singles: [
                OCSPDraft.Single(
                    identifier: Self.identifier(in: request),
                    thisUpdate: testInstant - 60,
                    nextUpdate: testInstant + 3_600
                )
            ]
        )
        draft.algorithm = key.algorithm
    }

    /// The CertID in a request; behind the heads of four sequences, all short.
    static func identifier(in request: OCSPRequest) -> [UInt8] {
        Array(request.der[8..<10 + Int(request.der[9])])
    }

    /// The SHA-1 digest of the issuer's key, which is in the CertID after algorithm and name.
    var issuerKeyDigest: [UInt8] {
        let identifier = Self.identifier(in: request)
        return Array(identifier[identifier.count - 23..<identifier.count - 3])
    }

    /// Has a delegate sign, with a certificate that the issuer gave, changed as wanted.
    mutating func delegate(_ change: (inout CertificateDraft) -> Void = { _ in }) throws {
        let delegate = try TestKey.p256()
        var certificate = TestAuthority.draft(
            "Test Responder",
            authority.intermediate.subject,
            delegate,
            [DER.keyUsage(0x80), DER.extendedKeyUsage("1.3.6.1.5.5.7.3.9")]
        )
        change(&certificate)
        draft.certificates = [try certificate.der(signedBy: authority.intermediateKey.sign)]
        draft.responder = OCSPDraft.byName("Test Responder")
        draft.algorithm = delegate.algorithm
        key = delegate
    }

    func response() throws -> [UInt8] { try draft.der(signedBy: key.sign) }
}
