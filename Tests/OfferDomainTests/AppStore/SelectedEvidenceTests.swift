// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import OfferDomain

/// A device chooses what it sends along, and must not gain a decision by what it leaves out.
struct SelectedEvidenceTests {
    @Test
    func `decides less and never otherwise when a device leaves signed data out`() throws {
        var random = SplitMix(seed: 41)
        var (decided, total) = (0, 0)
        for _ in 0..<1000 {
            let world = try random.customer()
            let whole = EvaluationContext(facts: try world.api.facts(), now: RuleRow.now)
            var selected = world
            selected.transactions = world.transactions.filter { _ in random.chance(in: 2) }
            // A renewal info counts only beside a transaction of its chain.
            let chains = Set(selected.transactions.map(\.originalTransactionID))
            selected.renewals = world.renewals.filter {
                chains.contains($0.originalTransactionID) && random.chance(in: 2)
            }
            let partial = EvaluationContext(facts: try selected.signed.facts(), now: RuleRow.now)
            for _ in 0..<8 {
                let rule = try random.storeRule()
                let (answer, truth) = (rule.evaluate(in: partial).answer, rule.evaluate(in: whole).answer)
                let difference = "\(answer), not \(truth):\n\(partial.facts.summary)\n\(whole.facts.summary)"
                #expect(answer == truth || answer == .undecided, "\(rule): \(difference)")
                total += 1
                if answer != .undecided { decided += 1 }
            }
        }
        #expect(decided * 5 > total)
    }
}

extension SplitMix {
    /// A customer with a history in the offer's group and perhaps one in another, all of it signed now.
    mutating func customer() throws -> StoreCustomer {
        var customer = StoreCustomer("anybody")
        try subscribe(&customer, chain: 100, group: "20001")
        if chance(in: 3) { try subscribe(&customer, chain: 900, group: "20002") }
        return customer
    }

    private mutating func subscribe(_ customer: inout StoreCustomer, chain: Int, group: String) throws {
        let outcome = pick(SubscriptionStatus.allCases)
        let isRunning = outcome == .active || outcome == .revoked
        var end = RuleRow.now.adding(days: isRunning ? pick([1, 20]) : -pick([1, 3, 12, 40]))
        let lastEnd = end
        let periods = Int.random(in: 1...6, using: &self)
        for index in (0..<periods).reversed() {
            let start = end.adding(days: -30)
            let wasRefunded = index == periods - 1 ? outcome == .revoked : chance(in: 6)
            try customer.transactions.append(
                Purchases.transaction(chain + index, of: chain, from: start, to: end) {
                    $0.subscriptionGroup = try SubscriptionGroupID(group)
                    $0.storefront = try Storefront(pick(["USA", "DEU"]))
                    if wasRefunded { $0.revokedAt = min(start.adding(days: 5), RuleRow.now) }
                    if chance(in: 2) {
                        $0.used(pick(OfferType.allCases), pick(["a", "b"]), pick(OfferDiscountType.allCases))
                    }
                    if chance(in: 4) { $0.reason = .known(.purchase) }
                }
            )
            end = chance(in: 3) ? start.adding(days: -pick([1, 20])) : start
        }
        customer.renewals.append(
            try Purchases.renewal(of: chain) {
                $0.renewsAt = lastEnd
                $0.autoRenews = chance(in: 2)
                $0.isInBillingRetry = outcome == .inBillingRetry || outcome == .inGracePeriod
                if outcome == .inGracePeriod { $0.gracePeriodExpiresAt = .ago(days: -2) }
                if outcome == .expired { $0.expirationIntent = .known(.cancelled) }
            }
        )
        customer = try customer.with(outcome, of: chain)
    }
}

extension CustomerFacts {
    /// What a failure is read by.
    fileprivate var summary: String {
        """
        status \(String(describing: status?.value)), end \(String(describing: expiresAt?.value)), seen \
        \(String(describing: latestEndSeen?.value)), refunds \(refundedAt?.value ?? refundsSeen?.value ?? []), uses \
        \((offersUsed?.value ?? offersSeen?.value ?? []).count), storefront \(String(describing: storefront?.value))
        """
    }
}
