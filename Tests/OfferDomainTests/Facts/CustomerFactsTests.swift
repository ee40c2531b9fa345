// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

struct CustomerFactsTests {
    private func facts(_ change: (inout CustomerFacts) -> Void) -> CustomerFacts {
        var facts = CustomerFacts()
        change(&facts)
        facts.addInferences()
        return facts
    }

    @Test(arguments: [SubscriptionStatus.active, .expired, .inGracePeriod, .inBillingRetry])
    func `takes who has a status for a subscriber, on the word of who stated it`(status: SubscriptionStatus) {
        let fact = Fact(status, source: .notification, observedAt: .ago(days: 3))
        let expected = Fact(true, source: .notification, observedAt: .ago(days: 3))
        #expect(facts { $0.status = fact }.subscribedBefore == expected)
    }

    @Test
    func `takes who has an end of a subscription for a subscriber`() {
        let end = Fact(Timestamp.ago(days: 1), source: .signedTransaction, observedAt: .ago(days: 9))
        #expect(facts { $0.expiresAt = end }.subscribedBefore?.value == true)
        #expect(facts { $0.expiresAt = end }.subscribedBefore?.source == .signedTransaction)
    }

    @Test
    func `draws nothing from family sharing, from a revoked subscription or from nothing`() {
        #expect(facts { _ in }.subscribedBefore == nil)
        #expect(facts { $0.status = .stated(.revoked) }.subscribedBefore == nil)
        let shared = facts {
            $0.status = .stated(.active)
            $0.ownership = .stated(.familyShared)
        }
        #expect(shared.subscribedBefore == nil)
    }

    @Test
    func `leaves what was stated`() {
        let stated = facts {
            $0.subscribedBefore = .stated(false)
            $0.status = .stated(.active)
        }
        #expect(stated.subscribedBefore == .stated(false))
    }
}
