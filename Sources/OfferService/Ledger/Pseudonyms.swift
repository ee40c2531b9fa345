// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import OfferDomain

/// What the ledger and the records hold instead of a customer's id: HMAC-SHA256 under a secret of the team.
package struct Pseudonym: Hashable, Sendable {
    /// What the ledger counts under: the first 16 bytes.
    package let ledgerKey: [UInt8]
    /// How records write it: `hmac:EPOCH:` and all 32 bytes in base64url without padding.
    package let recordText: [UInt8]
}

/// Turns customer ids into pseudonyms; without its secret nobody can go back, or try ids out.
package struct Pseudonyms: Sendable {
    /// The name of the secret in force; records carry it, so that a later secret is not mistaken for it.
    package let epoch: String
    private let key: HMACKey
    private let prefix: [UInt8]

    package init(epoch: String, key: HMACKey) {
        self.epoch = epoch
        self.key = key
        prefix = Array("hmac:\(epoch):".utf8)
    }

    /// Whether a text may name an epoch: 1 to 16 ASCII letters or digits.
    package static func isEpoch(_ text: String) -> Bool {
        (1...16).contains(text.utf8.count) && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    /// The pseudonym of a customer within one app.
    package func pseudonym(of identity: CustomerIdentity, in app: AppName) -> Pseudonym {
        var message: [UInt8] = []
        message.reserveCapacity(96)
        message.append(contentsOf: app.text.utf8)
        message.append(0)
        identity.appendCapBytes(to: &message)
        let code = key.authenticationCode(for: message)
        var recordText: [UInt8] = []
        recordText.reserveCapacity(prefix.count + 43)
        recordText.append(contentsOf: prefix)
        Base64.appendURL(code, to: &recordText)
        return Pseudonym(ledgerKey: Array(code[..<16]), recordText: recordText)
    }

    /// What else is made with the secret, beside pseudonyms of customers; none can pass for another.
    package enum Use: UInt8, Sendable {
        /// Stands for a purchase token.
        case purchase = 0x67
        /// Proves that a grant's mark is ours.
        case grantMark = 0x6D
    }

    /// The 32 bytes that stand for, or prove, a message within one app.
    package func code(_ use: Use, _ message: [UInt8], in app: AppName) -> [UInt8] {
        key.authenticationCode(for: Array(app.text.utf8) + [0, use.rawValue, 0x3A] + message)
    }
}
