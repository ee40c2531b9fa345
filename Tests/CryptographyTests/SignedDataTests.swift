// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import TestSupport
import Testing

struct SignedDataTests {
    @Test
    func `believes data that leads to the root`() throws {
        let authority = try TestAuthority()
        let chain = try authority.chain()
        let jws = TestJWS(chain: chain, key: authority.leafKey)
        let verifier = SignedDataVerifier(anchors: try authority.anchors())
        let verified = try verifier.verify(jws.bytes(), at: testInstant)
        #expect(verified.payload == jws.payload)
        #expect(verified.chain.leaf.der == chain[0])
        #expect(verified.chain.intermediate.der == chain[1])
        #expect(verifier.statistics == SignedDataStatistics(hits: 0, misses: 1, rememberedChains: 1))
    }

    @Test
    func `believes a chain that openssl made, with the curves of the real one`() throws {
        let directory = try TemporaryDirectory()
        let chain = try OpenSSLChain(in: directory)
        let key = try TestKey.existing(chain.leafKey)
        let verifier = SignedDataVerifier(anchors: try TrustAnchors([Certificate(der: chain.certificates[2])]))
        let jws = TestJWS(chain: chain.certificates, key: key)
        let now = Int64(Date().timeIntervalSince1970)
        #expect(try verifier.verify(jws.bytes(), at: now).payload == jws.payload)
    }

    /// What may differ from the plain case without harm.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let make: @Sendable (inout TestAuthority, inout TestJWS) throws -> Void
    }

    static let harmless = [
        Row(testDescription: "unknown members") { _, jws in
            jws.header += [("kid", #""2X9R4HXF34""#), ("typ", #""JWT""#), ("later", #"{"a":[1,{"b":null}]}"#)]
        },
        Row(testDescription: "another certificate with the root's key in x5c[2]") { authority, jws in
            var other = authority.root
            other.serial = [9, 9]
            other.notAfter += 1
            let last = try other.der(signedBy: authority.rootKey.sign)
            jws.set("x5c", TestJWS.array(try [authority.leafDER(), authority.intermediateDER(), last]))
        },
        Row(testDescription: "a stranger's root in x5c[2]") { authority, jws in
            let stranger = try TestAuthority()
            let last = try stranger.rootDER()
            jws.set("x5c", TestJWS.array(try [authority.leafDER(), authority.intermediateDER(), last]))
        },
        Row(testDescription: "a byte after the root in x5c[2]") { authority, jws in
            let chain = try authority.chain()
            jws.set("x5c", TestJWS.array([chain[0], chain[1], chain[2] + [0]]))
        },
        Row(testDescription: "no certificate in x5c[2]") { authority, jws in
            let chain = try authority.chain()
            jws.set("x5c", TestJWS.array([chain[0], chain[1], [0x30, 0x00]]))
        },
        Row(testDescription: "slashes that JSON escapes") { _, jws in
            let index = jws.header.count - 1
            jws.header[index].value = jws.header[index].value.replacingOccurrences(of: "/", with: "\\/")
        },
        Row(testDescription: "a payload that is not JSON") { _, jws in jws.payload = [0xFF, 0x00] },
        Row(testDescription: "a leaf that says nothing of constraints and usage") { authority, jws in
            authority.leaf.extensions = [DER.marker(TestAuthority.leafMarker)]
            jws.set("x5c", TestJWS.array(try authority.chain()))
        },
    ]

    @Test(arguments: harmless)
    func `believes what differs without harm`(row: Row) throws {
        var authority = try TestAuthority()
        let anchors = try authority.anchors()
        var jws = TestJWS(chain: try authority.chain(), key: authority.leafKey)
        try row.make(&authority, &jws)
        let verifier = SignedDataVerifier(anchors: anchors)
        let text = try jws.bytes()
        for _ in 0..<2 { #expect(try verifier.verify(text, at: testInstant).payload == jws.payload) }
        #expect(verifier.statistics.hits == 1)
    }

    @Test
    func `accepts a larger one if the caller allows it`() throws {
        let authority = try TestAuthority()
        var jws = TestJWS(chain: try authority.chain(), key: authority.leafKey)
        jws.payload = [UInt8](repeating: 0x20, count: 20_000)
        let text = try jws.bytes()
        let verifier = SignedDataVerifier(anchors: try authority.anchors())
        #expect(throws: SignedDataError.tooLarge(limit: 16_384)) { try verifier.verify(text, at: testInstant) }
        #expect(throws: SignedDataError.tooLarge(limit: text.count - 1)) {
            try verifier.verify(text, at: testInstant, maximumBytes: text.count - 1)
        }
        #expect(try verifier.verify(text, at: testInstant, maximumBytes: text.count).payload == jws.payload)
    }

    @Test
    func `says each reason in a sentence and a label of its own`() {
        let errors = WrongSignedData.rows.map(\.error) + WrongChain.rows.map(\.error)
        for error in errors {
            #expect(error.description.hasSuffix("."))
            #expect(error.description.utf8.count < 300)
            #expect(error.label.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "-") })
        }
        let sentences = Dictionary(grouping: Set(errors), by: \.label).mapValues { errors in
            Set(errors.map { withoutParticulars($0.description) })
        }
        for (label, sentences) in sentences { #expect(sentences.count == 1, "\(label) labels several reasons") }
        #expect(Set(sentences.values.joined()).count == sentences.count, "a reason has several labels")
    }

    /// A sentence without the words by which it differs from one certificate or limit to another.
    private func withoutParticulars(_ sentence: String) -> String {
        let words = sentence.split(separator: " ").filter { !["leaf", "intermediate", "root"].contains($0) }
        return words.joined(separator: " ").filter { !$0.isNumber }
    }
}
