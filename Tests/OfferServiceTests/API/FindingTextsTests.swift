// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import Testing

@testable import Ledger

struct FindingTextsTests {
    private static let now = Timestamp(milliseconds: 1_760_000_000_000)
    private static let day: Int64 = 86_400_000

    private static func offer() throws -> CatalogOffer {
        CatalogOffer(
            id: try CatalogOfferID("winback"),
            listing: AppStoreListing(
                bundleID: try BundleID("com.example.app"),
                productID: try ProductID("pro.monthly"),
                subscriptionGroupID: nil,
                offerID: try OfferID("winback")
            ),
            terms: OfferTerms(
                rule: .all([
                    .grants(atMost: 2), .lapsed(atLeastDays: 30, atMostDays: nil), .budget(atMost: 1000, perDays: 1),
                    .any([.autoRenew(false), .grants(atMost: 0)]), .ownership(.purchased),
                    .grants(atMost: 2, counting: .redeemed), .cooldown(days: 3, counting: .redeemed),
                ])
            )
        )
    }

    /// Customers with different findings: they differ in the answer, in the length, or in a number.
    private static func customers() throws -> [EvaluationContext] {
        var customers: [EvaluationContext] = []
        for lapsedDays in [nil, 0, 9, 29, 30, 101] as [Int?] {
            for grants in [0, 1, 2, 12] { customers.append(try customer(lapsedDays, grants)) }
        }
        return customers
    }

    private static func customer(_ lapsedDays: Int?, _ grants: Int) throws -> EvaluationContext {
        var history = GrantHistory()
        for place in 0..<grants {
            history.byCustomer.append(Timestamp(milliseconds: now.milliseconds - Int64(grants - place)))
        }
        history.offerGrantsPerDay = [.init(day: now.utcDay, count: 7 * grants * (lapsedDays ?? 40))]
        let end: Timestamp? = lapsedDays.map { Timestamp(milliseconds: now.milliseconds - Int64($0) * day) }
        var stated = StatedFacts()
        stated.subscribedBefore = lapsedDays == 0 ? false : nil
        stated.status = lapsedDays.map { $0 == 0 ? .active : .expired }
        stated.expiresAt = end
        stated.autoRenews = grants == 1 ? nil : grants == 0
        stated.ownership = lapsedDays == 9 ? .familyShared : .purchased
        let facts = CustomerFacts(stated, at: now)
        return EvaluationContext(facts: facts, owners: .customer, grants: history, now: now)
    }

    @Test func `the findings of a customer do not depend on earlier requests`() throws {
        let (asked, customers) = (try Self.offer(), try Self.customers())
        var answers = Set<[UInt8]>()
        // Each customer comes after many others.
        for round in 0..<customers.count {
            for number in customers.indices {
                let context = customers[(number * (round + 1) + round) % customers.count]
                let decision = asked.policy.decide(context)
                let first = DecisionJSON(decision, of: try Self.offer(), policyName: "p").bytes
                #expect(DecisionJSON(decision, of: asked, policyName: "p").bytes == first)
                answers.insert(first)
            }
        }
        #expect(answers.count > customers.count / 2)
    }
}
