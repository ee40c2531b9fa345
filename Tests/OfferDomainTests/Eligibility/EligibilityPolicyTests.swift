// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

struct EligibilityPolicyTests {
    private func subscriber(_ subscribed: Bool?) -> EvaluationContext {
        .about { $0.facts.subscribedBefore = subscribed.map { .stated($0) } }
    }

    @Test(arguments: [
        (Bool?.some(true), Answer.met, Outcome.eligible), (false, .notMet, .notEligible), (nil, .undecided, .undecided),
    ])
    func `states the App Store's floor first, rule or no rule`(
        subscribed: Bool?,
        answer: Answer,
        outcome: Outcome
    ) throws {
        for rule in [nil, Rule.window(from: RuleRow.now, until: nil)] {
            let decision = EligibilityPolicy(rule: rule).decide(subscriber(subscribed))
            let floor = try #require(decision.findings.first)
            #expect(floor.rule == "appStoreFloor")
            #expect(floor.answer == answer)
            #expect(floor.because.hasSuffix("; the App Store gives such offers to current and past subscribers only"))
            #expect(decision.outcome == outcome)
        }
    }

    @Test(arguments: [
        Rule.subscribedBefore(false), .any([.subscribedBefore(false), .window(from: RuleRow.now, until: nil)]),
        .not(.subscribedBefore(true)), .window(from: RuleRow.now, until: nil), .all([]),
    ])
    func `gives nothing to who never subscribed, whatever the rule`(rule: Rule) {
        #expect(rule.evaluate(in: subscriber(false)).answer == .met)
        #expect(EligibilityPolicy(rule: rule).decide(subscriber(false)).outcome == .notEligible)
        #expect(EligibilityPolicy(rule: rule).decide(subscriber(nil)).outcome != .eligible)
    }

    @Test(arguments: [(OfferType.promotional, true), (.winBack, true), (.introductory, false), (.offerCode, false)])
    func `has the floor for the offers that Apple keeps for subscribers`(type: OfferType, hasFloor: Bool) {
        let decision = EligibilityPolicy(rule: nil, offerType: type).decide(subscriber(false))
        #expect(decision.outcome == (hasFloor ? .notEligible : .eligible))
        #expect(decision.findings.count == (hasFloor ? 1 : 0))
    }

    @Test
    func `asks the App Store's own question of introductory offers, unless a rule asks another`() throws {
        let group = try SubscriptionGroupID("20001")
        let own = EligibilityPolicy.introductoryOffer(rule: nil, in: group)
        #expect(own.factNeeds == .offersUsed)
        #expect(own.issues.isEmpty)
        let trial = OfferUse(type: .introductory, subscriptionGroup: group)
        let context = EvaluationContext.about { $0.facts.offersUsed = .stated([trial]) }
        #expect(own.decide(context).outcome == .notEligible)
        #expect(own.decide(.about { $0.facts.offersUsed = .stated([]) }).outcome == .eligible)
        #expect(own.decide(.about { $0.facts.subscribedBefore = .stated(false) }).outcome == .undecided)
        let again = EligibilityPolicy.introductoryOffer(rule: .window(from: RuleRow.now, until: nil), in: group)
        #expect(again.decide(context).outcome == .eligible)
        #expect(EligibilityPolicy.introductoryOffer(rule: .subscribedBefore(false), in: group).issues.isEmpty)
    }

    @Test
    func `decides against where a rule is against, even if another is undecided`() {
        let decision = EligibilityPolicy(rule: .all([.autoRenew(true), CombinationTests.rule(.notMet)]))
            .decide(subscriber(true))
        #expect(decision.outcome == .notEligible)
        #expect(decision.findings.map(\.answer) == [.met, .undecided, .notMet])
    }

    @Test
    func `lists the parts of an all beside the floor, and an any as one`() {
        let all = EligibilityPolicy(rule: .all([CombinationTests.opens(1), .autoRenew(true)])).decide(subscriber(true))
        #expect(all.findings.map(\.rule) == ["appStoreFloor", "window", "autoRenew"])
        let any = EligibilityPolicy(rule: .any([CombinationTests.opens(1), .autoRenew(true)])).decide(subscriber(true))
        #expect(any.findings.map(\.rule) == ["appStoreFloor", "any"])
        #expect(any.findings[1].children.map(\.rule) == ["window", "autoRenew"])
    }

    @Test(arguments: [
        (Rule.all([CombinationTests.opens(3), CombinationTests.opens(5)]), Int?.some(5)),
        (.all([CombinationTests.opens(3), CombinationTests.closes(2)]), nil),
        (.any([.all([CombinationTests.opens(3), CombinationTests.closes(2)]), CombinationTests.opens(9)]), 9),
        (.all([CombinationTests.opens(3), .autoRenew(true)]), nil),
        (.autoRenew(true), nil),
    ])
    func `promises no instant at which it would refuse again`(rule: Rule, days: Int?) {
        let decision = EligibilityPolicy(rule: rule).decide(subscriber(true))
        #expect(decision.nextEligibleAt == days.map { RuleRow.now.adding(days: $0) })
    }

    /// An answer that is kept is asked for again no later than that.
    @Test(arguments: [
        (Rule.all([CombinationTests.opens(5), CombinationTests.opens(3)]), Int?.some(3)),
        (.any([CombinationTests.opens(9), CombinationTests.closes(2)]), 2),
        (.all([CombinationTests.opens(7), .any([CombinationTests.opens(4), .autoRenew(true)])]), 4),
        (.autoRenew(true), nil),
    ])
    func `returns when the first rule changes its answer`(rule: Rule, days: Int?) {
        let decision = EligibilityPolicy(rule: rule).decide(subscriber(true))
        #expect(decision.firstTurn(after: RuleRow.now) == days.map { RuleRow.now.adding(days: $0) })
    }

    @Test
    func `promises no date to a customer who is not known to have subscribed`() {
        #expect(EligibilityPolicy(rule: CombinationTests.opens(3)).decide(subscriber(false)).nextEligibleAt == nil)
        #expect(EligibilityPolicy(rule: CombinationTests.opens(3)).decide(subscriber(nil)).nextEligibleAt == nil)
    }
}
