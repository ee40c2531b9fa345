// SPDX-License-Identifier: Apache-2.0

/// Everything known of one customer's dealings with one app at Google Play.
package struct GooglePlayHistory: Hashable, Sendable {
    /// Each purchase by the pseudonym of its token.
    package var purchases: [PurchaseKey: GooglePlayPurchaseRecord] = [:]

    /// A history of which nothing is known.
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

    /// The purchases that took one another's place, each chain in the order of its keys.
    ///
    /// Which purchase names which makes no difference, and neither does a circle.
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

    /// Which known purchases took the place of one, or were in its place before.
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

    /// Whether another purchase goes on for this one, so that what became of it says nothing of the customer.
    ///
    /// A purchase that is not paid yet replaces nothing, and neither does one that never was. One that was seen live
    /// after the other had begun goes on beside it.
    func isReplaced(_ key: PurchaseKey) -> Bool {
        guard let purchase = purchases[key] else { return false }
        if purchase.latest?.isReplaced == true { return true }
        // Google says the same where the buyer's account is gone; what had ended before, ended.
        if purchase.isGone, purchase.isSuperseded, !purchase.hasEnded { return true }
        return purchases.contains { other, successor in
            guard other != key, successor.predecessors.contains(key), successor.isGranted else { return false }
            guard let latest = purchase.latest, !purchase.isGone, !purchase.hasEnded else { return true }
            guard let begin = successor.latest?.startedAt else { return true }
            return latest.observedAt < begin
        }
    }
}
