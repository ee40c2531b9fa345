// SPDX-License-Identifier: Apache-2.0
import Configuration
package import OfferDomain

/// What an app attaches to a purchase as its `obfuscatedAccountId`: 32 bytes that stand for the customer.
///
/// They leave the service, so they are made under a label of their own: nothing in the ledger or in the records is equal to
/// them, and whoever sees both can't tell who is who.
package struct GooglePlayAccountID: Hashable, Sendable {
    private let bytes: [UInt8]

    init(bytes: [UInt8]) {
        precondition(bytes.count == 32, "an account id has 32 bytes")
        self.bytes = bytes
    }

    /// Reads one; nil of what has not the form of ours.
    package init?(_ text: String) {
        guard text.utf8.count == 64, let bytes = [UInt8](hexadecimal: text) else { return nil }
        self.bytes = bytes
    }

    /// 64 of `0-9a-f`.
    package var text: String { bytes.hexadecimal }

    /// Under which the ledger notes to whom it was given out: the first 16 bytes.
    package var key: [UInt8] { Array(bytes[..<16]) }
}

extension GooglePlayPseudonyms {
    /// The account id of a customer of that name.
    package func accountID(of customer: CustomerIdentity) -> GooglePlayAccountID {
        GooglePlayAccountID(bytes: pseudonyms.code(.accountID, customer.capBytes, in: app))
    }
}
