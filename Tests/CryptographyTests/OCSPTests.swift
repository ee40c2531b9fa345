// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import TestSupport
import Testing

struct OCSPTests {
    /// A response and what is to be made of it.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let outcome: Result<OCSPStatus, OCSPError>
        let change: @Sendable (inout TestResponder) throws -> Void
        var nonce: [UInt8]?

        init(
            _ testDescription: String,
            _ outcome: Result<OCSPStatus, OCSPError>,
            nonce: [UInt8]? = nil,
            _ change: @escaping @Sendable (inout TestResponder) throws -> Void
        ) {
            self.testDescription = testDescription
            self.outcome = outcome
            self.change = change
            self.nonce = nonce
        }
    }

    private static let end = testInstant + 3_900
    private static let good = OCSPStatus.good(validUntil: end)
    private static let nonce = [UInt8](1...16)

    static let statuses = [
        Row("good", .success(good)) { _ in },
        Row("revoked", .success(.revoked(at: testInstant - 86_400))) {
            $0.draft.singles[0].status = OCSPDraft.revoked(at: testInstant - 86_400)
        },
        Row("unknown", .success(.unknown(validUntil: end))) { $0.draft.singles[0].status = OCSPDraft.unknown },
        Row("by the digest of the issuer's key", .success(good)) { responder in
            responder.draft.responder = OCSPDraft.byKey(digest: responder.issuerKeyDigest)
        },
        Row("by a delegate", .success(good)) { try $0.delegate() },
        Row("named by SHA-256", .success(good)) { responder in
            let (issuer, key) = (responder.authority.intermediate, responder.authority.intermediateKey)
            responder.draft.singles[0].identifier = OCSPDraft.identifier(
                digest: "2.16.840.1.101.3.4.2.1",
                name: SHA256.digest(of: DER.name(issuer.subject)).bytes,
                key: SHA256.digest(of: Array(key.spki[26...])).bytes,
                serial: responder.authority.leaf.serial
            )
        },
        Row("beside another certificate", .success(good)) { responder in
            var other = responder.draft.singles[0]
            other.identifier[other.identifier.count - 1] ^= 1
            other.status = OCSPDraft.revoked(at: testInstant - 10)
            responder.draft.singles.insert(other, at: 0)
        },
        Row("with our nonce", .success(good), nonce: nonce) { $0.draft.extensions = [OCSPDraft.nonce(nonce)] },
        Row("without the nonce that we sent", .success(good), nonce: nonce) { _ in },
        Row("with a nonce that we did not ask for", .success(good)) { $0.draft.extensions = [OCSPDraft.nonce(nonce)] },
    ]

    static let times = [
        Row("at the end of its time", .failure(.stale)) {
            $0.draft.singles[0].thisUpdate = DER.generalizedTime(testInstant - 3_600)
            $0.draft.singles[0].nextUpdate = DER.generalizedTime(testInstant - 300)
        },
        Row("a second before, counting the clocks' difference", .success(.good(validUntil: testInstant + 1))) {
            $0.draft.singles[0].thisUpdate = DER.generalizedTime(testInstant - 3_600)
            $0.draft.singles[0].nextUpdate = DER.generalizedTime(testInstant - 299)
        },
        Row("revoked, but stale", .failure(.stale)) { responder in
            responder.draft.singles[0].status = OCSPDraft.revoked(at: testInstant - 86_400)
            responder.draft.singles[0].thisUpdate = DER.generalizedTime(testInstant - 7_200)
            responder.draft.singles[0].nextUpdate = DER.generalizedTime(testInstant - 3_600)
        },
        Row("from the future", .failure(.notYetValid)) {
            $0.draft.singles[0].thisUpdate = DER.generalizedTime(testInstant + 301)
        },
        Row("from five minutes ahead", .success(good)) {
            $0.draft.singles[0].thisUpdate = DER.generalizedTime(testInstant + 300)
        },
        Row("without an end, an hour old", .success(.good(validUntil: testInstant + 1))) {
            $0.draft.singles[0].thisUpdate = DER.generalizedTime(testInstant - 3_899)
            $0.draft.singles[0].nextUpdate = nil
        },
        Row("without an end, older", .failure(.stale)) {
            $0.draft.singles[0].thisUpdate = DER.generalizedTime(testInstant - 3_900)
            $0.draft.singles[0].nextUpdate = nil
        },
        Row("with an end too far away", .success(.good(validUntil: testInstant - 60 + 604_800 + 300))) {
            $0.draft.singles[0].nextUpdate = DER.generalizedTime(testInstant + 86_400 * 365)
        },
        Row("with an end too far away, and more than a week old", .failure(.stale)) {
            $0.draft.singles[0].thisUpdate = DER.generalizedTime(testInstant - 604_800 - 300)
            $0.draft.singles[0].nextUpdate = DER.generalizedTime(testInstant + 86_400 * 365)
        },
        Row("ended before it began", .failure(.malformedTimes)) {
            $0.draft.singles[0].nextUpdate = DER.generalizedTime(testInstant - 61)
        },
        Row("a time that is none", .failure(.malformedTimes)) {
            $0.draft.singles[0].thisUpdate = KeyDER.element(0x18, Array("20261399000000Z".utf8))
        },
    ]

    static let signers = [
        Row("signed with another key", .failure(.wrongSignature)) { $0.key = try .p256() },
        Row("by an unknown responder", .failure(.responderUnknown)) {
            $0.draft.responder = OCSPDraft.byName("Somebody")
        },
        Row("by a delegate whose certificate is missing", .failure(.responderUnknown)) { responder in
            try responder.delegate()
            responder.draft.certificates = []
        },
        Row("by a delegate for other things", .failure(.responderNotDelegated)) {
            try $0.delegate { $0.extensions[1] = DER.extendedKeyUsage("1.3.6.1.5.5.7.3.1") }
        },
        Row("by a delegate for anything", .failure(.responderNotDelegated)) {
            try $0.delegate { $0.extensions[1] = DER.extendedKeyUsage("2.5.29.37.0") }
        },
        Row("by a certificate that does not say what it is for", .failure(.responderNotDelegated)) {
            try $0.delegate { $0.extensions = [] }
        },
        Row("by a delegate that may not sign data", .failure(.responderNotDelegated)) {
            try $0.delegate { $0.extensions[0] = DER.keyUsage(0x20) }
        },
        Row("by the leaf itself", .failure(.responderNotDelegated)) { responder in
            responder.draft.certificates = [responder.request.certificate.der]
            responder.draft.responder = OCSPDraft.byName(responder.authority.leaf.subject)
            responder.key = responder.authority.leafKey
        },
        Row("by an expired delegate", .failure(.responderNotIssued(.expired(.leaf)))) {
            try $0.delegate { $0.notAfter = testInstant }
        },
        Row("by a delegate not valid yet", .failure(.responderNotIssued(.notYetValid(.leaf)))) {
            try $0.delegate { $0.notBefore = testInstant + 1 }
        },
        Row("by a delegate of another issuer", .failure(.responderNotIssued(.untrustedRoot))) {
            try $0.delegate { $0.issuer = "Test Root CA - G3" }
        },
        Row("by a delegate that appointed itself", .failure(.responderNotIssued(.wrongSignature(.leaf)))) { responder in
            let issuer = responder.authority.intermediateKey
            try responder.delegate()
            let key = try TestKey.p256()
            let draft = TestAuthority.draft(
                "Test Responder",
                responder.authority.intermediate.subject,
                key,
                [DER.keyUsage(0x80), DER.extendedKeyUsage("1.3.6.1.5.5.7.3.9")]
            )
            #expect(issuer.spki != key.spki)
            responder.draft.certificates = [try draft.der(signedBy: key.sign)]
            responder.key = key
        },
        Row("signed over SHA-1", .failure(.tooWeak)) { responder in responder.draft.algorithm = DER.ecdsaWithSHA1 },
    ]

    static let others = [
        Row("about another certificate", .failure(.wrongCertificate)) { responder in
            let last = responder.draft.singles[0].identifier.count - 1
            responder.draft.singles[0].identifier[last] ^= 1
        },
        Row("about one with the same number from another issuer", .failure(.wrongCertificate)) { responder in
            let last = responder.draft.singles[0].identifier.count - 5
            responder.draft.singles[0].identifier[last] ^= 1
        },
        Row("about none", .failure(.wrongCertificate)) { $0.draft.singles = [] },
        Row("good and revoked at once", .failure(.repeatedCertificate)) { responder in
            var other = responder.draft.singles[0]
            other.status = OCSPDraft.revoked(at: testInstant - 10)
            responder.draft.singles.append(other)
        },
        Row("with another nonce", .failure(.nonceMismatch), nonce: nonce) {
            $0.draft.extensions = [OCSPDraft.nonce([UInt8](2...17))]
        },
        Row("malformed request", .failure(.unsuccessful(.malformedRequest))) { $0.draft.code = 1 },
        Row("internal error", .failure(.unsuccessful(.internalError))) { $0.draft.code = 2 },
        Row("try later", .failure(.unsuccessful(.tryLater))) { $0.draft.code = 3 },
        Row("signature required", .failure(.unsuccessful(.signatureRequired))) { $0.draft.code = 5 },
        Row("unauthorized", .failure(.unsuccessful(.unauthorized))) { $0.draft.code = 6 },
        Row("an unknown code", .failure(.unsuccessful(.other))) { $0.draft.code = 99 },
    ]

    @Test(arguments: statuses + times + signers + others)
    func `reads what a responder says`(row: Row) throws {
        var responder = try TestResponder(nonce: row.nonce)
        try row.change(&responder)
        let response = try responder.response()
        let outcome = Result { () throws(OCSPError) in try responder.request.status(from: response, at: testInstant) }
        #expect(outcome == row.outcome)
        if case .failure(let error) = row.outcome { #expect(error.description.hasSuffix(".")) }
    }

    @Test
    func `refuses what is no response`() throws {
        let responder = try TestResponder()
        let response = try responder.response()
        let cut = Array(response.dropLast())
        for text in [[], [0x30], Array("<html>".utf8), response + [0], cut, responder.request.der] {
            #expect(throws: OCSPError.malformed) { try responder.request.status(from: text, at: testInstant) }
        }
        // Successful, and nothing more.
        #expect(throws: OCSPError.malformed) {
            try responder.request.status(from: [0x30, 3, 0x0A, 1, 0], at: testInstant)
        }
        let large = [UInt8](repeating: 0x30, count: 16_385)
        #expect(throws: OCSPError.tooLarge(limit: 16_384)) {
            try responder.request.status(from: large, at: testInstant)
        }
    }

    @Test
    func `believes no response with a changed byte`() throws {
        let responder = try TestResponder()
        let response = try responder.response()
        for index in response.indices {
            var changed = response
            changed[index] ^= 1
            let status = try? responder.request.status(from: changed, at: testInstant)
            #expect(status == nil, "byte \(index)")
        }
    }

    @Test
    func `knows where to ask, over http only`() throws {
        var authority = try TestAuthority()
        #expect(try TestResponder(authority).request.responders == ["http://ocsp.example/leaf"])
        let addresses = ["ldap://a", "http://b/1", "https://c", "file:///d", "http://e/2"]
        authority.leaf.extensions[2] = DER.responders(addresses + (0..<9).map { "http://f/\($0)" })
        #expect(
            try TestResponder(authority).request.responders == ["http://b/1", "http://e/2", "http://f/0", "http://f/1"]
        )
        authority.leaf.extensions.remove(at: 2)
        #expect(try TestResponder(authority).request.responders.isEmpty)
    }

    @Test(arguments: [("V\t391231235959Z\t\t", true), ("R\t391231235959Z\t260101000000Z\t", false)])
    func `understands the openssl command, and is understood`(entry: String, isGood: Bool) throws {
        let directory = try TemporaryDirectory()
        let chain = try OpenSSLChain(in: directory)
        let request = try OCSPRequest(
            for: Certificate(der: chain.certificates[0]),
            issuer: Certificate(der: chain.certificates[1]),
            nonce: [UInt8](1...32)
        )
        let (leaf, issuer) = (directory.path(of: "leaf.pem"), directory.path(of: "intermediate.pem"))
        let serial = String(
            decoding: try KeyTool.openssl("x509", "-noout", "-serial", "-in", leaf).dropFirst(7).dropLast(),
            as: UTF8.self
        )
        let index = try directory.write(Array("\(entry)\(serial)\tunknown\t/CN=leaf\n".utf8), to: "index")
        let question = try directory.write(request.der, to: "request")
        let answer = directory.path(of: "response")
        try KeyTool.openssl(
            "ocsp",
            "-index",
            index,
            "-CA",
            issuer,
            "-rsigner",
            issuer,
            "-rkey",
            directory.path(of: "intermediate.key"),
            "-reqin",
            question,
            "-respout",
            answer,
            "-ndays",
            "1"
        )
        let status = try request.status(
            from: TemporaryDirectory.read(answer),
            at: Int64(Date().timeIntervalSince1970)
        )
        if case .good = status { #expect(isGood) } else { #expect(status == .revoked(at: 1_767_225_600) && !isGood) }
    }
}
