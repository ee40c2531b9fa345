// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import TestSupport
import Testing

struct TrustAnchorTests {
    @Test
    func `carries Apple's root and knows it by its fingerprint`() throws {
        let roots = try TrustAnchors.appleRootCAG3().certificates
        let root = try #require(roots.first)
        #expect(roots.count == 1)
        #expect(
            root.fingerprint.hex.uppercased() == "63343ABFB89A6A03EBB57E9B3F5FA7BE7C4F5C756F3017B3A8C488C3653E9179"
        )
        #expect(root.isAuthority)
        #expect(root.p256Key == nil)
        #expect(root.notBefore == 1_398_881_946)
        #expect(root.notAfter == 2_187_800_346)
        let text = String(
            decoding: try KeyTool.openssl("x509", "-inform", "DER", "-noout", "-text", input: root.der),
            as: UTF8.self
        )
        #expect(text.contains("Subject: CN = Apple Root CA - G3"))
        #expect(text.contains("NIST CURVE: P-384"))
    }

    @Test
    func `reads several roots, each once, with text between them`() throws {
        let (first, second) = (try TestAuthority().rootDER(), try TestAuthority().rootDER())
        let blocks = [first, second, first].map { KeyDER.pem($0, label: "CERTIFICATE") }
        let pem = Array("# ours\r\n".utf8) + blocks[0] + Array("subject=…\n".utf8) + blocks[1] + blocks[2]
        #expect(try TrustAnchors(pem: pem).certificates.map(\.der) == [first, second])
        let union = try TrustAnchors(pem: blocks[0]).union(TrustAnchors(pem: pem))
        #expect(union.certificates.map(\.der) == [first, second])
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let error: TrustAnchorError
        let pem: @Sendable (TestAuthority) throws -> [UInt8]
    }

    static let rows = [
        Row(testDescription: "nothing", error: .empty) { _ in [] },
        Row(testDescription: "no block", error: .empty) { _ in Array("MIIB\n".utf8) },
        Row(testDescription: "a block not ended", error: .malformedPEM) { authority in
            Array(KeyDER.pem(try authority.rootDER(), label: "CERTIFICATE").dropLast(30))
        },
        Row(testDescription: "two begins", error: .malformedPEM) { authority in
            Array("-----BEGIN CERTIFICATE-----\n".utf8) + KeyDER.pem(try authority.rootDER(), label: "CERTIFICATE")
        },
        Row(testDescription: "not Base64", error: .malformedPEM) { _ in
            Array("-----BEGIN CERTIFICATE-----\nM*IB\n-----END CERTIFICATE-----\n".utf8)
        },
        Row(testDescription: "a private key beside it", error: .otherBlock) { authority in
            KeyDER.pem(try authority.rootDER(), label: "CERTIFICATE") + (try KeyTool.makeKey())
        },
        Row(testDescription: "no certificate inside", error: .certificate(.notACertificate)) { _ in
            KeyDER.pem([0x30, 0], label: "CERTIFICATE")
        },
        Row(testDescription: "bytes after it", error: .certificate(.trailingBytes(2))) { authority in
            KeyDER.pem(try authority.rootDER() + [5, 0], label: "CERTIFICATE")
        },
        Row(testDescription: "33 certificates", error: .tooLarge) { authority in
            let block = KeyDER.pem(try authority.rootDER(), label: "CERTIFICATE")
            return (0..<33).flatMap { _ in block }
        },
        Row(testDescription: "64 KiB and a byte", error: .tooLarge) { _ in [UInt8](repeating: 0x20, count: 65_537) },
    ]

    @Test(arguments: rows)
    func `refuses a file with its reason`(row: Row) throws {
        let pem = try row.pem(TestAuthority())
        #expect(throws: row.error) { try TrustAnchors(pem: pem) }
        #expect(row.error.description.hasSuffix("."))
    }

    @Test
    func `takes no intermediate and no impostor for a root`() throws {
        var authority = try TestAuthority()
        let intermediate = try Certificate(der: authority.intermediateDER())
        #expect(throws: TrustAnchorError.notSelfSigned(intermediate.fingerprint)) { try TrustAnchors([intermediate]) }
        // Its own name as the issuer, and another's signature.
        let impostor = try Certificate(der: authority.root.der(signedBy: authority.leafKey.sign))
        #expect(throws: TrustAnchorError.notSelfSigned(impostor.fingerprint)) { try TrustAnchors([impostor]) }
        authority.root.extensions = [DER.basicConstraints(isAuthority: false)]
        let plain = try Certificate(der: authority.rootDER())
        #expect(throws: TrustAnchorError.notAnAuthority(plain.fingerprint)) { try TrustAnchors([plain]) }
    }
}
