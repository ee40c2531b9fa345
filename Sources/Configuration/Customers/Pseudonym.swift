// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import OfferDomain

/// What the ledger and the records hold instead of a customer's id: HMAC-SHA256 under a secret of the team.
package struct Pseudonym: Hashable, Sendable {
    /// What the ledger counts under: the first 16 bytes and the tag of the secret; see ``LedgerKey``.
    package let ledgerKey: [UInt8]
    /// How records write it: `hmac:EPOCH:` and all 32 bytes in base64url without padding.
    package let recordText: [UInt8]
    /// The same customer under the earlier versions of the secret, the latest first; empty where there is but one.
    package var earlier: [Pseudonym] = []

    /// The name of the secret that it was made with.
    package var secretVersion: String { String(text.split(separator: ":")[1]) }

    /// ``recordText`` as text.
    package var text: String { String(decoding: recordText, as: UTF8.self) }

    /// Whether entries can be searched for it: the form of ``recordText``, or the 16 bytes of it by which transfers name a
    /// customer.
    package static func isSearchable(_ text: String) -> Bool {
        isRecordText(text) || Base64.decodeURL(Array(text.utf8))?.count == 16
    }

    /// Whether a text has the form of ``recordText``.
    package static func isRecordText(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0] == "hmac" && SecretVersion.isName(String(parts[1]))
            && Base64.decodeURL(Array(parts[2].utf8))?.count == SHA256Digest.byteCount
    }
}

/// A secret under which customers' ids are kept, from one instant to another.
package struct SecretVersion: Sendable {
    /// What records call it.
    package let name: String
    private let key: HMACKey
    private let prefix: [UInt8]
    /// 16 bytes that tell this secret from every other, and nothing of it.
    package let checkValue: [UInt8]
    /// What ends every key that was made with this secret.
    private let tag: [UInt8]

    /// `name` must be one; see ``isName(_:)``.
    package init(name: String, key: HMACKey) {
        self.name = name
        self.key = key
        prefix = Array("hmac:\(name):".utf8)
        // No message of a pseudonym begins with a zero byte, since an app's name comes first.
        checkValue = Array(key.authenticationCode(for: Array("\0epoch \(name)".utf8))[..<16])
        tag = LedgerKey.tag(ofSecret: checkValue)
    }

    /// Whether a text may name a secret version: 1 to 16 ASCII letters or digits.
    package static func isName(_ text: String) -> Bool {
        (1...16).contains(text.utf8.count) && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    /// Whether the two are one secret under two names.
    func hasSameSecret(as other: SecretVersion) -> Bool {
        let message = Array("\0same".utf8)
        return constantTimeEqual(key.authenticationCode(for: message), other.key.authenticationCode(for: message))
    }

    func pseudonym(of message: [UInt8]) -> Pseudonym {
        let code = key.authenticationCode(for: message)
        var recordText: [UInt8] = []
        recordText.reserveCapacity(prefix.count + 43)
        recordText.append(contentsOf: prefix)
        Base64.appendURL(code, to: &recordText)
        return Pseudonym(ledgerKey: code[..<LedgerKey.digestBytes] + tag, recordText: recordText)
    }

    /// No app has an empty name, and ``checkValue`` goes on with another byte.
    func code(_ use: Pseudonyms.Use, _ message: [UInt8]) -> [UInt8] {
        key.authenticationCode(for: [0, use.rawValue, 0x3A] + message)
    }

    func code(_ use: Pseudonyms.Use, _ message: [UInt8], in app: AppName) -> [UInt8] {
        key.authenticationCode(for: Array(app.text.utf8) + [0, use.rawValue, 0x3A] + message)
    }

    /// The code with the tag in it, so that its beginning is a key of the ledger.
    func taggedCode(_ use: Pseudonyms.Use, _ message: [UInt8], in app: AppName) -> [UInt8] {
        let code = code(use, message, in: app)
        return code[..<LedgerKey.digestBytes] + tag + code[LedgerKey.byteCount...]
    }
}
