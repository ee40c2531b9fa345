// SPDX-License-Identifier: Apache-2.0
import Cryptography
import SignatureDiagnosis

/// A report of a signature; a faulty server made it, or a faulty app attached its values.
struct SignedReport {
    /// What Apple rebuilds, field by field, unless a test changes it.
    static let right: [(name: String, value: String)] = [
        ("bundleId", "com.example.app"), ("keyIdentifier", "ABC123DEFG"), ("productId", "pro"), ("offerId", "offer1"),
        ("appAccountToken", "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"),
        ("nonce", "20fba8a0-2b80-4a7d-a17f-85c1854727f8"), ("timestamp", "1795250488617"),
    ]

    /// What the server signed, in place of the right value.
    var signed: [String: String] = [:]
    var separator = "\u{2063}"
    var order = Array(0..<7)
    var dropsEmptyFields = false
    var ending = ""
    var hashing = 1
    /// What the app attached, in place of the right value; `nil` for nothing.
    var attached: [String: String?] = [:]
    /// Further members of the report, JSON.
    var members: [String: String] = [:]
    /// How the signature is written, out of its DER.
    var encode: @Sendable (ECDSASignature) -> String = { String(decoding: Base64.encode($0.der), as: UTF8.self) }

    private var payload: [UInt8] {
        let fields = order.map { index in
            let (name, value) = Self.right[index]
            return signed[name] ?? (attached[name] ?? value) ?? ""
        }
        let kept = dropsEmptyFields ? fields.filter { !$0.isEmpty } : fields
        return Array((kept.joined(separator: separator) + ending).utf8)
    }

    /// The report, JSON.
    func json(_ key: PrivateKey) throws -> [UInt8] {
        var digest = SHA256.digest(of: payload)
        if hashing == 2 { digest = SHA256.digest(of: Array(digest.bytes)) }
        if hashing == 3 { digest = SHA256.digest(of: Array(digest.hex.utf8)) }
        let signature = encode(try key.signature(of: digest))
        var values = Self.right.compactMap { name, value -> String? in
            guard let value = attached[name] ?? value else { return nil }
            return name == "timestamp" ? "\"timestamp\": \(value)" : "\"\(name)\": \(Self.quoted(value))"
        }
        values.append("\"signature\": \(Self.quoted(signature))")
        for (name, value) in members { values.append("\"\(name)\": \(value)") }
        return Array("{\(values.joined(separator: ", "))}".utf8)
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\"\(escaped)\""
    }

    func diagnosis(_ key: PrivateKey, _ knowledge: DiagnosisKnowledge) throws -> Diagnosis {
        SignatureDiagnoser(knowledge).diagnose(try SignatureReport(json: json(key)))
    }
}

extension DiagnosisKnowledge {
    /// A service that knows the key by its public half.
    init(_ key: PrivateKey, id: String = "ABC123DEFG") {
        self.init()
        keys = [KnownKey(id: id, publicKey: key.publicKey)]
        bundleIDs = ["com.example.app", "com.example.other"]
        productIDs = ["pro", "basic"]
        offerIDs = ["offer1", "Winter offer"]
    }

    /// Knows only the digest of the public key.
    init(pinOf key: PrivateKey) {
        self.init(key)
        keys = []
        pins = [KnownPin(digest: key.publicKey.spkiSHA256)]
    }
}
