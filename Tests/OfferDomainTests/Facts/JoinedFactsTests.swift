// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import OfferDomain

/// What is known of one customer in two stores, put together.
struct JoinedFactsTests {
    /// The states of a subscription in a store, by a short name.
    private static let states: [(name: String, facts: CustomerFacts)] = {
        func facts(_ status: SubscriptionStatus?, endedDaysAgo days: Int?) -> CustomerFacts {
            var facts = CustomerFacts()
            facts.hasSubscription = true
            facts.subscribedBefore = .stated(true)
            facts.status = status.map(Fact.stated)
            facts.expiresAt = days.map { .stated(.ago(days: $0)) }
            return facts
        }
        return [
            ("none", CustomerFacts()), ("may run", facts(nil, endedDaysAgo: nil)),
            ("active", facts(.active, endedDaysAgo: -9)), ("in trouble", facts(.inBillingRetry, endedDaysAgo: 1)),
            ("expired 60", facts(.expired, endedDaysAgo: 60)), ("expired 10", facts(.expired, endedDaysAgo: 10)),
            ("expired", facts(.expired, endedDaysAgo: nil)), ("revoked", facts(.revoked, endedDaysAgo: 3)),
        ]
    }()

    private static func facts(_ name: String) throws -> CustomerFacts {
        try #require(states.first { $0.name == name }).facts
    }

    /// What "lapsed for 30 days" and "is active" answer for a customer with these states in two stores.
    struct Row: CustomTestStringConvertible, Sendable {
        let one: String
        let other: String
        let lapsed: Answer
        let active: Answer

        init(_ one: String, _ other: String, lapsed: Answer, active: Answer) {
            (self.one, self.other, self.lapsed, self.active) = (one, other, lapsed, active)
        }

        var testDescription: String { "\(one) and \(other)" }
    }

    @Test(arguments: [
        Row("none", "none", lapsed: .undecided, active: .undecided),
        Row("none", "may run", lapsed: .undecided, active: .undecided),
        Row("none", "active", lapsed: .notMet, active: .met),
        Row("none", "expired 60", lapsed: .met, active: .notMet),
        Row("may run", "may run", lapsed: .undecided, active: .undecided),
        Row("may run", "active", lapsed: .notMet, active: .met),
        Row("may run", "expired 60", lapsed: .undecided, active: .undecided),
        Row("may run", "in trouble", lapsed: .notMet, active: .undecided),
        Row("active", "expired 60", lapsed: .notMet, active: .met),
        Row("in trouble", "expired 60", lapsed: .notMet, active: .notMet),
        Row("expired 60", "expired 10", lapsed: .notMet, active: .notMet),
        Row("expired 60", "expired", lapsed: .undecided, active: .notMet),
        Row("expired 60", "revoked", lapsed: .notMet, active: .notMet),
    ])
    func `a customer is as lapsed as in the store where the subscription is most alive`(row: Row) throws {
        let (one, other) = (try Self.facts(row.one), try Self.facts(row.other))
        for joined in [one.joined(with: other), other.joined(with: one)] {
            let context = EvaluationContext.about { $0.facts = joined }
            let lapsed = Rule.lapsed(atLeastDays: 30, atMostDays: nil).evaluate(in: context).answer
            #expect(lapsed == row.lapsed)
            #expect(Rule.status(in: [.active]).evaluate(in: context).answer == row.active)
        }
    }

    @Test(
        arguments: [
            (true, nil, true), (nil, true, true), (false, true, true), (true, false, true), (false, false, false),
            (nil, false, nil), (false, nil, nil), (nil, nil, nil),
        ] as [(Bool?, Bool?, Bool?)]
    )
    func `there was no subscription in either store only if that is known of both`(
        one: Bool?,
        other: Bool?,
        joined: Bool?
    ) {
        func facts(_ subscribed: Bool?) -> CustomerFacts {
            var facts = CustomerFacts()
            facts.subscribedBefore = subscribed.map(Fact.stated)
            return facts
        }
        #expect(facts(one).joinedWithPast(of: facts(other)).subscribedBefore?.value == joined)
    }

    /// Facts of one store; each of them may become too old.
    private static func some(_ random: inout SplitMix) -> CustomerFacts {
        guard !random.chance(in: 5) else { return CustomerFacts() }
        var facts = states[Int.random(in: 1..<states.count, using: &random)].facts
        facts.autoRenews = .stated(random.chance(in: 2))
        facts.ownership = .stated(random.pick(Ownership.allCases))
        facts.offersUsed = .stated(random.chance(in: 2) ? [] : [OfferUse(type: .promotional)])
        facts.refundedAt = .stated(random.chance(in: 2) ? [] : [.ago(days: 4)])
        return facts
    }

    @Test
    func `a fact that grew too old in either store never turns an answer into its opposite`() throws {
        var random = SplitMix(seed: 77)
        var forgotten = 0
        for _ in 0..<20_000 {
            let (one, other) = (Self.some(&random), Self.some(&random))
            let isOne = random.chance(in: 2)
            let poorOne = isOne ? one.forgetting { _, _ in true } : one
            let poorOther = isOne ? other : other.forgetting { _, _ in true }
            let rule = try random.storeRule()
            let rich = rule.evaluate(in: .about { $0.facts = one.joined(with: other) }).answer
            let poor = rule.evaluate(in: .about { $0.facts = poorOne.joined(with: poorOther) }).answer
            #expect(poor == rich || poor == .undecided, "\(rule): \(one) and \(other)")
            if poor != rich { forgotten += 1 }
        }
        #expect(forgotten > 500, "the property is tried where it matters")
    }

    @Test func `a region or storefront that is too old answers nothing`() throws {
        var facts = CustomerFacts()
        (facts.region, facts.storefront) = (.stated(try Region("KR")), .stated(try Storefront("KOR")))
        facts = facts.forgetting { _, _ in true }
        #expect(facts.region == nil && facts.storefront == nil)
    }

    @Test
    func `lists are whole only if no store has more than was seen of it`() {
        var whole = CustomerFacts()
        (whole.offersUsed, whole.refundedAt) = (.stated([]), .stated([]))
        var part = CustomerFacts()
        part.leaveListsOpen(at: RuleRow.now)
        for joined in [whole.joined(with: part), part.joined(with: whole)] {
            #expect(joined.offersUsed == nil && joined.offersSeen?.value == [])
            #expect(joined.refundedAt == nil && joined.refundsSeen?.value == [])
        }
        #expect(whole.joined(with: CustomerFacts()).refundedAt?.value == [])
        part.refundsReportedSince = .stated(.ago(days: 90))
        var later = part
        later.refundsReportedSince = .stated(.ago(days: 80))
        #expect(whole.joined(with: part).refundsReportedSince?.value == .ago(days: 90))
        #expect(part.joined(with: CustomerFacts()).refundsReportedSince?.value == .ago(days: 90))
        for (one, other) in [(part, later), (later, part)] {
            #expect(one.joined(with: other).refundsReportedSince?.value == .ago(days: 80))
        }
        later.refundsReportedSince = nil
        #expect(
            part.joined(with: later).refundsReportedSince == nil && later.joined(with: part).refundsReportedSince == nil
        )
        #expect(part.open(at: RuleRow.now).refundsReportedSince == nil)
        whole.leaveListsOpen(at: RuleRow.now)
        #expect(whole.offersSeen == nil && whole.refundsSeen == nil, "what is known is known")
    }

    @Test
    func `while a store may still report more, only what is certain decides`() throws {
        for (name, facts) in Self.states {
            let context = EvaluationContext.about { $0.facts = facts.open(at: RuleRow.now) }
            let active = Rule.status(in: [.active]).evaluate(in: context).answer
            #expect(active == (name == "active" ? .met : .undecided), "\(name)")
        }
        var facts = CustomerFacts()
        facts.subscribedBefore = .stated(false)
        facts.offersUsed = .stated([])
        facts.refundedAt = .stated([])
        let open = facts.open(at: RuleRow.now)
        #expect(open.subscribedBefore == nil && open.offersUsed == nil && open.refundedAt == nil)
        #expect(facts.joined(with: CustomerFacts().open(at: RuleRow.now)).refundedAt == nil, "none is known of both")
    }
}
