// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The key file of a Google service account, as Google writes it, with members to be set wrong.
package struct ServiceAccountDraft: Sendable {
    /// The members in their order; each value is JSON.
    package var members: [(name: String, json: String)]

    package init(
        pem: [UInt8],
        email: String = "signer@example.iam.gserviceaccount.com",
        keyID: String = "0123456789abcdef"
    ) {
        let key = String(decoding: pem, as: UTF8.self).replacing("\n", with: "\\n")
        members = [
            ("type", #""service_account""#), ("project_id", #""example""#), ("private_key_id", "\"\(keyID)\""),
            ("private_key", "\"\(key)\""), ("client_email", "\"\(email)\""), ("client_id", #""123456789012345678901""#),
            ("auth_uri", #""https://accounts.google.com/o/oauth2/auth""#),
            ("token_uri", #""https://oauth2.googleapis.com/token""#), ("universe_domain", #""googleapis.com""#),
        ]
    }

    /// The file.
    package var bytes: [UInt8] {
        Array(("{\n" + members.map { "  \"\($0.name)\": \($0.json)" }.joined(separator: ",\n") + "\n}\n").utf8)
    }

    /// The same file with another value for a member, or without it.
    package func with(_ name: String, _ json: String?) -> ServiceAccountDraft {
        var copy = self
        copy.members = members.compactMap { member in
            guard member.name == name else { return member }
            return json.map { (name, $0) }
        }
        return copy
    }
}

extension KeyTool {
    /// A new RSA key as PKCS #8 in PEM.
    package static func makeRSAKey(bits: Int = 2048) throws -> [UInt8] {
        try openssl("genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(bits)")
    }
}

extension KeyDER {
    /// Where the contents of the INTEGERs of an RSA key in PKCS #8 stand: version, n, e, d, p, q, dp, dq, qInv.
    package static func rsaNumbers(in der: [UInt8]) -> [Range<Int>] {
        // Past the heads of PrivateKeyInfo, version, algorithm, OCTET STRING and RSAPrivateKey.
        var index = contents(of: der, at: 0).lowerBound
        index = contents(of: der, at: index).upperBound
        index = contents(of: der, at: index).upperBound
        index = contents(of: der, at: contents(of: der, at: index).lowerBound).lowerBound
        var numbers: [Range<Int>] = []
        while index < der.count {
            let number = contents(of: der, at: index)
            numbers.append(number)
            index = number.upperBound
        }
        return numbers
    }

    private static func contents(of der: [UInt8], at index: Int) -> Range<Int> {
        let first = Int(der[index + 1])
        guard first >= 0x80 else { return index + 2..<index + 2 + first }
        let lengthCount = first - 0x80
        let length = der[index + 2..<index + 2 + lengthCount].reduce(0) { $0 << 8 | Int($1) }
        let start = index + 2 + lengthCount
        return start..<start + length
    }
}
