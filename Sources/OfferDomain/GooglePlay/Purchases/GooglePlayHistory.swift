// SPDX-License-Identifier: Apache-2.0

/// Everything known about one customer's dealings with one app at Google Play.
package struct GooglePlayHistory: Hashable, Sendable {
    /// Each purchase by the pseudonym of its token.
    package var purchases: [PurchaseKey: GooglePlayPurchaseRecord] = [:]

    /// A history without any evidence.
    package init() {}

    /// Adds all that another history of the same customer knows; the order of merging makes no difference.
    package mutating func merge(_ other: GooglePlayHistory) {
        purchases.merge(other.purchases) { one, other in
            var both = one
            both.merge(other)
            return both
        }
    }

    /// Adds what is known of one purchase.
    package mutating func merge(_ record: GooglePlayPurchaseRecord, key: PurchaseKey) {
        purchases[key, default: GooglePlayPurchaseRecord()].merge(record)
    }

    /// The history with all that another one of the same customer knows.
    package func merged(with other: GooglePlayHistory) -> GooglePlayHistory {
        var both = self
        both.merge(other)
        return both
    }

    /// The purchases that replaced one another, each chain in the order of its keys.
    ///
    /// It does not matter which purchase names the other; circles are allowed.
    package var chains: [[PurchaseKey]] {
        var chains: [[PurchaseKey]] = []
        var reached: Set<PurchaseKey> = []
        let neighbours = neighbours
        for start in purchases.keys.sorted() where reached.insert(start).inserted {
            var chain = [start]
            var next = 0
            while next < chain.count {
                for neighbour in neighbours[chain[next]] ?? [] where reached.insert(neighbour).inserted {
                    chain.append(neighbour)
                }
                next += 1
            }
            chains.append(chain.sorted())
        }
        return chains
    }

    /// For each purchase, the known purchases that replaced it or that it replaced.
    private var neighbours: [PurchaseKey: Set<PurchaseKey>] {
        var neighbours: [PurchaseKey: Set<PurchaseKey>] = [:]
        for (key, purchase) in purchases {
            for predecessor in purchase.predecessors where purchases[predecessor] != nil {
                neighbours[key, default: []].insert(predecessor)
                neighbours[predecessor, default: []].insert(key)
            }
        }
        return neighbours
    }

    /// Whether another purchase continues this one, so that its own outcome says nothing about the customer.
    ///
    /// A purchase that is not paid yet, or never was, replaces nothing. A purchase that was seen live after its
    /// successor began continues beside it.
    func isReplaced(_ key: PurchaseKey) -> Bool {
        guard let purchase = purchases[key] else { return false }
        if purchase.latest?.isReplaced == true { return true }
        // Google answers the same if the buyer's account is gone; a purchase that had ended before is not replaced.
        if purchase.isGone, purchase.isSuperseded, !purchase.hasEnded { return true }
        return purchases.contains { other, successor in
            guard other != key, successor.predecessors.contains(key), successor.isGranted else { return false }
            guard let latest = purchase.latest, !purchase.isGone, !purchase.hasEnded else { return true }
            guard let begin = successor.latest?.startedAt else { return true }
            return latest.observedAt < begin
        }
    }
}
