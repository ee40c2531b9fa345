// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

/// Which of the facts that were stored some time ago still count.
struct StoredFactsTests {
    private static let now = RuleRow.now
    private static let storedAt = now.adding(days: -3)

    private static func fact<Value>(_ value: Value, days: Int) -> Fact<Value> {
        Fact(value, source: .storeAPI, observedAt: now.adding(days: -days))
    }

    /// Facts of every kind, of a subscription that ends in `days` days.
    private static func stored(endsInDays days: Int) -> CustomerFacts {
        var facts = CustomerFacts()
        func stated<Value>(_ value: Value) -> Fact<Value> { fact(value, days: 3) }
        facts.subscribedBefore = stated(true)
        (facts.status, facts.expiresAt) = (stated(.active), stated(now.adding(days: days)))
        (facts.isActive, facts.autoRenews) = (stated(true), stated(false))
        (facts.cancelledAt, facts.commitmentPeriod) = (stated(now.adding(days: -9)), stated(3))
        (facts.offersUsed, facts.refundedAt) = (stated([]), stated([]))
        return facts
    }

    /// What was seen, and whether the stored period, offers and refunds still count.
    static let rows: [(name: String, known: @Sendable (inout CustomerFacts) -> Void, counts: [Bool])] = [
        ("nothing", { _ in }, [true, true, true]),
        ("an end, before", { $0.latestEndSeen = fact(now, days: 4) }, [true, true, true]),
        ("an end, since", { $0.latestEndSeen = fact(now, days: 2) }, [false, true, true]),
        ("an end, at the same time", { $0.latestEndSeen = fact(now, days: 3) }, [false, true, true]),
        ("a renewal, since", { $0.autoRenews = fact(true, days: 1) }, [false, true, true]),
        ("a plan, since", { $0.commitmentPeriod = fact(4, days: 1) }, [false, true, true]),
        ("uses, before", { $0.offersSeen = fact([], days: 4) }, [true, true, true]),
        ("uses, since", { $0.offersSeen = fact([], days: 2) }, [true, false, true]),
        ("refunds, since", { $0.refundsSeen = fact([], days: 2) }, [true, true, false]),
    ]

    @Test(arguments: rows.indices) func `what was seen since is newer`(index: Int) {
        let row = Self.rows[index]
        var known = CustomerFacts()
        row.known(&known)
        let facts = known.filled(fromStored: Self.stored(endsInDays: 5), storedAt: Self.storedAt, now: Self.now)
        #expect((facts.status != nil) == row.counts[0] && (facts.isActive != nil) == row.counts[0], "\(row.name)")
        #expect((facts.cancelledAt != nil) == row.counts[0], "\(row.name)")
        #expect((facts.offersUsed != nil) == row.counts[1], "\(row.name)")
        #expect((facts.refundedAt != nil) == row.counts[2], "\(row.name)")
        #expect(facts.subscribedBefore?.value == true, "it stays true")
    }

    @Test(arguments: [(5, true), (1, true), (0, false), (-2, false), (-3, true), (-9, true)])
    func `a period counts until its end, and one that had ended by then for good`(days: Int, counts: Bool) {
        let facts = CustomerFacts().filled(
            fromStored: Self.stored(endsInDays: days),
            storedAt: Self.storedAt,
            now: Self.now
        )
        #expect((facts.status != nil) == counts && (facts.expiresAt != nil) == counts)
        #expect((facts.commitmentPeriod != nil) == counts && (facts.autoRenews != nil) == counts)
        #expect(facts.offersUsed != nil)
    }
}
