// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import OfferService
import Testing
import TransparencyLog

struct SignedNoteTests {
    static let good = "example.com/log\n3\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n— example.com/log AAAAAGFi\n"

    struct BadRow: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let note: [UInt8]
        let error: NoteError

        init(_ name: String, _ note: String, _ error: NoteError) {
            testDescription = name
            self.note = Array(note.utf8)
            self.error = error
        }

        init(_ name: String, bytes: [UInt8], _ error: NoteError) {
            testDescription = name
            note = bytes
            self.error = error
        }
    }

    private static func lines(_ signatures: String) -> String { "a\n\n\(signatures)" }

    static let bad = [
        BadRow("nothing", "", .noSignatures),
        BadRow("a text alone", "a\n", .noSignatures),
        BadRow("no signature after the empty line", "a\n\n", .noSignatures),
        BadRow("no line feed at the end", lines("— k AAAAAGFi"), .lineNotEnded),
        BadRow("CR", lines("— k AAAAAGFi\r\n"), .controlCharacter(offset: 17)),
        BadRow("NUL in the text", "a\0\n\n— k AAAAAGFi\n", .controlCharacter(offset: 1)),
        BadRow("a tab", "a\tb\n\n— k AAAAAGFi\n", .controlCharacter(offset: 1)),
        BadRow("Latin 1", bytes: [0xE9] + Array("\n\n— k AAAAAGFi\n".utf8), .notUTF8),
        BadRow("a surrogate", bytes: [0xED, 0xA0, 0x80] + Array("\n\n— k AAAAAGFi\n".utf8), .notUTF8),
        BadRow("too long a form", bytes: [0xC0, 0xAF] + Array("\n\n— k AAAAAGFi\n".utf8), .notUTF8),
        BadRow("a hyphen for the dash", lines("- k AAAAAGFi\n"), .malformedSignature(line: 1)),
        BadRow("no dash", lines("k AAAAAGFi\n"), .malformedSignature(line: 1)),
        BadRow("no name", lines("—  AAAAAGFi\n"), .malformedSignature(line: 1)),
        BadRow("a name with a plus", lines("— k+l AAAAAGFi\n"), .malformedSignature(line: 1)),
        BadRow("a name with a wide space", lines("— k\u{3000}l AAAAAGFi\n"), .malformedSignature(line: 1)),
        BadRow("a name with a space", lines("— k l AAAAAGFi\n"), .malformedSignature(line: 1)),
        BadRow("something after the signature", lines("— k AAAAAGFi x\n"), .malformedSignature(line: 1)),
        BadRow("a space at the end", lines("— k AAAAAGFi \n"), .malformedSignature(line: 1)),
        BadRow("only a key id", lines("— k AAAAAA==\n"), .malformedSignature(line: 1)),
        BadRow("no Base64", lines("— k AAAA*GFi\n"), .malformedSignature(line: 1)),
        BadRow("Base64 for URLs", lines("— k AAAAAGF_\n"), .malformedSignature(line: 1)),
        BadRow("padding left out", lines("— k AAAAAGE\n"), .malformedSignature(line: 1)),
        BadRow("unused bits", lines("— k AAAAAGF=\n"), .malformedSignature(line: 1)),
        BadRow("a bad second line", lines("— k AAAAAGFi\nk\n"), .malformedSignature(line: 2)),
        BadRow(
            "too many",
            lines(String(repeating: "— k AAAAAGFi\n", count: 65)),
            .tooManySignatures(limit: 64)
        ),
        BadRow("too much", String(repeating: "a\n", count: 1 << 19) + "\n— k AAAAAGFi\n", .tooLarge(limit: 1 << 20)),
    ]

    @Test(arguments: bad)
    func `refuses what is no note, and says why`(row: BadRow) {
        #expect(throws: row.error) { try SignedNote(parsing: row.note) }
        #expect(row.error.description.hasSuffix("."))
    }

    @Test(
        arguments: [
            good, "a\n\n— k AAAAAGFi\n", "\n\n— k AAAAAGFi\n", "a\n\nb\n\n— k AAAAAGFi\n", "a\n\n\n— k AAAAAGFi\n",
            "— k AAAAAGFi\n\n— k AAAAAGFi\n", "é 日本\n\n— ключ AAAAAGFi\n",
            "a\n\n" + String(repeating: "— k AAAAAGFi\n", count: 64),
        ]
    )
    func `reads a note and gives it back byte for byte`(text: String) throws {
        let note = try SignedNote(parsing: Array(text.utf8))
        #expect(String(decoding: note.bytes, as: UTF8.self) == text)
        #expect(note.text.last == 10 && note.signatures.allSatisfy { $0.keyID == 0 && $0.bytes == [0x61, 0x62] })
    }

    @Test func `believes known keys, passes unknown ones over, and refuses a bad signature of a known one`() throws {
        let (key, other) = (try makeLogKey(), try makeLogKey("example.com/other"))
        let head = TreeHead(size: 3, rootHash: SHA256.digest(of: [1]))
        let note = try SignedCheckpoint(head, signedBy: key, at: SettableClock().now).note
        let stranger = try SignedCheckpoint(head, signedBy: other, at: SettableClock().now).note.signatures[0]
        #expect(try note.verified(by: [key.verifierKey]).map(\.key) == [key.verifierKey])
        #expect(try note.adding(stranger).verified(by: [key.verifierKey]).count == 1)
        #expect(try note.verified(by: [other.verifierKey]).isEmpty)
        #expect(throws: NoteError.notSigned(key: "example.com/other")) { try note.verified(by: other.verifierKey) }
        #expect(note.adding(note.signatures[0]) == note)

        var bytes = note.signatures[0].bytes
        bytes[5] ^= 1
        let forged = NoteSignature(name: key.origin.text, keyID: key.verifierKey.keyID, bytes: bytes)
        for note in [SignedNote(text: note.text, signatures: [forged]), note.adding(forged)] {
            #expect(throws: NoteError.badSignature(key: "example.com/log")) {
                try note.verified(by: key.verifierKey)
            }
        }
        // Under the same name, but of another key: unknown, not bad.
        let renamed = NoteSignature(name: key.origin.text, keyID: other.verifierKey.keyID, bytes: bytes)
        #expect(try note.adding(renamed).verified(by: [key.verifierKey]).count == 1)
        let elsewhere = NoteSignature(name: "example.com/other", keyID: key.verifierKey.keyID, bytes: bytes)
        #expect(try note.adding(elsewhere).verified(by: [key.verifierKey]).count == 1)
    }

    @Test func `refuses the signature when any byte of the text was changed`() throws {
        let key = try makeLogKey()
        let head = TreeHead(size: 70_000, rootHash: SHA256.digest(of: [1]))
        let note = try SignedCheckpoint(head, signedBy: key, at: SettableClock().now).note
        for index in note.text.indices.dropLast() {
            var text = note.text
            text[index] ^= 1
            let changed = SignedNote(text: text, signatures: note.signatures)
            #expect(throws: NoteError.self) { try changed.verified(by: key.verifierKey) }
        }
    }

    @Test func `reads a witness's signature with its time, and demands that the time is signed`() throws {
        let note = try SignedCheckpoint(
            TreeHead(size: 3, rootHash: SHA256.digest(of: [1])),
            signedBy: makeLogKey(),
            at: SettableClock().now
        ).note
        let witness = try TestWitnessKey("witness.example/w")
        let good = try witness.cosignature(of: note.text, at: 1_782_907_200)
        #expect(try note.adding(good).verified(by: witness.verifierKey).seconds == 1_782_907_200)
        for index in [0, 7, 8, 71] {
            var bytes = good.bytes
            bytes[index] ^= 1
            let forged = NoteSignature(name: good.name, keyID: good.keyID, bytes: bytes)
            #expect(throws: NoteError.badSignature(key: "witness.example/w")) {
                try note.adding(forged).verified(by: witness.verifierKey)
            }
        }
        for bytes in [good.bytes.dropLast() + [], good.bytes + [0], Array(good.bytes.dropFirst(8))] {
            let forged = NoteSignature(name: good.name, keyID: good.keyID, bytes: bytes)
            #expect(throws: NoteError.badSignature(key: "witness.example/w")) {
                try note.adding(forged).verified(by: witness.verifierKey)
            }
        }
        let timeless = try witness.cosignature(of: note.text, at: 0)
        #expect(throws: NoteError.self) { try note.adding(timeless).verified(by: witness.verifierKey) }
    }
}

/// A witness's key, made for the test.
struct TestWitnessKey: Sendable {
    let verifierKey: NoteVerifierKey
    private let privateKey: Ed25519PrivateKey

    init(_ name: String) throws {
        try startSecureMemory()
        privateKey = try Ed25519PrivateKey.generate()
        verifierKey = NoteVerifierKey(name: name, algorithm: .cosignature, publicKey: privateKey.publicKey)
    }

    func cosignature(of text: [UInt8], at seconds: Int64) throws -> NoteSignature {
        let message = Array("cosignature/v1\ntime \(seconds)\n".utf8) + text
        let time = (0..<8).map { UInt8(truncatingIfNeeded: seconds >> Int64(56 - 8 * $0)) }
        return NoteSignature(
            name: verifierKey.name,
            keyID: verifierKey.keyID,
            bytes: time + (try privateKey.signature(of: message))
        )
    }
}
