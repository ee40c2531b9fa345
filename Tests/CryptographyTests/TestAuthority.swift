// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport

/// The instant at which the tests take place: 2026-05-05, so that no certificate of theirs ever expires.
let testInstant: Int64 = 1_777_939_200

/// A key and what the tests know of it.
struct TestKey: Sendable {
    let spki: [UInt8]
    let algorithm: [UInt8]
    /// Signs in DER.
    let sign: @Sendable ([UInt8]) throws -> [UInt8]

    /// A key on P-256, in this process.
    static func p256() throws -> TestKey {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        return TestKey(spki: key.publicKey.spki, algorithm: DER.ecdsaWithSHA256) { message in
            try key.signature(of: SHA256.digest(of: message)).der
        }
    }

    /// A key that `openssl` makes from these words, and signs with.
    static func other(
        _ words: [String],
        digest: String = "-sha256",
        algorithm: [UInt8] = DER.ecdsaWithSHA256
    ) throws -> TestKey {
        try existing(KeyTool.run(["genpkey"] + words), digest: digest, algorithm: algorithm)
    }

    /// A key in PEM, with which `openssl` signs.
    static func existing(
        _ pem: [UInt8],
        digest: String = "-sha256",
        algorithm: [UInt8] = DER.ecdsaWithSHA256
    ) throws -> TestKey {
        let spki = try KeyTool.openssl("pkey", "-pubout", "-outform", "DER", input: pem)
        return TestKey(spki: spki, algorithm: algorithm) { message in
            let directory = try TemporaryDirectory()
            return try KeyTool.openssl("dgst", digest, "-sign", directory.write(pem, to: "key"), input: message)
        }
    }

    static func p384() throws -> TestKey {
        try other(
            ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
            digest: "-sha384",
            algorithm: DER.ecdsaWithSHA384
        )
    }

    static func rsa() throws -> TestKey {
        try other(["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], algorithm: DER.sha256WithRSA)
    }
}

/// A root, an intermediate and a leaf like those of the App Store.
struct TestAuthority: Sendable {
    static let leafMarker = "1.2.840.113635.100.6.11.1"
    static let intermediateMarker = "1.2.840.113635.100.6.2.1"
    private static let year: Int64 = 31_536_000

    var rootKey: TestKey
    var intermediateKey: TestKey
    var leafKey: TestKey
    var root: CertificateDraft
    var intermediate: CertificateDraft
    var leaf: CertificateDraft

    /// Drafts that are all right.
    init(rootKey: TestKey? = nil, intermediateKey: TestKey? = nil, leafKey: TestKey? = nil) throws {
        let rootKey = try rootKey ?? .p256()
        let intermediateKey = try intermediateKey ?? .p256()
        let leafKey = try leafKey ?? .p256()
        (self.rootKey, self.intermediateKey, self.leafKey) = (rootKey, intermediateKey, leafKey)
        root = Self.draft(
            "Test Root CA - G3",
            "Test Root CA - G3",
            rootKey,
            [
                DER.basicConstraints(isAuthority: true), DER.keyUsage(0x06),
            ]
        )
        intermediate = Self.draft(
            "Test Developer Relations",
            "Test Root CA - G3",
            intermediateKey,
            [
                DER.basicConstraints(isAuthority: true, pathLength: 0), DER.keyUsage(0x06),
                DER.responders(["http://ocsp.example/intermediate"]), DER.marker(Self.intermediateMarker),
            ]
        )
        intermediate.serial = [2]
        leaf = Self.draft(
            "Test Receipt Signing",
            "Test Developer Relations",
            leafKey,
            [
                DER.basicConstraints(isAuthority: false), DER.keyUsage(0x80),
                DER.responders(["http://ocsp.example/leaf"]), DER.marker(Self.leafMarker),
            ]
        )
        leaf.serial = [3]
        root.signatureAlgorithm = rootKey.algorithm
        intermediate.signatureAlgorithm = rootKey.algorithm
        leaf.signatureAlgorithm = intermediateKey.algorithm
    }

    func rootDER() throws -> [UInt8] { try root.der(signedBy: rootKey.sign) }
    func intermediateDER() throws -> [UInt8] { try intermediate.der(signedBy: rootKey.sign) }
    func leafDER() throws -> [UInt8] { try leaf.der(signedBy: intermediateKey.sign) }

    /// What a header has in x5c.
    func chain() throws -> [[UInt8]] { [try leafDER(), try intermediateDER(), try rootDER()] }

    func anchors() throws -> TrustAnchors { try TrustAnchors([Certificate(der: rootDER())]) }

    static func draft(_ subject: String, _ issuer: String, _ key: TestKey, _ extensions: [[UInt8]]) -> CertificateDraft
    {
        CertificateDraft(
            subject: subject,
            issuer: issuer,
            key: key.spki,
            validFrom: testInstant - year,
            until: testInstant + year,
            extensions: extensions
        )
    }
}

/// A JWS to be made, right or wrong.
struct TestJWS: Sendable {
    /// JSON texts by member name, in order.
    var header: [(name: String, value: String)]
    var payload: [UInt8] = Array(#"{"transactionId":"2000000123456789"}"#.utf8)
    var key: TestKey

    init(chain: [[UInt8]], key: TestKey) {
        header = [("alg", #""ES256""#), ("x5c", Self.array(chain))]
        self.key = key
    }

    /// A JSON array of certificates in Base64.
    static func array(_ certificates: [[UInt8]]) -> String {
        "["
            + certificates.map { #"""# + String(decoding: Base64.encode($0), as: UTF8.self) + #"""# }.joined(
                separator: ","
            )
            + "]"
    }

    /// The header's bytes.
    var headerBytes: [UInt8] {
        Array(("{" + header.map { #""\#($0.name)":\#($0.value)"# }.joined(separator: ",") + "}").utf8)
    }

    mutating func set(_ name: String, _ value: String) {
        header.removeAll { $0.name == name }
        header.append((name, value))
    }

    /// The whole of it.
    func bytes() throws -> [UInt8] {
        try signed(Base64.encodeURL(headerBytes) + [UInt8(ascii: ".")] + Base64.encodeURL(payload))
    }

    /// The text with a dot and the signature over it in r and s; 64 bytes of nothing from a key that is not on P-256.
    func signed(_ input: [UInt8]) throws -> [UInt8] {
        let signature = ECDSASignature(der: try key.sign(input))?.rawRS ?? [UInt8](repeating: 1, count: 64)
        return input + [UInt8(ascii: ".")] + Base64.encodeURL(signature)
    }
}
