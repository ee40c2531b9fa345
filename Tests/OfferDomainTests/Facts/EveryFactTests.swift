// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

/// The lists of facts that are kept by hand, held to the members of ``CustomerFacts``: a new member belongs in each of them.
struct EveryFactTests {
    /// Facts with every member set.
    private static func all() throws -> CustomerFacts {
        var facts = CustomerFacts()
        facts.subscribedBefore = .stated(true)
        facts.hasSubscription = true
        (facts.status, facts.isActive) = (.stated(.active), .stated(true))
        (facts.expiresAt, facts.latestEndSeen) = (.stated(RuleRow.now), .stated(RuleRow.now))
        (facts.autoRenews, facts.cancelledAt) = (.stated(false), .stated(RuleRow.now))
        (facts.renewsTo, facts.expirationIntent) = (.stated(try ProductID("pro")), .stated(.billingError))
        (facts.offersUsed, facts.offersSeen) = (.stated([]), .stated([]))
        (facts.refundedAt, facts.refundsSeen) = (.stated([]), .stated([]))
        facts.refundsReportedSince = .stated(RuleRow.now)
        facts.eligibleWinBackOffers = .stated([])
        facts.appleWinBackEligible = .stated(false)
        (facts.billingPlan, facts.priceStepUpConsent) = (.stated(.monthly), .stated(.pending))
        (facts.commitmentEndsAt, facts.commitmentPeriod) = (.stated(RuleRow.now), .stated(3))
        (facts.storefront, facts.region) = (.stated(try Storefront("USA")), .stated(try Region("US")))
        (facts.ownership, facts.environment) = (.stated(.purchased), .stated(.production))
        facts.app = AppFacts(origin: .appStore, device: .strong, isLicensed: true)
        facts.originalTransactionID = .stated(try TransactionID("7"))
        facts.subscriptionGroup = .stated(try SubscriptionGroupID("1"))
        (facts.statusesReadAt, facts.historyReadAt) = (RuleRow.now, RuleRow.now)
        return facts
    }

    /// The names of the members that say something.
    private static func names(_ facts: CustomerFacts) -> Set<String> {
        let nothing = Dictionary(
            uniqueKeysWithValues: Mirror(reflecting: CustomerFacts()).children.map { ($0.label ?? "", "\($0.value)") }
        )
        return Set(
            Mirror(reflecting: facts).children.compactMap { "\($0.value)" == nothing[$0.label ?? ""] ? nil : $0.label }
        )
    }

    private static let every = Set(Mirror(reflecting: CustomerFacts()).children.compactMap(\.label))
    /// Known only where the whole list is not.
    private static let partial: Set<String> = ["latestEndSeen", "offersSeen", "refundsSeen", "refundsReportedSince"]
    private static let whole: Set<String> = ["expiresAt", "offersUsed", "refundedAt"]
    /// Of one subscription, and so of one group.
    private static let ofSubscription: Set<String> = [
        "hasSubscription", "status", "isActive", "expiresAt", "latestEndSeen", "autoRenews", "cancelledAt", "renewsTo",
        "expirationIntent", "billingPlan", "priceStepUpConsent", "commitmentEndsAt", "commitmentPeriod", "ownership",
        "subscriptionGroup",
    ]
    /// True however long ago they were observed, or no facts of a store.
    private static let lasting: Set<String> = [
        "subscribedBefore", "hasSubscription", "latestEndSeen", "offersSeen", "refundsSeen", "environment", "app",
        "originalTransactionID", "subscriptionGroup", "statusesReadAt", "historyReadAt",
    ]

    @Test func `these tests set every fact`() throws {
        #expect(Self.names(try Self.all()) == Self.every)
    }

    @Test func `fills in missing facts, except the fact of the app, which only the request states`() throws {
        var facts = try Self.all()
        let filled = CustomerFacts().filled(from: facts)
        #expect(Self.names(filled) == Self.every.subtracting(Self.partial).subtracting(["app"]))
        (facts.expiresAt, facts.offersUsed, facts.refundedAt) = (nil, nil, nil)
        #expect(
            Self.names(CustomerFacts().filled(from: facts)) == Self.every.subtracting(Self.whole).subtracting(["app"])
        )
        #expect(try Self.all().filled(from: CustomerFacts()).status != nil)
    }

    @Test func `a fact of a subscription does not count where another group is asked about`() throws {
        let asked = try Self.all().asked(of: try SubscriptionGroupID("2"))
        #expect(Self.names(asked) == Self.every.subtracting(Self.ofSubscription))
        #expect(Self.names(try Self.all().asked(of: try SubscriptionGroupID("1"))) == Self.every)
    }

    @Test func `a fact grows too old unless it lasts`() throws {
        #expect(Self.names(try Self.all().forgetting { _, _ in true }) == Self.lasting)
        #expect(
            Self.names(try Self.all().forgetting { _, _ in false })
                == Self.every.subtracting(["offersSeen", "refundsSeen"]).union(Self.partial)
        )
    }

    @Test func `each fact that a rule reads is missing, observed and asked of some store`() throws {
        let rules =
            try UndecidedAdviceTests.rules() + PlanRuleTests.rows.map(\.rule) + SDKRuleTests.rows.map(\.rule)
            + [.renewsTo(in: [try ProductID("pro")])]
        let read = rules.reduce(FactNeeds()) { $0.union($1.factNeeds) }
        let needs = (0..<32).map { FactNeeds(rawValue: 1 << $0) }.filter(read.contains)
        #expect(needs.count == 17)
        let known = FactNeeds.fromStatuses.union(.fromHistory).union([.region, .cancellation, .priceStepUpConsent])
        let all = try Self.all()
        for need in needs {
            #expect(!CustomerFacts().isComplete(for: need) && all.isComplete(for: need), "\(need)")
            #expect(known.contains(need), "\(need): no response of a store contains it")
        }
    }
}
