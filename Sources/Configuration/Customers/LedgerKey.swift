// SPDX-License-Identifier: Apache-2.0

/// The form of the keys that the ledger has in place of customers, chains, transactions and purchases.
///
/// 16 bytes of an HMAC-SHA256, then 2 bytes that are the same in every key of one secret: what can no longer be named
/// once a secret is destroyed is found by them.
package enum LedgerKey {
    /// How many bytes of the HMAC a key begins with.
    package static let digestBytes = 16
    /// The length of a key.
    package static let byteCount = 18

    /// The last bytes of each key of the secret with that check value; see ``SecretVersion/checkValue``.
    package static func tag(ofSecret checkValue: [UInt8]) -> [UInt8] {
        Array(checkValue.prefix(byteCount - digestBytes))
    }
}
