// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferService
import TestSupport
import Testing
import TransparencyLog

struct CheckpointTests {
    private static let empty = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    @Test(arguments: ["0", "1", "70000", "9223372036854775807"])
    func `reads a checkpoint and gives it back byte for byte`(size: String) throws {
        let text = Array("example.com/log\n\(size)\n\(Self.empty)\n".utf8)
        let checkpoint = try Checkpoint(parsing: text)
        #expect(checkpoint.text == text)
        #expect(checkpoint.size == Int64(size) && checkpoint.rootHash == SHA256.digest(of: []))
    }

    struct BadRow: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let text: String
        let error: CheckpointError

        init(_ name: String, _ text: String, _ error: CheckpointError) {
            testDescription = name
            self.text = text
            self.error = error
        }
    }

    static let bad = [
        BadRow("nothing", "", .notThreeLines),
        BadRow("two lines", "a\n3\n", .notThreeLines),
        BadRow("a line more", "a\n3\n\(empty)\nmore\n", .notThreeLines),
        BadRow("an empty line more", "a\n3\n\(empty)\n\n", .notThreeLines),
        BadRow("no line feed at the end", "a\n3\n\(empty)", .notThreeLines),
        BadRow("no origin", "\n3\n\(empty)\n", .badOrigin),
        BadRow("an origin with a space", "a b\n3\n\(empty)\n", .badOrigin),
        BadRow("an origin with a plus", "a+b\n3\n\(empty)\n", .badOrigin),
        BadRow("no size", "a\n\n\(empty)\n", .badSize),
        BadRow("a zero in front", "a\n03\n\(empty)\n", .badSize),
        BadRow("two zeros", "a\n00\n\(empty)\n", .badSize),
        BadRow("a sign", "a\n+3\n\(empty)\n", .badSize),
        BadRow("a negative size", "a\n-3\n\(empty)\n", .badSize),
        BadRow("a space before the size", "a\n 3\n\(empty)\n", .badSize),
        BadRow("hexadecimal", "a\n0x3\n\(empty)\n", .badSize),
        BadRow("too large a size", "a\n9223372036854775808\n\(empty)\n", .badSize),
        BadRow("Arabic digits", "a\n٣\n\(empty)\n", .badSize),
        BadRow("no hash", "a\n3\n\n", .badRootHash),
        BadRow("a hash of 31 bytes", "a\n3\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuA==\n", .badRootHash),
        BadRow("unused bits", "a\n3\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=\n", .badRootHash),
        BadRow("a hash for URLs", "a\n3\n\(empty.replacing("+", with: "-"))\n", .badRootHash),
    ]

    @Test(arguments: bad)
    func `refuses what is no checkpoint, and says why`(row: BadRow) {
        #expect(throws: row.error) { try Checkpoint(parsing: Array(row.text.utf8)) }
        #expect(row.error.description.hasSuffix("."))
    }

    @Test func `is verified by openssl and sha256 alone, as the documentation shows it`() throws {
        let key = try makeLogKey()
        let log = NaiveLog(5)
        let head = try #require(log.newest)
        let note = try SignedCheckpoint(head, signedBy: key, at: SettableClock().now).note
        let directory = try TemporaryDirectory()
        let text = try directory.write(note.text, to: "text")
        let signature = try directory.write(note.signatures[0].bytes, to: "signature")
        let publicKey = try directory.write(key.verifierKey.publicKey.spki, to: "key.der")
        let answer = try KeyTool.openssl(
            "pkeyutl",
            "-verify",
            "-rawin",
            "-pubin",
            "-keyform",
            "DER",
            "-inkey",
            publicKey,
            "-sigfile",
            signature,
            "-in",
            text
        )
        #expect(String(decoding: answer, as: UTF8.self) == "Signature Verified Successfully\n")
        let id = try KeyTool.openssl(
            "dgst",
            "-sha256",
            "-binary",
            input: Array("example.com/log\n\u{1}".utf8) + key.verifierKey.publicKey.bytes
        )
        #expect(id.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } == note.signatures[0].keyID)
    }
}
