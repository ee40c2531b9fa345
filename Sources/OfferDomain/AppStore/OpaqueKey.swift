// SPDX-License-Identifier: Apache-2.0

/// A keyed pseudonym that the service stores in place of an ID.
///
/// Evidence from a request and rows from the ledger are equal values because they have the same keys.
package struct OpaqueKey<Named>: Hashable, Comparable, Sendable {
    /// 18 bytes in the ledger; nothing here depends on their number.
    package let bytes: [UInt8]

    /// Takes the bytes that a ``SubscriptionKeys`` or a ``GooglePlayKeys`` made, or that a row holds.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// By the bytes, the first the most significant.
    package static func < (one: OpaqueKey, other: OpaqueKey) -> Bool {
        one.bytes.lexicographicallyPrecedes(other.bytes)
    }
}

/// The pseudonym of an original transaction ID.
package typealias ChainKey = OpaqueKey<SubscriptionChain>

/// The pseudonym of a transaction ID.
package typealias TransactionKey = OpaqueKey<TransactionRecord>

/// The pseudonym of the account that a purchase names as its buyer.
package typealias AccountKey = OpaqueKey<CustomerIdentity>

/// Makes the keys that evidence is filed under.
package protocol SubscriptionKeys {
    func chainKey(of originalTransactionID: TransactionID) -> ChainKey
    func transactionKey(of transactionID: TransactionID) -> TransactionKey
    /// The key of an `appAccountToken`.
    func accountKey(of token: UniqueID) -> AccountKey
}
