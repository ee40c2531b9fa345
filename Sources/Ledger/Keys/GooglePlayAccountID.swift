// SPDX-License-Identifier: Apache-2.0
import Configuration
package import OfferDomain

/// What an app attaches to a purchase as its `obfuscatedAccountId`: 32 bytes that stand for the customer.
///
/// They leave the service, so they have their own label: nothing in the ledger or in the records is equal to them. A
/// reader who sees both cannot match them.
package struct GooglePlayAccountID: Hashable, Sendable {
    private let bytes: [UInt8]

    init(bytes: [UInt8]) {
        precondition(bytes.count == 32, "an account id has 32 bytes")
        self.bytes = bytes
    }

    /// Reads an account ID; nil if the text does not have the service's form.
    package init?(_ text: String) {
        guard text.utf8.count == 64, let bytes = [UInt8](hexadecimal: text) else { return nil }
        self.bytes = bytes
    }

    /// 64 of `0-9a-f`.
    package var text: String { bytes.hexadecimal }

    /// The ledger's key for the customer that got this ID: its beginning.
    package var key: [UInt8] { Array(bytes[..<LedgerKey.byteCount]) }
}

extension GooglePlayPseudonyms {
    /// The account id of a customer of that name.
    package func accountID(of customer: CustomerIdentity) -> GooglePlayAccountID {
        GooglePlayAccountID(bytes: pseudonyms.taggedCode(.accountID, customer.capBytes, in: app))
    }
}
