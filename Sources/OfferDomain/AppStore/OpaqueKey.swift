// SPDX-License-Identifier: Apache-2.0

/// What stands for an id that is not kept in the clear: the bytes of a keyed pseudonym.
///
/// Evidence out of a request and rows out of the ledger are the same values because they have the same keys.
package struct OpaqueKey<Named>: Hashable, Comparable, Sendable {
    /// 16 bytes in the ledger; nothing here depends on their number.
    package let bytes: [UInt8]

    /// Takes the bytes that a ``SubscriptionKeys`` or a ``GooglePlayKeys`` made, or that a row holds.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// By the bytes, the first the most significant.
    package static func < (one: OpaqueKey, other: OpaqueKey) -> Bool {
        one.bytes.lexicographicallyPrecedes(other.bytes)
    }
}

/// Stands for an original transaction id.
package typealias ChainKey = OpaqueKey<SubscriptionChain>

/// Stands for a transaction id.
package typealias TransactionKey = OpaqueKey<TransactionRecord>

/// Stands for an account that a purchase names as its buyer.
package typealias AccountKey = OpaqueKey<CustomerIdentity>

/// Makes the keys that evidence is filed under.
package protocol SubscriptionKeys {
    func chainKey(of originalTransactionID: TransactionID) -> ChainKey
    func transactionKey(of transactionID: TransactionID) -> TransactionKey
    /// Of an `appAccountToken`.
    func accountKey(of token: UniqueID) -> AccountKey
}
