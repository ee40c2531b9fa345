// SPDX-License-Identifier: Apache-2.0

/// Something known of a customer, with who said so and as of when.
package struct Fact<Value: Hashable & Sendable>: Hashable, Sendable {
    /// What is known.
    package let value: Value
    /// Who said so.
    package let source: FactSource
    /// The instant at which it was true.
    package let observedAt: Timestamp

    package init(_ value: Value, source: FactSource, observedAt: Timestamp) {
        self.value = value
        self.source = source
        self.observedAt = observedAt
    }
}

/// Who said so.
package enum FactSource: String, CaseIterable, Sendable {
    /// A trusted caller in its request, or an app that has proven itself.
    case statedByCaller
    /// A transaction that the store signed.
    case signedTransaction
    /// A server notification of the store.
    case notification
    /// The store's API, when it was asked.
    case storeAPI
    /// Our own records.
    case ledger
}
