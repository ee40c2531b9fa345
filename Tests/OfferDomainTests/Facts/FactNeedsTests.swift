// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import OfferDomain

struct FactNeedsTests {
    private static let hourAgo = RuleRow.now.adding(hours: -1)

    @Test
    func `names what a rule and those inside it read`() throws {
        let rule = Rule.all([
            .lapsed(atLeastDays: 3, atMostDays: nil), .not(.refunded(withinDays: 9)),
            .any([.usedOffers(type: nil, offer: nil, atMost: 0), .cooldown(days: 3)]),
        ])
        #expect(rule.factNeeds == [.status, .expiry, .refunds, .offersUsed])
        #expect(Rule.region(in: [try Region("US")]).factNeeds.isDisjoint(with: [.fromStatuses, .fromHistory]))
        #expect(EligibilityPolicy(rule: rule).factNeeds == rule.factNeeds.union(.subscribedBefore))
        #expect(EligibilityPolicy(rule: rule, offerType: .introductory).factNeeds == rule.factNeeds)
        #expect(EligibilityPolicy(rule: nil).factNeeds == .subscribedBefore)
    }

    /// The needs of a rule are those facts whose absence changes an answer.
    @Test
    func `reads no fact beside those it names`() throws {
        var random = SplitMix(seed: 51)
        for _ in 0..<500 {
            let rule = try random.rule(depth: 2)
            let context = try random.context()
            for (need, forget) in Self.parts where !rule.factNeeds.contains(need) {
                var poorer = context
                forget(&poorer.facts)
                #expect(rule.evaluate(in: poorer) == rule.evaluate(in: context), "\(rule)")
            }
        }
    }

    private static let parts: [(FactNeeds, @Sendable (inout CustomerFacts) -> Void)] = [
        (.subscribedBefore, { $0.subscribedBefore = nil }), (.status, { $0.status = nil }),
        (
            .expiry,
            {
                $0.expiresAt = nil
                $0.latestEndSeen = nil
            }
        ),
        (.autoRenew, { $0.autoRenews = nil }), (.ownership, { $0.ownership = nil }),
        (.storefront, { $0.storefront = nil }), (.environment, { $0.environment = nil }),
        (
            .offersUsed,
            {
                $0.offersUsed = nil
                $0.offersSeen = nil
            }
        ),
        (
            .refunds,
            {
                $0.refundedAt = nil
                $0.refundsSeen = nil
                $0.refundsReportedSince = nil
            }
        ), (.region, { $0.region = nil }),
    ]

    @Test
    func `finds what is missing or too old, and knows when asking again would not help`() {
        var facts = CustomerFacts()
        facts.status = Fact(.active, source: .storeAPI, observedAt: .ago(days: 2))
        facts.autoRenews = Fact(true, source: .storeAPI, observedAt: RuleRow.now)
        let needs: FactNeeds = [.status, .autoRenew, .expiry, .refunds]
        #expect(facts.unmet(needs, olderThan: Self.hourAgo) == [.status, .expiry, .refunds])
        #expect(facts.unmet(needs, olderThan: .ago(days: 3)) == [.expiry, .refunds])
        #expect(facts.unmet([], olderThan: Self.hourAgo).isEmpty)
        facts.statusesReadAt = RuleRow.now
        #expect(facts.unmet(needs, olderThan: Self.hourAgo) == .refunds)
        facts.historyReadAt = Self.hourAgo
        #expect(facts.unmet(needs, olderThan: Self.hourAgo).isEmpty)
        #expect(facts.unmet(needs, olderThan: Self.hourAgo.adding(milliseconds: 1)) == .refunds)
    }

    @Test
    func `a past subscription does not age`() {
        var facts = CustomerFacts()
        facts.subscribedBefore = Fact(true, source: .ledger, observedAt: .ago(days: 400))
        #expect(facts.unmet(.subscribedBefore, olderThan: RuleRow.now).isEmpty)
        facts.subscribedBefore = Fact(false, source: .ledger, observedAt: .ago(days: 400))
        #expect(facts.unmet(.subscribedBefore, olderThan: RuleRow.now) == .subscribedBefore)
    }

    @Test
    func `fills gaps from other facts, and never holds a part beside the whole`() {
        var stated = CustomerFacts()
        stated.status = .stated(.active)
        stated.offersUsed = .stated([])
        var known = CustomerFacts()
        known.status = .stated(.expired)
        known.expiresAt = .stated(.ago(days: 1))
        known.offersSeen = .stated([OfferUse(type: .promotional)])
        known.refundsSeen = .stated([.ago(days: 9)])
        known.refundsReportedSince = .stated(.ago(days: 99))
        let filled = stated.filled(from: known)
        #expect(filled.status?.value == .active)
        #expect(filled.expiresAt == known.expiresAt)
        #expect(filled.offersSeen == nil)
        #expect(filled.refundsSeen == known.refundsSeen && filled.refundsReportedSince == known.refundsReportedSince)
        stated.refundedAt = .stated([])
        #expect(stated.filled(from: known).refundsReportedSince == nil)
        #expect(known.filled(from: stated).offersSeen == nil)
    }
}
