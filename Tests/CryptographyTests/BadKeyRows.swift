// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport
import Testing

/// A text that must not be taken as a key, and the beginning of the sentence that says why.
struct BadKeyRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let sentence: String
    let passphrase: String?
    let make: @Sendable (_ good: [UInt8]) throws -> [UInt8]

    init(
        _ name: String,
        _ sentence: String,
        passphrase: String? = nil,
        _ make: @escaping @Sendable (_ good: [UInt8]) throws -> [UInt8]
    ) {
        testDescription = name
        self.sentence = sentence
        self.passphrase = passphrase
        self.make = make
    }

    static let texts = [
        Self("a NUL at the end", "The text holds a NUL byte") { $0 + [0] },
        Self("a NUL in the block", "The text holds a NUL byte") { $0.prefix(50) + [0] + $0.dropFirst(50) },
        Self("a UTF-8 byte order mark", "The text starts with a byte order mark") { [0xEF, 0xBB, 0xBF] + $0 },
        Self("UTF-16", "The text starts with a byte order mark") { [0xFF, 0xFE] + $0.flatMap { [$0, 0] } },
        Self("DER", "The file is binary DER") { try KeyDER.contents(of: $0) },
        Self("a line end only", "The text holds no line “-----BEGIN …-----”") { _ in [10] },
        Self("Base64 only", "The text holds no line “-----BEGIN …-----”") { $0.dropFirst(28).dropLast(26) + [] },
        Self("text before", "There is text before the PEM block") { Array("# key\n".utf8) + $0 },
        Self("line ends written out", "The line ends are written out as \\n") { good in
            Array(String(decoding: good, as: UTF8.self).split(separator: "\n").joined(separator: "\\n").utf8)
        },
        Self("CR LF written out", "The line ends are written out as \\n") { $0.dropLast() + Array("\\r\\n".utf8) },
        Self("double quotes around", "The text is in quotes") { [0x22] + $0.dropLast() + [0x22] },
        Self("a quote before", "The text is in quotes") { [10, 0x27] + $0 },
        Self("a JSON key file", "The file is JSON") { good in
            let text = String(decoding: good, as: UTF8.self).split(separator: "\n").joined(separator: "\\n")
            return Array(" {\"private_key\": \"\(text)\"}".utf8)
        },
        Self("text after", "There is text after the PEM block") { $0 + Array("# key\n".utf8) },
        Self("text in the END line", "There is text after the PEM block") { $0.dropLast() + [0x20, 0x2D, 10] },
        Self("two keys", "There is a second PEM block") { try $0 + KeyTool.makeKey() },
        Self("the same key twice", "There is a second PEM block") { $0 + $0 },
        Self("a certificate after it", "There is a second PEM block") { try $0 + certificate($0) },
        Self("no END line", "The PEM block has no END line") { $0.dropLast(26) + [] },
        Self("half an END line", "The PEM block has no END line") { $0.dropLast(5) + [] },
        Self("another END line", "The PEM block has no END line") { good in
            replacing("END PRIVATE", with: "END SECRET", in: good)
        },
        Self("half a BEGIN line", "The PEM block has no END line") { $0.prefix(20) + [] },
        Self("a header in the block", "The PEM block is not well-formed Base64") { good in
            good.prefix(28) + Array("Proc-Type: 4,ENCRYPTED\n\n".utf8) + good.dropFirst(28)
        },
        Self("one letter lost", "The PEM block is not well-formed Base64") { $0.prefix(60) + Array($0.dropFirst(61)) },
        Self("an empty block", "The PEM block is not well-formed Base64") { $0.prefix(28) + $0.suffix(26) },
        Self("padding in the middle", "The PEM block is not well-formed Base64") { good in
            good.prefix(60) + Array("====".utf8) + good.dropFirst(60)
        },
    ]

    static let blocks = [
        Self("SEC 1", "The key is in SEC 1 form") { try KeyTool.openssl("ec", input: $0) },
        Self("curve parameters first", "The text starts with curve parameters") { _ in
            try KeyTool.openssl("ecparam", "-name", "prime256v1", "-genkey")
        },
        Self("a traditional RSA key", "The key is an RSA key") { _ in try KeyTool.openssl("genrsa", "-traditional") },
        Self("an OpenSSH key", "The key is in OpenSSH's own form") { _ in
            KeyDER.pem(Array("openssh-key-v1".utf8), label: "OPENSSH PRIVATE KEY")
        },
        Self("a certificate", "The text holds a certificate") { try certificate($0) },
        Self("a public key", "The text holds a public key only") { try KeyTool.openssl("pkey", "-pubout", input: $0) },
        Self("DH parameters", "The PEM block is of a kind that is not used here") { _ in
            KeyDER.pem([0x30, 0], label: "DH PARAMETERS")
        },
    ]

    static let encrypted = [
        Self("encrypted, no passphrase", "The key is encrypted, and no passphrase") { good in
            try KeyTool.encrypt(good, passphrase: "right", "-v2", "aes-256-cbc")
        },
        Self("AES-256, wrong passphrase", "The key cannot be decrypted", passphrase: "wrong") { good in
            try KeyTool.encrypt(good, passphrase: "right", "-v2", "aes-256-cbc")
        },
        Self("scrypt, wrong passphrase", "The key cannot be decrypted", passphrase: "wrong") { good in
            try KeyTool.encrypt(good, passphrase: "right", "-v2", "aes-128-cbc")
        },
        Self("empty passphrase", "The key cannot be decrypted", passphrase: "") { good in
            try KeyTool.encrypt(good, passphrase: "right", "-v2", "aes-256-cbc")
        },
        Self("PBES1", "The key is encrypted with PBE-SHA1-3DES; PBES2", passphrase: "right") { good in
            try KeyTool.encrypt(good, passphrase: "right", "-v1", "PBE-SHA1-3DES")
        },
        Self("a passphrase too many", "A passphrase is configured, but", passphrase: "right") { $0 },
        Self("encrypted, bytes after", "The key is followed by 2 bytes", passphrase: "right") { good in
            let pem = try KeyTool.encrypt(good, passphrase: "right", "-v2", "aes-256-cbc")
            return KeyDER.pem(try KeyDER.contents(of: pem) + [5, 0], label: "ENCRYPTED PRIVATE KEY")
        },
        Self("encrypted, another algorithm", "This is a key for ED25519", passphrase: "right") { _ in
            let key = try KeyTool.openssl("genpkey", "-algorithm", "ED25519")
            return try KeyTool.encrypt(key, passphrase: "right", "-v2", "aes-256-cbc")
        },
        Self("a key said to be encrypted", "The PEM block holds no well-formed PKCS #8", passphrase: "right") { good in
            KeyDER.pem(try KeyDER.contents(of: good), label: "ENCRYPTED PRIVATE KEY")
        },
    ]

    static let contents = [
        Self("bytes after", "The key is followed by 3 bytes") { KeyDER.pem(try KeyDER.contents(of: $0) + [1, 2, 3]) },
        Self("bytes after the inner key", "The key is followed by 1 bytes") { good in
            let (scalar, point) = try KeyDER.numbers(in: good)
            return KeyDER.pem(KeyDER.pkcs8(scalar: scalar, point: point, after: [0]))
        },
        Self("cut off", "The PEM block holds no well-formed PKCS #8") { good in
            KeyDER.pem(try KeyDER.contents(of: good).dropLast(9) + [])
        },
        Self("zeros", "The PEM block holds no well-formed PKCS #8") { _ in
            KeyDER.pem([UInt8](repeating: 0, count: 138))
        },
        Self("RSA", "This is a key for rsaEncryption") { _ in
            try KeyTool.openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
        },
        Self("Ed25519", "This is a key for ED25519") { _ in try KeyTool.openssl("genpkey", "-algorithm", "ED25519") },
        Self("secp256k1", "The key is on the curve secp256k1") { _ in try KeyTool.makeKey(curve: "secp256k1") },
        Self("P-384", "The key is on the curve secp384r1") { _ in try KeyTool.makeKey(curve: "P-384") },
        Self("P-256 outside, secp256k1 inside", "The key is on the curve secp256k1") { good in
            let scalar = try KeyDER.numbers(in: good).scalar
            return KeyDER.pem(KeyDER.pkcs8(scalar: scalar, curveInside: KeyDER.secp256k1))
        },
        Self("P-256 spelt out", "The key spells out a curve of its own") { _ in
            try KeyTool.openssl(
                "genpkey",
                "-algorithm",
                "EC",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-pkeyopt",
                "ec_param_enc:explicit"
            )
        },
        Self("no key inside", "The PKCS #8 text holds no well-formed EC key") { _ in
            KeyDER.pem(
                KeyDER.element(
                    0x30,
                    [2, 1, 0],
                    KeyDER.element(0x30, KeyDER.ecPublicKey, KeyDER.prime256v1),
                    KeyDER.element(4, [5, 0])
                )
            )
        },
        Self("a point off the curve", "The PKCS #8 text holds no well-formed EC key") { good in
            var (scalar, point) = try KeyDER.numbers(in: good)
            point[64] ^= 1
            return KeyDER.pem(KeyDER.pkcs8(scalar: scalar, point: point))
        },
    ]

    static let numbers = [
        Self("scalar 0", "The private number is zero or not below") { good in
            let point = try KeyDER.numbers(in: good).point
            return KeyDER.pem(KeyDER.pkcs8(scalar: [UInt8](repeating: 0, count: 32), point: point))
        },
        Self("scalar 0 without a point", "The private number is zero or not below") { _ in
            KeyDER.pem(KeyDER.pkcs8(scalar: [UInt8](repeating: 0, count: 32)))
        },
        Self("scalar n", "The private number is zero or not below") { good in
            KeyDER.pem(KeyDER.pkcs8(scalar: KeyDER.order, point: try KeyDER.numbers(in: good).point))
        },
        Self("scalar n + 1", "The private number is zero or not below") { _ in
            KeyDER.pem(KeyDER.pkcs8(scalar: KeyDER.order.dropLast() + [0x52]))
        },
        Self("another key's point", "The public key in the file belongs to another private key") { good in
            let point = try KeyDER.numbers(in: KeyTool.makeKey()).point
            return KeyDER.pem(KeyDER.pkcs8(scalar: try KeyDER.numbers(in: good).scalar, point: point))
        },
    ]

    /// What keys that are not for offers are held to first.
    static let notOneBlock = [
        other("nothing") { _ in [] },
        other("garbage") { _ in Array("hunter2".utf8) },
        other("DER") { try KeyDER.contents(of: $0) },
        other("two keys") { $0 + $0 },
        other("text after") { $0 + Array("x".utf8) },
        other("cut off") { $0.dropLast(40) + [] },
        other("a letter lost") { $0.prefix(60) + Array($0.dropFirst(61)) },
    ]

    private static func other(
        _ name: String,
        _ make: @escaping @Sendable (_ good: [UInt8]) throws -> [UInt8]
    ) -> Self {
        Self(name, "The private key is not exactly one whole PEM block", make)
    }

    static let all = texts + blocks + encrypted + contents + numbers

    private static func certificate(_ key: [UInt8]) throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        let file = try directory.write(key, to: "key.pem")
        return try KeyTool.openssl("req", "-x509", "-new", "-key", file, "-subj", "/CN=example", "-days", "1")
    }

    private static func replacing(_ words: String, with others: String, in text: [UInt8]) -> [UInt8] {
        Array(String(decoding: text, as: UTF8.self).split(separator: words).joined(separator: others).utf8)
    }
}
