// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Testing

/// Every undecided finding says what to send.
struct UndecidedAdviceTests {
    /// A rule of each kind that something unknown leaves undecided.
    static func rules() throws -> [Rule] {
        [
            .subscribedBefore(true), .status(in: [.active]), .lapsed(atLeastDays: 1, atMostDays: nil), .autoRenew(true),
            .usedOffers(type: .winBack, offer: nil, atMost: 0), .grants(atMost: 1),
            .grants(atMost: 1, per: .originalTransaction), .cooldown(days: 1), .storefront(in: [try Storefront("USA")]),
            .region(in: [try Region("US")]), .ownership(.purchased), .refunded(withinDays: 1),
            .environment(.production), .appOrigin(in: [.appStore]), .deviceIntegrity(atLeast: .strong),
            .appLicensed(true), .attribute(name: "tier", .exists(true)),
            .all([.status(in: [.active])]), .any([.status(in: [.active])]), .not(.status(in: [.active])),
        ]
    }

    @Test(arguments: try rules())
    func `names a member of the request`(rule: Rule) {
        let finding = rule.evaluate(in: .about { $0.owners = [] })
        #expect(finding.answer == .undecided)
        #expect(finding.because.contains(#/send|sends/#), "\(finding.because)")
        let names = #/facts\.[a-zA-Z]+|attributes\.[a-z]+|customerId|what that asks for/#
        #expect(finding.because.contains(names), "\(finding.because)")
    }

    @Test func `a lapse without an end asks for the end`() {
        let finding = Rule.lapsed(atLeastDays: 1, atMostDays: nil).evaluate(
            in: .about { $0.facts.status = .stated(.expired) }
        )
        #expect(finding.code == .lapseExpiryUnknown && finding.because.contains("facts.expiresAt"))
    }

    @Test func `a cap says by which names it counted, and one on purchases by these alone`() {
        let names: CountedNames = [.customerID, .originalTransactionID]
        #expect(names.names == ["customerId", "originalTransactionId"])
        func counted(_ rule: Rule) -> [String] {
            let policy = EligibilityPolicy(rule: rule, hasFloor: false)
            let context = EvaluationContext.about {
                $0.owners = [.customer, .originalTransaction]
                $0.grants.byCustomer = [.ago(days: 1)]
                $0.grants.byOriginalTransaction = [.ago(days: 1)]
            }
            let decision = policy.decide(context)
            #expect(decision.hasReachedCap)
            return decision.counted(by: names, redeemed: [.anonymousID, .purchaseToken]).findings.flatMap {
                $0.countedBy.names
            }
        }
        #expect(counted(.grants(atMost: 1)) == names.names)
        #expect(counted(.cooldown(days: 5)) == names.names)
        #expect(counted(.grants(atMost: 1, counting: .redeemed)) == ["anonymousId", "purchaseToken"])
        #expect(counted(.cooldown(days: 5, per: .originalTransaction, counting: .redeemed)) == ["purchaseToken"])
        #expect(counted(.grants(atMost: 1, per: .originalTransaction)) == ["originalTransactionId"])
    }
}
