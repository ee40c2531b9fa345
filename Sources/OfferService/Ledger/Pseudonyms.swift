// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import OfferDomain

/// What the ledger and the records hold instead of a customer's id: HMAC-SHA256 under a secret of the team.
package struct Pseudonym: Hashable, Sendable {
    /// 32 bytes.
    package let bytes: [UInt8]

    /// The first 16 bytes; what the ledger counts under.
    package var ledgerKey: [UInt8] { Array(bytes.prefix(16)) }
}

/// Turns customer ids into pseudonyms; without its secret nobody can go back, or try ids out.
package struct Pseudonyms: Sendable {
    /// The name of the secret in force; records carry it, so that a later secret is not mistaken for it.
    package let epoch: String
    private let key: HMACKey

    package init(epoch: String, key: HMACKey) {
        self.epoch = epoch
        self.key = key
    }

    /// Whether a text may name an epoch: 1 to 16 ASCII letters or digits.
    package static func isEpoch(_ text: String) -> Bool {
        (1...16).contains(text.utf8.count) && text.utf8.allSatisfy { Character(Unicode.Scalar($0)).isLetterOrDigit }
    }

    /// The pseudonym of a customer within one app.
    package func pseudonym(of identity: CustomerIdentity, in bundleID: BundleID) -> Pseudonym {
        var message: [UInt8] = []
        message.reserveCapacity(96)
        message.append(contentsOf: bundleID.text.utf8)
        message.append(0)
        message.append(contentsOf: identity.capBytes)
        return Pseudonym(bytes: key.authenticationCode(for: message))
    }

    /// How a record writes a pseudonym: `hmac:EPOCH:` and base64url without padding.
    package func recordText(_ pseudonym: Pseudonym) -> String {
        "hmac:\(epoch):" + String(decoding: Base64.encodeURL(pseudonym.bytes), as: UTF8.self)
    }
}

extension Character {
    fileprivate var isLetterOrDigit: Bool { isASCII && (isLetter || isNumber) }
}
