// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import TestSupport
import Testing

struct PrivateKeyTests {
    @Test(arguments: BadKeyRow.all)
    func `refuses a bad key, and says why`(row: BadKeyRow) throws {
        let text = try row.make(KeyTool.makeKey())
        let error = try #require(throws: PrivateKeyError.self) {
            _ = try privateKey(text, passphrase: row.passphrase)
        }
        #expect(error.description.hasPrefix(row.sentence), "\(error.description)")
        #expect(error.description.hasSuffix("."))
    }

    @Test
    func `says nothing of the key in any refusal`() throws {
        let good = try KeyTool.makeKey()
        let base64 = String(decoding: good, as: UTF8.self).split(separator: "\n")[1]
        for row in BadKeyRow.texts {
            let text = try row.make(good)
            let error = #expect(throws: PrivateKeyError.self) { _ = try privateKey(text) }
            #expect(error.map { !"\($0) \(String(reflecting: $0))".contains(base64.prefix(8)) } == true)
        }
    }

    struct GoodKeyRow: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var passphrase: String?
        let make: @Sendable (_ good: [UInt8]) throws -> [UInt8]
    }

    static let goodKeys = [
        GoodKeyRow(testDescription: "as made") { $0 },
        GoodKeyRow(testDescription: "CR LF") { $0.flatMap { $0 == 10 ? [13, 10] : [$0] } },
        GoodKeyRow(testDescription: "no last line end") { $0.dropLast() + [] },
        GoodKeyRow(testDescription: "empty lines after") { $0 + [13, 10, 10] },
        GoodKeyRow(testDescription: "Base64 in one line") { good in
            let lines = String(decoding: good, as: UTF8.self).split(separator: "\n")
            return Array("\(lines[0])\n\(lines[1...3].joined())\n\(lines[4])\n".utf8)
        },
        GoodKeyRow(testDescription: "a line end before") { [13, 10, 10] + $0 },
        GoodKeyRow(testDescription: "CR alone") { $0.map { $0 == 10 ? 13 : $0 } },
        GoodKeyRow(testDescription: "spaces for line ends") { $0.map { $0 == 10 ? 32 : $0 } },
        GoodKeyRow(testDescription: "no line ends") { $0.filter { $0 != 10 } },
        GoodKeyRow(testDescription: "blanks at line ends") { $0.flatMap { $0 == 10 ? [32, 9, 10] : [$0] } },
        GoodKeyRow(testDescription: "a space in the Base64") { $0.prefix(60) + [0x20] + $0.dropFirst(60) },
        GoodKeyRow(testDescription: "without the public key") { good in
            KeyDER.pem(KeyDER.pkcs8(scalar: try KeyDER.numbers(in: good).scalar))
        },
        GoodKeyRow(testDescription: "AES-256-CBC", passphrase: "right") { good in
            try KeyTool.encrypt(good, passphrase: "right", "-v2", "aes-256-cbc")
        },
        GoodKeyRow(testDescription: "scrypt", passphrase: "right\n") { good in
            try KeyTool.openssl("pkcs8", "-topk8", "-scrypt", "-passout", "pass:right", input: good)
        },
    ]

    @Test(arguments: goodKeys)
    func `reads a good key`(row: GoodKeyRow) throws {
        let good = try KeyTool.makeKey()
        let key = try privateKey(row.make(good), passphrase: row.passphrase)
        let spki = try KeyTool.openssl("pkey", "-pubout", "-outform", "DER", input: good)
        #expect(key.publicKey.spki == spki)
        #expect(
            try key.publicKey.pem == String(decoding: KeyTool.openssl("pkey", "-pubout", input: good), as: UTF8.self)
        )
        #expect(try key.publicKey.spkiSHA256.bytes == KeyTool.openssl("dgst", "-sha256", "-binary", input: spki))
    }

    @Test
    func `refuses another key than the one pinned`() throws {
        let text = try secret(KeyTool.makeKey())
        let digest = try PrivateKey(pem: text).publicKey.spkiSHA256
        #expect(try PrivateKey(pem: text, pinnedTo: digest).publicKey.spkiSHA256 == digest)
        let other = SHA256.digest(of: [1])
        #expect(throws: PrivateKeyError.otherKeyThanPinned(found: digest, pinned: other)) {
            _ = try PrivateKey(pem: text, pinnedTo: other)
        }
    }

    @Test
    func `writes a key that it and openssl read again`() throws {
        try startSecureMemory()
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "key.p8")
        let key = try PrivateKey.generate()
        try key.writePKCS8(to: path)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try PrivateKey(pem: SecretFile.read(path: path)).publicKey == key.publicKey)
        #expect(try KeyTool.openssl("pkey", "-in", path, "-pubout", "-outform", "DER") == key.publicKey.spki)
        #expect(throws: PrivateKeyError.file(.exists)) { try key.writePKCS8(to: path) }
    }

    @Test
    func `makes another key each time`() throws {
        try startSecureMemory()
        #expect(try PrivateKey.generate().publicKey != PrivateKey.generate().publicKey)
    }
}
