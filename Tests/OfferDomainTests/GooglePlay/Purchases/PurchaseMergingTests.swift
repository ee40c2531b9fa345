// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import OfferDomain

/// Promises of merging, tried on heaps of answers and notifications that contradict each other.
struct PurchaseMergingTests {
    @Test func `comes to the same in any order, however often a piece comes`() throws {
        var random = SplitMix(seed: 41)
        for _ in 0..<300 {
            let pieces = try random.purchasePieces()
            let once = pieces.reduce(GooglePlayHistory()) { $0.merged(with: $1) }
            var shuffled = pieces + pieces.filter { _ in random.chance(in: 2) }
            shuffled.shuffle(using: &random)
            let again = shuffled.reduce(GooglePlayHistory()) { $0.merged(with: $1) }
            #expect(once == again)
            #expect(once.facts == again.facts)
            for (key, purchase) in once.purchases {
                #expect(purchase.redemptions(key) == again.purchases[key]?.redemptions(key))
            }
            for piece in pieces { #expect(once.merged(with: piece) == once) }
        }
    }

    @Test func `comes to the same however it is grouped`() throws {
        var random = SplitMix(seed: 42)
        for _ in 0..<300 {
            let (one, two, three) = (
                try random.purchasePieces().reduce(GooglePlayHistory()) { $0.merged(with: $1) },
                try random.purchasePieces().reduce(GooglePlayHistory()) { $0.merged(with: $1) },
                try random.purchasePieces().reduce(GooglePlayHistory()) { $0.merged(with: $1) }
            )
            #expect(one.merged(with: two) == two.merged(with: one))
            #expect(one.merged(with: one) == one)
            #expect(one.merged(with: two).merged(with: three) == one.merged(with: two.merged(with: three)))
        }
    }

    @Test func `takes the later of two answers, and of two of one instant always the same`() throws {
        let active = try PlayPurchases.purchase(.active)
        let expired = try PlayPurchases.purchase(.expired, to: 2)
        let late = GooglePlayHistory(("a", expired, 0), ("a", active, 3))
        #expect(late.facts.status?.value == .expired)
        let (one, other) = (GooglePlayHistory(("a", active, 0)), GooglePlayHistory(("a", expired, 0)))
        #expect(one.merged(with: other) == other.merged(with: one))
    }

    @Test func `gives the same result for line items in any order`() throws {
        var purchase = try PlayPurchases.purchase(.active)
        purchase.lineItems += try PlayPurchases.purchase(.active, offer: "a").lineItems
        var turned = purchase
        turned.lineItems.reverse()
        #expect(GooglePlayHistory(("a", purchase, 0)) == GooglePlayHistory(("a", turned, 0)))
    }
}

extension SplitMix {
    /// A few answers about five purchases, at few instants, and what notifications report as well.
    mutating func purchasePieces() throws -> [GooglePlayHistory] {
        try (0..<Int.random(in: 1...10, using: &self)).map { _ in
            var history = GooglePlayHistory()
            let token = pick(["a", "b", "c", "d", "e"])
            var record = GooglePlayPurchaseRecord()
            if chance(in: 8) { record.goneAt = .ago(days: Int.random(in: 0...3, using: &self)) }
            record.isSuperseded = record.goneAt != nil && chance(in: 2)
            if chance(in: 8) { record.revokedAt = .ago(days: Int.random(in: 0...3, using: &self)) }
            if chance(in: 3) { record.reportedSince = .ago(days: Int.random(in: 0...50, using: &self)) }
            if chance(in: 6) {
                let instant = Timestamp.ago(days: Int.random(in: 0...3, using: &self))
                record.refunds = [Refund(at: instant, millipercent: pick([nil, Refund.whole]))]
            }
            history.merge(record, key: PlayPurchases.key(token))
            guard !chance(in: 5) else { return history }
            let purchase = try PlayPurchases.purchase(
                pick(GooglePlayPurchaseState.allCases),
                from: pick([nil, 40, 20]),
                to: Int.random(in: -9...9, using: &self),
                offer: pick([nil, "a", "b"]),
                phase: pick([nil, .basePrice, .introductoryPrice]),
                linked: pick([nil, nil, "a", "b", "c"]),
                replacing: pick([nil, "a", "b"]),
                for: pick([nil, .byCustomer, .forReplacement])
            )
            let daysAgo = Int.random(in: 0...3, using: &self)
            history.see(token, purchase, daysAgo: daysAgo, mark: pick([nil, "1", "2"]))
            return history
        }
    }
}
