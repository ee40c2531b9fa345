// SPDX-License-Identifier: Apache-2.0

/// Everything known of one customer's dealings with one app in the App Store.
package struct SubscriptionHistory: Hashable, Sendable {
    /// The customer's chains, by the pseudonyms of their original transaction ids.
    package var chains: [ChainKey: SubscriptionChain] = [:]
    /// The latest instant at which the store listed all the customer's subscriptions with their statuses.
    package var statusesReadAt: Timestamp?
    /// The latest instant at which the store listed all the customer's transactions.
    package var historyReadAt: Timestamp?
    /// Whether the customer has more chains than are looked at, so that what is not here may exist all the same.
    package var isCutShort = false
    /// Which chains the store says are of one customer; each link is here in both directions.
    package private(set) var links: [ChainKey: Set<ChainKey>] = [:]

    /// A history without any evidence.
    package init() {}

    /// Adds all that another history of the same customer knows; the order of merging makes no difference.
    package mutating func merge(_ other: SubscriptionHistory) {
        chains.merge(other.chains) { one, other in
            var both = one
            both.merge(other)
            return both
        }
        statusesReadAt = [statusesReadAt, other.statusesReadAt].compactMap(\.self).max()
        historyReadAt = [historyReadAt, other.historyReadAt].compactMap(\.self).max()
        isCutShort = isCutShort || other.isCutShort
        links.merge(other.links) { $0.union($1) }
    }

    /// Adds that the store says two chains are of one customer.
    package mutating func link(_ one: ChainKey, _ other: ChainKey) {
        links[one, default: []].insert(other)
        links[other, default: []].insert(one)
    }

    /// The chain, and all that links lead to, in their order.
    package func linked(to chain: ChainKey) -> [ChainKey] {
        if links.isEmpty { return [chain] }
        var (found, waiting): (Set<ChainKey>, [ChainKey]) = ([chain], [chain])
        while let next = waiting.popLast() {
            for other in links[next, default: []] where found.insert(other).inserted { waiting.append(other) }
        }
        return found.sorted()
    }

    /// Forgets that the store listed everything; what it listed stays known.
    package mutating func forgetReadings() {
        statusesReadAt = nil
        historyReadAt = nil
        for key in chains.keys {
            chains[key]?.historyCompleteAt = nil
            chains[key]?.statusesReadAt = nil
        }
    }

    /// The history with all that another one of the same customer knows.
    package func merged(with other: SubscriptionHistory) -> SubscriptionHistory {
        var both = self
        both.merge(other)
        return both
    }
}
