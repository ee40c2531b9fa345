// SPDX-License-Identifier: Apache-2.0

/// Everything known of one customer's dealings with one app in the App Store.
package struct SubscriptionHistory: Hashable, Sendable {
    package var chains: [ChainKey: SubscriptionChain] = [:]
    /// The latest instant at which the store listed all the customer's subscriptions with their statuses.
    package var statusesReadAt: Timestamp?
    /// The latest instant at which the store listed all the customer's transactions.
    package var historyReadAt: Timestamp?
    /// Whether the customer has more chains than are looked at, so that what is not here may exist all the same.
    package var isCutShort = false

    package init() {}

    package mutating func merge(_ other: SubscriptionHistory) {
        chains.merge(other.chains) { one, other in
            var both = one
            both.merge(other)
            return both
        }
        statusesReadAt = [statusesReadAt, other.statusesReadAt].compactMap(\.self).max()
        historyReadAt = [historyReadAt, other.historyReadAt].compactMap(\.self).max()
        isCutShort = isCutShort || other.isCutShort
    }

    /// Forgets that the store listed everything; what it listed stays known.
    package mutating func forgetReadings() {
        statusesReadAt = nil
        historyReadAt = nil
        for key in chains.keys { chains[key]?.historyCompleteAt = nil }
    }

    package func merged(with other: SubscriptionHistory) -> SubscriptionHistory {
        var both = self
        both.merge(other)
        return both
    }
}
