// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Testing
import TransparencyLog

struct NoteKeyTests {
    /// The example of the specification.
    static let specified = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"

    @Test func `reads the specification's key and writes it again`() throws {
        let key = try NoteVerifierKey(Self.specified)
        #expect(key.name == "example.com/foo" && key.algorithm == .ed25519 && key.keyID == 0x530D_903A)
        #expect(key.description == Self.specified)
        let made = NoteVerifierKey(name: key.name, algorithm: .ed25519, publicKey: key.publicKey)
        #expect(made == key)
        let witness = NoteVerifierKey(name: key.name, algorithm: .cosignature, publicKey: key.publicKey)
        #expect(witness.keyID != key.keyID)
        #expect(try NoteVerifierKey(witness.description) == witness)
    }

    struct BadRow: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let error: NoteKeyError

        init(_ text: String, _ error: NoteKeyError) {
            testDescription = text
            self.error = error
        }
    }

    private static let key = "AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"

    static let bad = [
        BadRow("", .notThreeParts),
        BadRow("example.com/foo", .notThreeParts),
        BadRow("example.com/foo+530d903a", .notThreeParts),
        BadRow("+530d903a+\(key)", .badName),
        BadRow("example.com foo+530d903a+\(key)", .badName),
        BadRow("example.com\u{A0}foo+530d903a+\(key)", .badName),
        BadRow("\(String(repeating: "a", count: 256))+530d903a+\(key)", .badName),
        BadRow("example.com/foo+530D903A+\(key)", .badID),
        BadRow("example.com/foo+30d903a+\(key)", .badID),
        BadRow("example.com/foo+x30d903a+\(key)", .badID),
        BadRow("example.com/foo++30d903a+\(key)", .badID),
        BadRow("example.com/foo+530d903a+", .badBase64),
        BadRow("example.com/foo+530d903a+\(key)=", .badBase64),
        BadRow("example.com/foo+530d903a+\(key)\n", .badBase64),
        BadRow("example.com/foo+530d903a+Bukyeg==", .otherAlgorithm(6)),
        BadRow("example.com/foo+530d903a+Aekyeg==", .badLength(4)),
        BadRow("example.com/foo+530d903b+\(key)", .idMismatch(found: "530d903b", computed: "530d903a")),
        BadRow("example.com/fop+530d903a+\(key)", .idMismatch(found: "530d903a", computed: "7de3800f")),
    ]

    @Test(arguments: bad)
    func `refuses what is no verifier key, and says why`(row: BadRow) {
        #expect(throws: row.error) { try NoteVerifierKey(row.testDescription) }
        #expect(!row.error.description.isEmpty)
    }

    @Test(
        arguments: [
            ("example.com/offer-signer", true), ("a", true), ("A.b_c/d-9", true),
            (String(repeating: "a", count: 128), true), ("", false), (String(repeating: "a", count: 129), false),
            ("a b", false), ("a+b", false), ("a\n", false), ("https://example.com", false), ("é", false),
        ]
    )
    func `takes as a log's name only what cannot be mistaken`(text: String, isTaken: Bool) {
        #expect((LogOrigin(text)?.text == text) == isTaken)
    }
}
