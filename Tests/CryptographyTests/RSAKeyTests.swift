// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport
import Testing

struct RSAKeyTests {
    static let pem = try? KeyTool.makeRSAKey()
    private let message = Array("eyJhbGciOiJSUzI1NiJ9.e30".utf8)

    private static func good() throws -> [UInt8] { try #require(pem) }

    private static func key(_ pem: [UInt8]) throws -> RSAPrivateKey { try RSAPrivateKey(pem: secret(pem)) }

    @Test(arguments: [2048, 3072, 4096])
    func `makes signatures that openssl verifies`(bits: Int) throws {
        let directory = try TemporaryDirectory()
        let pem = try bits == 2048 ? Self.good() : KeyTool.makeRSAKey(bits: bits)
        let key = try Self.key(pem)
        let publicKey = try directory.write(KeyTool.openssl("pkey", "-pubout", input: pem), to: "public.pem")
        let signature = try key.signatureRS256(of: message)
        #expect(signature.count == bits / 8)
        #expect(try key.signatureRS256(of: SHA256.digest(of: message)) == signature)
        let file = try directory.write(signature, to: "signature")
        let answer = try KeyTool.openssl("dgst", "-sha256", "-verify", publicKey, "-signature", file, input: message)
        #expect(String(decoding: answer, as: UTF8.self) == "Verified OK\n")
        #expect(try key.publicKey.spki == KeyTool.openssl("pkey", "-pubout", "-outform", "DER", input: pem))
    }

    @Test
    func `verifies what openssl signed, from the numbers of a JWK, and nothing else`() throws {
        let directory = try TemporaryDirectory()
        let pem = try Self.good()
        let der = try KeyDER.contents(of: pem)
        let numbers = KeyDER.rsaNumbers(in: der)
        let publicKey = try RSAPublicKey(
            modulus: Array(der[numbers[1]].drop { $0 == 0 }),
            exponent: Array(der[numbers[2]])
        )
        #expect(try publicKey == Self.key(pem).publicKey)
        let file = try directory.write(pem, to: "key.pem")
        let signature = try KeyTool.openssl("dgst", "-sha256", "-sign", file, input: message)
        #expect(publicKey.verifiesRS256(signature, of: message))
        #expect(!publicKey.verifiesRS256(signature, of: message + [0]))
        for index in [0, 100, 255] {
            var tampered = signature
            tampered[index] ^= 1
            #expect(!publicKey.verifiesRS256(tampered, of: message))
        }
        for wrong in [
            [], signature.dropLast() + [], [0] + signature, signature + [0], [UInt8](repeating: 0, count: 256),
        ] {
            #expect(!publicKey.verifiesRS256(wrong, of: message))
        }
        let pss = try KeyTool.openssl(
            "dgst",
            "-sha256",
            "-sign",
            file,
            "-sigopt",
            "rsa_padding_mode:pss",
            input: message
        )
        #expect(!publicKey.verifiesRS256(pss, of: message))
        let sha1 = try KeyTool.openssl("dgst", "-sha1", "-sign", file, input: message)
        #expect(!publicKey.verifiesRS256(sha1, of: message))
        #expect(try !Self.key(KeyTool.makeRSAKey()).publicKey.verifiesRS256(signature, of: message))
        #expect(publicKey.verifiesRS256(signature, of: message))
    }

    /// The key with one bit of one of its numbers changed.
    private static func changed(_ number: Int) -> @Sendable ([UInt8]) throws -> [UInt8] {
        { good in
            var der = try KeyDER.contents(of: good)
            der[KeyDER.rsaNumbers(in: der)[number].upperBound - 2] ^= 4
            return KeyDER.pem(der)
        }
    }

    static let badKeys =
        BadKeyRow.notOneBlock + [
            BadKeyRow("PKCS #1", "The key is in PKCS #1 form") {
                try KeyTool.openssl("rsa", "-traditional", input: $0)
            },
            BadKeyRow("encrypted", "The key is encrypted") {
                try KeyTool.encrypt($0, passphrase: "right", "-v2", "aes-256-cbc")
            },
            BadKeyRow("a public key", "The PEM block is of another kind") {
                try KeyTool.openssl("pkey", "-pubout", input: $0)
            },
            BadKeyRow("an EC key", "This is a key for id-ecPublicKey; an RSA key was expected") { _ in
                try KeyTool.makeKey()
            },
            BadKeyRow("an EC key in SEC 1", "This is a key for an elliptic curve") { _ in
                try KeyTool.openssl("ec", input: KeyTool.makeKey())
            },
            BadKeyRow("Ed25519", "This is a key for ED25519") { _ in
                try KeyTool.openssl("genpkey", "-algorithm", "ED25519")
            },
            BadKeyRow("RSA for PSS only", "This is a key for RSASSA-PSS") { _ in
                try KeyTool.openssl("genpkey", "-quiet", "-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048")
            },
            BadKeyRow("1024 bits", "The RSA key has 1024 bits; 2048 to 8192") { _ in try KeyTool.makeRSAKey(bits: 1024)
            },
            BadKeyRow("2047 bits", "The RSA key has 2047 bits") { _ in try KeyTool.makeRSAKey(bits: 2047) },
            BadKeyRow("bytes after", "The key is followed by 2 bytes") {
                KeyDER.pem(try KeyDER.contents(of: $0) + [5, 0])
            },
            BadKeyRow("zeros", "The PEM block holds no well-formed PKCS #8") { _ in
                KeyDER.pem([UInt8](repeating: 0, count: 1200))
            },
            BadKeyRow("no key inside", "The PKCS #8 text holds no well-formed RSA key") { _ in
                let algorithm: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1, 5, 0]
                return KeyDER.pem(
                    KeyDER.element(0x30, [2, 1, 0], KeyDER.element(0x30, algorithm), KeyDER.element(4, [0x30, 0]))
                )
            },
            BadKeyRow("another modulus", "The numbers of the RSA key do not", changed(1)),
            BadKeyRow("another exponent", "The numbers of the RSA key do not", changed(2)),
            BadKeyRow("another private exponent", "The numbers of the RSA key do not", changed(3)),
            BadKeyRow("another prime", "The numbers of the RSA key do not", changed(4)),
            BadKeyRow("another coefficient", "The numbers of the RSA key do not", changed(8)),
        ]

    @Test(arguments: badKeys)
    func `refuses a bad key, and says why, and nothing of the key`(row: BadKeyRow) throws {
        let good = try Self.good()
        let text = try row.make(good)
        let error = try #require(throws: RSAPrivateKeyError.self) { _ = try Self.key(text) }
        #expect(error.description.hasPrefix(row.sentence), "\(error.description)")
        #expect(error.description.hasSuffix("."))
        let line = String(decoding: good.split(separator: 10)[1].prefix(8), as: UTF8.self)
        #expect(!"\(error) \(String(reflecting: error))".contains(line))
    }

    @Test
    func `takes no public key of unfit numbers`() throws {
        let der = try KeyDER.contents(of: Self.good())
        let modulus = Array(der[KeyDER.rsaNumbers(in: der)[1]].drop { $0 == 0 })
        let exponent: [UInt8] = [1, 0, 1]
        #expect(throws: Never.self) { try RSAPublicKey(modulus: modulus, exponent: exponent) }
        #expect(throws: RSAPublicKeyError.malformed) { try RSAPublicKey(modulus: [], exponent: exponent) }
        #expect(throws: RSAPublicKeyError.malformed) { try RSAPublicKey(modulus: [0] + modulus, exponent: exponent) }
        #expect(throws: RSAPublicKeyError.size(bits: 2040)) {
            try RSAPublicKey(modulus: modulus.dropFirst().map { $0 | 0x80 }, exponent: exponent)
        }
        #expect(throws: RSAPublicKeyError.size(bits: 8200)) {
            try RSAPublicKey(modulus: [UInt8](repeating: 0xFF, count: 1025), exponent: exponent)
        }
        for wrong: [UInt8] in [[], [3], [1, 0], [0, 1, 0, 1], [1, 0, 0], [UInt8](repeating: 1, count: 9)] {
            #expect(throws: RSAPublicKeyError.exponent) { try RSAPublicKey(modulus: modulus, exponent: wrong) }
        }
        #expect(throws: RSAPublicKeyError.self) {
            try RSAPublicKey(modulus: modulus.dropLast() + [modulus[255] & 0xFE], exponent: exponent)
        }
    }
}
