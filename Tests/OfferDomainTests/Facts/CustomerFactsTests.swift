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
    func `counts a customer with a status as a subscriber, with the source of the status`(status: SubscriptionStatus) {
        let fact = Fact(status, source: .notification, observedAt: .ago(days: 3))
        let expected = Fact(true, source: .notification, observedAt: .ago(days: 3))
        #expect(facts { $0.status = fact }.subscribedBefore == expected)
    }

    @Test
    func `counts a customer with the end of a subscription as a subscriber`() {
        let end = Fact(Timestamp.ago(days: 1), source: .signedTransaction, observedAt: .ago(days: 9))
        #expect(facts { $0.expiresAt = end }.subscribedBefore?.value == true)
        #expect(facts { $0.expiresAt = end }.subscribedBefore?.source == .signedTransaction)
    }

    @Test
    func `concludes nothing from family sharing, from a revoked subscription or from no facts`() {
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

    @Test
    func `takes in everything that is stated, as of the instant at which it was`() throws {
        let instant = Timestamp.ago(days: 2)
        var values = StatedFacts()
        values.subscribedBefore = true
        values.status = .expired
        values.expiresAt = .ago(days: 9)
        values.autoRenews = false
        values.ownership = .familyShared
        values.environment = .sandbox
        values.storefront = try Storefront("DEU")
        values.region = try Region("DE")
        values.originalTransactionID = try TransactionID("2000000000000001")
        values.subscriptionGroup = try SubscriptionGroupID("20000001")
        values.refundedAt = [.ago(days: 20)]
        values.offersUsed = []
        let facts = CustomerFacts(values, at: instant)
        func stated<Value>(_ value: Value) -> Fact<Value> {
            Fact(value, source: .statedByCaller, observedAt: instant)
        }
        #expect(facts.subscribedBefore == stated(true))
        #expect(facts.status == stated(.expired))
        #expect(facts.expiresAt == stated(.ago(days: 9)))
        #expect(facts.autoRenews == stated(false))
        #expect(facts.ownership == stated(.familyShared))
        #expect(facts.environment == stated(.sandbox))
        #expect(facts.storefront == stated(try Storefront("DEU")))
        #expect(facts.region == stated(try Region("DE")))
        #expect(facts.originalTransactionID == stated(try TransactionID("2000000000000001")))
        #expect(facts.subscriptionGroup == stated(try SubscriptionGroupID("20000001")))
        #expect(facts.refundedAt == stated([.ago(days: 20)]))
        #expect(facts.offersUsed == stated([]))
    }
}
