// SPDX-License-Identifier: Apache-2.0

/// Everything known of one chain of purchase and renewals: of one original transaction id.
///
/// Merging takes the newest copy of each part. Order, grouping and duplicates do not matter.
package struct SubscriptionChain: Hashable, Sendable {
    /// The newest copy of each transaction that was seen.
    package var transactions: [TransactionKey: TransactionRecord] = [:]
    /// The newest renewal info that was seen.
    package var renewal: RenewalRecord?
    /// The newest status that the store stated.
    package var status: StatusRecord?
    /// The latest instant at which the store listed every transaction of the customer; nil if it never did.
    ///
    /// If it is nil, there may be more transactions than those here.
    package var historyCompleteAt: Timestamp?
    /// The latest instant at which the store listed every subscription of the customer with its status; nil if it never
    /// did.
    package var statusesReadAt: Timestamp?

    /// A chain without any evidence.
    package init() {}

    /// Adds a transaction unless a newer copy of it is known.
    package mutating func merge(_ transaction: TransactionRecord, key: TransactionKey) {
        transactions[key] = transactions[key].map(transaction.newer(of:)) ?? transaction
    }

    /// Takes the renewal info unless a newer one is known.
    package mutating func merge(_ renewal: RenewalRecord) {
        self.renewal = self.renewal.map(renewal.newer(of:)) ?? renewal
    }

    /// Takes the status unless a newer one is known.
    package mutating func merge(_ status: StatusRecord) {
        self.status = self.status.map(status.newer(of:)) ?? status
    }

    /// Takes the instant at which the store listed every transaction, unless a later one is known.
    package mutating func merge(historyCompleteAt instant: Timestamp) {
        historyCompleteAt = max(historyCompleteAt ?? instant, instant)
    }

    /// Takes the instant at which the store listed every status, unless a later one is known.
    package mutating func merge(statusesReadAt instant: Timestamp) {
        statusesReadAt = max(statusesReadAt ?? instant, instant)
    }

    /// When the newest part of it was true; nil if there is no evidence.
    package var observedAt: Timestamp? {
        let instants = [renewal?.signedAt, status?.observedAt, historyCompleteAt].compactMap(\.self)
        return (transactions.values.map(\.signedAt) + instants).max()
    }

    /// Adds all that another copy of the same chain knows.
    package mutating func merge(_ other: SubscriptionChain) {
        for (key, transaction) in other.transactions { merge(transaction, key: key) }
        if let renewal = other.renewal { merge(renewal) }
        if let status = other.status { merge(status) }
        if let instant = other.historyCompleteAt { merge(historyCompleteAt: instant) }
        if let instant = other.statusesReadAt { merge(statusesReadAt: instant) }
    }
}
