// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import TestSupport
import Testing

struct Ed25519KeyTests {
    private let message = Array("example.com/log\n3\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n".utf8)

    private static func makeKey() throws -> [UInt8] { try KeyTool.openssl("genpkey", "-algorithm", "ED25519") }

    private static func key(_ pem: [UInt8]) throws -> Ed25519PrivateKey { try Ed25519PrivateKey(pem: secret(pem)) }

    @Test
    func `makes signatures that openssl verifies, the same each time`() throws {
        let directory = try TemporaryDirectory()
        let pem = try Self.makeKey()
        let key = try Self.key(pem)
        let signature = try key.signature(of: message)
        #expect(try signature.count == 64 && key.signature(of: message) == signature)
        let files = try [
            directory.write(KeyTool.openssl("pkey", "-pubout", input: pem), to: "public.pem"),
            directory.write(signature, to: "signature"), directory.write(message, to: "message"),
        ]
        let answer = try KeyTool.openssl(
            "pkeyutl",
            "-verify",
            "-rawin",
            "-pubin",
            "-inkey",
            files[0],
            "-sigfile",
            files[1],
            "-in",
            files[2]
        )
        #expect(String(decoding: answer, as: UTF8.self) == "Signature Verified Successfully\n")
        #expect(try key.publicKey.spki == KeyTool.openssl("pkey", "-pubout", "-outform", "DER", input: pem))
    }

    @Test
    func `verifies what openssl signed, and nothing else`() throws {
        let directory = try TemporaryDirectory()
        let pem = try Self.makeKey()
        let publicKey = try #require(try Ed25519PublicKey(bytes: Self.key(pem).publicKey.bytes))
        let files = try [directory.write(pem, to: "key.pem"), directory.write(message, to: "message")]
        let signature = try KeyTool.openssl("pkeyutl", "-sign", "-rawin", "-inkey", files[0], "-in", files[1])
        #expect(publicKey.verifies(signature, of: message))
        #expect(!publicKey.verifies(signature, of: message + [0]))
        for index in signature.indices {
            var tampered = signature
            tampered[index] ^= 1
            #expect(!publicKey.verifies(tampered, of: message))
        }
        for wrong in [[], signature.dropLast() + [], [0] + signature, [UInt8](repeating: 0, count: 64)] {
            #expect(!publicKey.verifies(wrong, of: message))
        }
        #expect(try !Self.key(Self.makeKey()).publicKey.verifies(signature, of: message))
        let noPoint = try #require(Ed25519PublicKey(bytes: [2] + [UInt8](repeating: 0xFF, count: 31)))
        #expect(!noPoint.verifies(signature, of: message))
        #expect(Ed25519PublicKey(bytes: [UInt8](repeating: 1, count: 31)) == nil)
        #expect(Ed25519PublicKey(bytes: [UInt8](repeating: 1, count: 33)) == nil)
    }

    /// RFC 8032 section 7.1, tests 1 and 3: public key, message, signature.
    static let vectors = [
        (
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595b"
                + "be24655141438e7a100b"
        ),
        (
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716e"
                + "d28dc027beceea1ec40a"
        ),
    ]

    @Test(arguments: vectors)
    func `verifies the vectors of the standard`(publicKey: String, message: String, signature: String) throws {
        let key = try #require(Ed25519PublicKey(bytes: Self.bytes(publicKey)))
        #expect(key.verifies(Self.bytes(signature), of: Self.bytes(message)))
        #expect(!key.verifies(Self.bytes(signature), of: Self.bytes(message) + [0]))
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private static let expected = "; an Ed25519 key was expected, as openssl genpkey -algorithm ed25519 makes it."

    static let badKeys =
        BadKeyRow.notOneBlock + [
            BadKeyRow("encrypted", "The key is encrypted; an unencrypted one") {
                try KeyTool.encrypt($0, passphrase: "right", "-v2", "aes-256-cbc")
            },
            BadKeyRow("a public key", "The PEM block is of another kind" + expected) {
                try KeyTool.openssl("pkey", "-pubout", input: $0)
            },
            BadKeyRow("an offer's key", "This is a key for id-ecPublicKey" + expected) { _ in try KeyTool.makeKey() },
            BadKeyRow("an offer's key in SEC 1", "This is a key for another elliptic curve" + expected) { _ in
                try KeyTool.openssl("ec", input: KeyTool.makeKey())
            },
            BadKeyRow("RSA", "This is a key for rsaEncryption" + expected) { _ in try KeyTool.makeRSAKey() },
            BadKeyRow("Ed448", "This is a key for ED448" + expected) { _ in
                try KeyTool.openssl("genpkey", "-algorithm", "ED448")
            },
            BadKeyRow("X25519", "This is a key for X25519" + expected) { _ in
                try KeyTool.openssl("genpkey", "-algorithm", "X25519")
            },
            BadKeyRow("bytes after", "The key is followed by 2 bytes") {
                KeyDER.pem(try KeyDER.contents(of: $0) + [5, 0])
            },
            BadKeyRow("bytes after the secret", "The key is followed by 1 bytes") { good in
                KeyDER.pem(Self.info(KeyDER.element(4, Array(try KeyDER.contents(of: good).suffix(32))) + [7]))
            },
            BadKeyRow("a short secret", "The PKCS #8 text holds no well-formed Ed25519 key") { good in
                KeyDER.pem(Self.info(KeyDER.element(4, Array(try KeyDER.contents(of: good).suffix(31)))))
            },
            BadKeyRow("no secret", "The PKCS #8 text holds no well-formed Ed25519 key") { _ in
                KeyDER.pem(Self.info([]))
            },
            BadKeyRow("zeros", "The PEM block holds no well-formed PKCS #8") { _ in
                KeyDER.pem([UInt8](repeating: 0, count: 48))
            },
        ]

    /// A PrivateKeyInfo of Ed25519 around the bytes in place of its secret.
    private static func info(_ secret: [UInt8]) -> [UInt8] {
        KeyDER.element(0x30, [2, 1, 0], KeyDER.element(0x30, [6, 3, 0x2B, 0x65, 0x70]), KeyDER.element(4, secret))
    }

    @Test(arguments: badKeys)
    func `refuses a bad key, and says why, and nothing of the key`(row: BadKeyRow) throws {
        let good = try Self.makeKey()
        let text = try row.make(good)
        let error = try #require(throws: Ed25519PrivateKeyError.self) { _ = try Self.key(text) }
        #expect(error.description.hasPrefix(row.sentence), "\(error.description)")
        #expect(error.description.hasSuffix("."))
        let line = String(decoding: good.split(separator: 10)[1].suffix(12), as: UTF8.self)
        #expect(!"\(error) \(String(reflecting: error))".contains(line))
    }

    @Test
    func `makes a key and its file, which it and openssl read again`() throws {
        try startSecureMemory()
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "log.key")
        let key = try Ed25519PrivateKey.create(path: path)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try Ed25519PrivateKey(pem: SecretFile.read(path: path)).publicKey == key.publicKey)
        #expect(try KeyTool.openssl("pkey", "-in", path, "-pubout", "-outform", "DER") == key.publicKey.spki)
        #expect(throws: Ed25519PrivateKeyError.file(.exists)) { _ = try Ed25519PrivateKey.create(path: path) }
        #expect(try Ed25519PrivateKey.generate().publicKey != key.publicKey)
    }
}
