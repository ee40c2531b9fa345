// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import OfferDomain

/// Promises that hold of any rule and any customer, tried on thousands made by a generator.
struct EligibilityPropertyTests {
    @Test
    func `decides less and never otherwise when a fact is taken away`() throws {
        var random = SplitMix(seed: 6)
        for _ in 0..<4000 {
            let rule = try random.rule(depth: 3)
            let context = try random.context()
            let before = rule.evaluate(in: context).answer
            let outcome = EligibilityPolicy(rule: rule).decide(context).outcome
            for (name, forget) in FactToForget.all {
                var poorer = context
                forget(&poorer)
                let after = rule.evaluate(in: poorer).answer
                #expect(after == before || after == .undecided, "\(rule) without \(name)")
                let poorerOutcome = EligibilityPolicy(rule: rule).decide(poorer).outcome
                #expect(poorerOutcome == outcome || poorerOutcome == .undecided, "\(rule) without \(name)")
            }
        }
    }

    @Test
    func `is eligible at the instant that it promises, and not before`() throws {
        var random = SplitMix(seed: 7)
        var promises = 0
        for _ in 0..<20_000 {
            let policy = EligibilityPolicy(rule: try random.rule(depth: 2))
            var context = try random.context()
            context.facts.subscribedBefore = .stated(true)
            let decision = policy.decide(context)
            guard let promised = decision.nextEligibleAt else { continue }
            promises += 1
            #expect(decision.outcome == .notEligible)
            #expect(promised > context.now)
            context.now = promised
            #expect(policy.decide(context).outcome == .eligible, "\(String(describing: policy.rule))")
            context.now = promised.adding(milliseconds: -1)
            #expect(policy.decide(context).outcome != .eligible, "\(String(describing: policy.rule))")
        }
        #expect(promises > 500)
    }

    @Test
    func `gives the same finding for the same question, with a sentence for every one`() throws {
        var random = SplitMix(seed: 8)
        for _ in 0..<4000 {
            let rule = try random.rule(depth: 3)
            let context = try random.context()
            let finding = rule.evaluate(in: context)
            #expect(finding == rule.evaluate(in: context))
            #expect(rule.name == finding.rule)
            #expect(Rule.names.contains(rule.name))
            #expect(!finding.because.isEmpty)
            #expect(finding.nextEligibleAt == nil || finding.answer == .notMet)
        }
    }

    @Test
    func `answers by the laws of De Morgan`() throws {
        var random = SplitMix(seed: 9)
        for _ in 0..<2000 {
            let rules = [try random.rule(depth: 2), try random.rule(depth: 2), try random.rule(depth: 1)]
            let context = try random.context()
            let neither = Rule.all(rules.map(Rule.not)).evaluate(in: context)
            let notAny = Rule.not(.any(rules)).evaluate(in: context)
            #expect(neither.answer == notAny.answer)
            #expect(neither.nextEligibleAt == notAny.nextEligibleAt)
        }
    }

    @Test
    func `survives every extreme that a rule could hold`() throws {
        var random = SplitMix(seed: 10)
        let extremes = [Int.min, -1, 0, 1, Int.max]
        for _ in 0..<500 {
            let (one, other) = (random.pick(extremes), random.pick(extremes))
            let rules: [Rule] = [
                .lapsed(atLeastDays: one, atMostDays: other), .grants(atMost: one, perDays: other),
                .cooldown(days: one), .budget(atMost: one, perDays: other), .refunded(withinDays: one),
                .usedOffers(type: nil, offer: nil, atMost: one),
            ]
            var context = try random.context()
            context.facts.expiresAt = .stated(Timestamp(milliseconds: Int64(other)))
            #expect(EligibilityPolicy(rule: .all(rules)).decide(context).findings.allSatisfy { !$0.because.isEmpty })
        }
    }
}

/// The facts, each with what it is to have none of it.
enum FactToForget {
    static var all: [(name: String, forget: (inout EvaluationContext) -> Void)] {
        [
            ("subscribedBefore", { $0.facts.subscribedBefore = nil }), ("status", { $0.facts.status = nil }),
            ("expiresAt", { $0.facts.expiresAt = nil }), ("autoRenews", { $0.facts.autoRenews = nil }),
            ("offersUsed", { $0.facts.offersUsed = nil }), ("refundedAt", { $0.facts.refundedAt = nil }),
            ("latestEndSeen", { $0.facts.latestEndSeen = nil }), ("offersSeen", { $0.facts.offersSeen = nil }),
            ("refundsSeen", { $0.facts.refundsSeen = nil }),
            ("since when refunds are known", { $0.facts.refundsReportedSince = nil }),
            ("that all uses are known", { $0.facts.forgetThatUsesAreAll() }),
            ("that all refunds are known", { $0.facts.forgetThatRefundsAreAll() }),
            ("storefront", { $0.facts.storefront = nil }), ("region", { $0.facts.region = nil }),
            ("ownership", { $0.facts.ownership = nil }), ("environment", { $0.facts.environment = nil }),
            ("origin of the app", { $0.facts.app.origin = nil }), ("device", { $0.facts.app.device = nil }),
            ("license", { $0.facts.app.isLicensed = nil }),
            ("attributes", { $0.attributes = nil }), ("owners", { $0.owners = [] }),
            ("customer", { $0.owners.remove(.customer) }),
            ("transaction", { $0.owners.remove(.originalTransaction) }),
            (
                "the offer of each use",
                { context in
                    guard let fact = context.facts.offersUsed else { return }
                    context.facts.offersUsed = .stated(
                        fact.value.map {
                            OfferUse(type: $0.type, usedAt: $0.usedAt, subscriptionGroup: $0.subscriptionGroup)
                        }
                    )
                }
            ),
            (
                "the group of each use",
                { context in
                    guard let fact = context.facts.offersUsed else { return }
                    context.facts.offersUsed = .stated(
                        fact.value.map { OfferUse(type: $0.type, offerID: $0.offerID, usedAt: $0.usedAt) }
                    )
                }
            ),
            (
                "everything",
                {
                    $0.facts = CustomerFacts()
                    $0.attributes = nil
                    $0.owners = []
                }
            ),
        ]
    }
}

extension CustomerFacts {
    fileprivate mutating func forgetThatUsesAreAll() {
        (offersSeen, offersUsed) = (offersUsed ?? offersSeen, nil)
    }

    fileprivate mutating func forgetThatRefundsAreAll() {
        (refundsSeen, refundedAt, refundsReportedSince) = (refundedAt ?? refundsSeen, nil, nil)
    }
}
