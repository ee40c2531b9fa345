// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
package import OfferDomain

/// What an app attaches to a purchase as its `obfuscatedProfileId` so that the purchase names its grant: the grant's
/// id, and a code that only this service can make.
///
/// The text has the 64 characters that Google Play takes: 32 hexadecimal digits of the id and 32 of the code. The code
/// is over the id and the offer, so a mark is valid only for the offer that was granted. An app can attach the mark to
/// another purchase; only the first purchase with it gets the grant.
package struct GrantMark: Hashable, Sendable {
    /// The grant that the mark names.
    package let grantID: UniqueID
    /// 16 bytes.
    let code: [UInt8]

    /// Reads a mark; nil if the text does not have its form.
    ///
    /// ``GooglePlayPseudonyms`` says whether it is genuine.
    package init?(_ text: String) {
        guard text.utf8.count == 64, let bytes = [UInt8](hexadecimal: text),
            let grantID = UniqueID(bytes: Array(bytes[..<16]))
        else { return nil }
        self.grantID = grantID
        code = Array(bytes[16...])
    }

    init(grantID: UniqueID, code: [UInt8]) {
        self.grantID = grantID
        self.code = code
    }

    /// 64 of `0-9a-f`.
    package var text: String { (grantID.bytes + code).hexadecimal }
}

/// The keys under which purchases of one app at Google Play are filed, and the names that an app attaches to them.
package struct GooglePlayPseudonyms: GooglePlayKeys, Sendable {
    let pseudonyms: Pseudonyms
    let app: AppName

    package init(_ pseudonyms: Pseudonyms, in app: AppName) {
        self.pseudonyms = pseudonyms
        self.app = app
    }

    /// The name of the secret version in force.
    package var secretVersion: String { pseudonyms.secretVersion }

    /// What the purchase is filed under with the secret in force.
    package func purchaseKey(of token: PurchaseToken) -> PurchaseKey {
        PurchaseKey(code: pseudonyms.taggedCode(.purchase, Array(token.text.utf8), in: app))
    }

    /// What the purchase was filed under with earlier secrets, the latest first.
    func earlierPurchaseKeys(of token: PurchaseToken) -> [PurchaseKey] {
        pseudonyms.earlierTaggedCodes(.purchase, Array(token.text.utf8), in: app).map(PurchaseKey.init(code:))
    }

    /// Whether anything may be filed under an earlier secret.
    var hasEarlierVersions: Bool { pseudonyms.hasEarlierVersions }

    /// The mark of a grant; `offerKey` is the offer's key in the ledger.
    package func mark(of grantID: UniqueID, for offerKey: Int64) -> GrantMark {
        let code = pseudonyms.code(.grantMark, Self.markedBytes(grantID, offerKey), in: app)
        return GrantMark(grantID: grantID, code: Array(code[..<16]))
    }

    private static func markedBytes(_ grantID: UniqueID, _ offerKey: Int64) -> [UInt8] {
        grantID.bytes + (0..<8).map { UInt8(truncatingIfNeeded: offerKey >> (56 - 8 * Int64($0))) }
    }

    /// Whether this service made the mark, for a grant of that offer; marks made under an earlier secret count too.
    package func isGenuine(_ mark: GrantMark, for offerKey: Int64) -> Bool {
        if constantTimeEqual(self.mark(of: mark.grantID, for: offerKey).code, mark.code) { return true }
        return pseudonyms.earlierCodes(.grantMark, Self.markedBytes(mark.grantID, offerKey), in: app)
            .contains { constantTimeEqual(Array($0[..<16]), mark.code) }
    }
}

extension PurchaseKey {
    fileprivate init(code: [UInt8]) { self.init(Array(code[..<LedgerKey.byteCount])) }
}

extension [UInt8] {
    /// The bytes of lowercase hexadecimal digits, two for each.
    init?(hexadecimal text: String) {
        self = []
        reserveCapacity(text.utf8.count / 2)
        var first: UInt8?
        for digit in text.utf8 {
            let value: UInt8
            switch digit {
            case 0x30...0x39: value = digit - 0x30
            case 0x61...0x66: value = digit - 0x61 + 10
            default: return nil
            }
            if let high = first { append(high << 4 | value) }
            first = first == nil ? value : nil
        }
        guard first == nil else { return nil }
    }

    /// Two lowercase digits for each byte.
    var hexadecimal: String {
        let digits = Array<UInt8>("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
