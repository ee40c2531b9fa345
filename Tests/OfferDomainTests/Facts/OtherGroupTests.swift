// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Testing

/// Facts of a subscription in one group, where another group is asked about.
struct OtherGroupTests {
    private static func facts(of group: String?) throws -> CustomerFacts {
        func fact<Value>(_ value: Value) -> Fact<Value> {
            Fact(value, source: .statedByCaller, observedAt: Timestamp(milliseconds: 0))
        }
        var facts = CustomerFacts()
        facts.subscribedBefore = fact(true)
        facts.status = fact(.expired)
        facts.expiresAt = fact(Timestamp(milliseconds: 0))
        facts.autoRenews = fact(false)
        facts.ownership = fact(.purchased)
        facts.environment = fact(.production)
        facts.region = fact(try Region("US"))
        facts.originalTransactionID = fact(try TransactionID("1"))
        facts.offersUsed = fact([])
        facts.refundedAt = fact([])
        if let group { facts.subscriptionGroup = fact(try SubscriptionGroupID(group)) }
        return facts
    }

    @Test
    func `drops the subscription's facts for another group, and keeps the app's facts`() throws {
        var expected = try Self.facts(of: nil)
        (expected.status, expected.expiresAt, expected.autoRenews, expected.ownership) = (nil, nil, nil, nil)
        let asked = try Self.facts(of: "1").asked(of: try SubscriptionGroupID("2"))
        #expect(asked == expected)
        #expect(asked.asked(of: try SubscriptionGroupID("2")) == expected)
    }

    @Test(arguments: [("1", "1"), ("1", nil), (nil, "1"), (nil, nil)])
    func `everything stays where the groups are not known to differ`(known: String?, asked: String?) throws {
        let facts = try Self.facts(of: known)
        #expect(facts.asked(of: try asked.map { try SubscriptionGroupID($0) }) == facts)
    }
}
