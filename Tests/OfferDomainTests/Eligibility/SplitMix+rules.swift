// SPDX-License-Identifier: Apache-2.0
import TestSupport

@testable import OfferDomain

extension SplitMix {
    /// Any rule, nested at most so deep.
    mutating func rule(depth: Int) throws -> Rule {
        if depth > 0, chance(in: 2) {
            switch Int.random(in: 0..<3, using: &self) {
            case 0: return .not(try rule(depth: depth - 1))
            case 1: return .all(try rules(depth: depth - 1))
            default: return .any(try rules(depth: depth - 1))
            }
        }
        return chance(in: 2) ? try storeRule() : ledgerRule()
    }

    private mutating func rules(depth: Int) throws -> [Rule] {
        try (0..<Int.random(in: 1...3, using: &self)).map { _ in try rule(depth: depth) }
    }

    mutating func storeRule() throws -> Rule {
        let days = Int.random(in: 0...20, using: &self)
        switch Int.random(in: 0..<10, using: &self) {
        case 0: return .subscribedBefore(chance(in: 2))
        case 1: return .status(in: [pick(SubscriptionStatus.allCases), pick(SubscriptionStatus.allCases)])
        case 2: return .lapsed(atLeastDays: chance(in: 3) ? nil : days, atMostDays: chance(in: 2) ? nil : days + 5)
        case 3: return .autoRenew(chance(in: 2))
        case 4:
            let offer = chance(in: 2) ? nil : try OfferID(pick(["a", "b"]))
            let group = chance(in: 2) ? nil : try SubscriptionGroupID(pick(["20001", "20002"]))
            let type = chance(in: 2) ? nil : pick(OfferType.allCases)
            return .usedOffers(type: type, offer: offer, group: group, atMost: days % 3)
        case 5: return .storefront(in: [try Storefront(pick(["USA", "DEU"]))])
        case 6: return .region(in: [try Region(pick(["US", "DE"]))])
        case 7: return .ownership(pick(Ownership.allCases))
        case 8: return .refunded(withinDays: days + 1, atLeastPercent: chance(in: 2) ? nil : pick([30, 100]))
        default: return .environment(pick(StoreEnvironment.allCases))
        }
    }

    private mutating func ledgerRule() -> Rule {
        let days = Int.random(in: 1...20, using: &self)
        let perDays = chance(in: 3) ? nil : days
        switch Int.random(in: 0..<8, using: &self) {
        case 0:
            return .grants(
                atMost: Int.random(in: 1...3, using: &self),
                perDays: perDays,
                per: pick(GrantScope.allCases),
                counting: pick(GrantCounting.allCases)
            )
        case 1: return .cooldown(days: days, per: pick(GrantScope.allCases), counting: pick(GrantCounting.allCases))
        case 2: return .budget(atMost: Int.random(in: 1...9, using: &self), perDays: perDays)
        case 3:
            let from = chance(in: 3) ? nil : RuleRow.now.adding(days: days - 10)
            return .window(from: from, until: chance(in: 2) ? nil : RuleRow.now.adding(days: days))
        case 4: return .appOrigin(in: [pick(AppOrigin.allCases), pick(AppOrigin.allCases)])
        case 5: return .deviceIntegrity(atLeast: pick(DeviceIntegrity.allCases))
        case 6: return .appLicensed(chance(in: 2))
        default: return .attribute(name: "risk", attributeTest())
        }
    }

    private mutating func attributeTest() -> AttributeTest {
        switch Int.random(in: 0..<4, using: &self) {
        case 0: .equals(pick([.text("a"), .number(1), .boolean(true)]))
        case 1: .isIn([.text("a"), .number(1)])
        case 2: .range(atLeast: 0.5, atMost: chance(in: 2) ? nil : 1)
        default: .exists(chance(in: 2))
        }
    }

    /// Any customer; any fact about the customer may be unknown.
    mutating func context() throws -> EvaluationContext {
        var context = EvaluationContext(now: RuleRow.now)
        if !chance(in: 5) { context.facts = try facts() }
        if !chance(in: 3) {
            context.attributes =
                chance(in: 3) ? Attributes() : try Attributes(["risk": pick([.text("a"), .number(1)])])
        }
        if !chance(in: 4) { context.owners.insert(.customer) }
        if !chance(in: 3) { context.owners.insert(.originalTransaction) }
        context.grants.byCustomer = instants().sorted()
        context.grants.byOriginalTransaction = instants().sorted()
        if !chance(in: 4) {
            var redeemable = RedeemableGrants()
            redeemable.byCustomer = counted(context.grants.byCustomer)
            redeemable.byOriginalTransaction = counted(context.grants.byOriginalTransaction)
            context.grants.redeemable = redeemable
        }
        context.grants.offerGrantsPerDay = Set(instants().map(\.utcDay)).sorted().map {
            GrantHistory.DayCount(day: $0, count: Int.random(in: 1...4, using: &self))
        }
        return context
    }

    /// Some of these grants; some of them will be given back.
    private mutating func counted(_ grants: [Timestamp]) -> [CountedGrant] {
        grants.compactMap { grant in
            if chance(in: 3) { return nil }
            let end = RuleRow.now.adding(milliseconds: Int64.random(in: 1...4 * 86_400_000, using: &self))
            return CountedGrant(grantedAt: grant, releasedAt: chance(in: 2) ? nil : end)
        }
    }

    private mutating func facts() throws -> CustomerFacts {
        var facts = CustomerFacts()
        if !chance(in: 4) { facts.subscribedBefore = .stated(!chance(in: 4)) }
        if !chance(in: 4) { facts.status = .stated(pick(SubscriptionStatus.allCases)) }
        if !chance(in: 4) { facts.expiresAt = .stated(instant()) } else { facts.latestEndSeen = .stated(instant()) }
        if !chance(in: 4) { facts.autoRenews = .stated(chance(in: 2)) }
        if !chance(in: 4) { facts.refundedAt = .stated(refunds()) } else { facts.refundsSeen = .stated(refunds()) }
        if facts.refundsSeen != nil, chance(in: 2) { facts.refundsReportedSince = instants().first.map(Fact.stated) }
        if !chance(in: 4) { facts.storefront = .stated(try Storefront("USA")) }
        if !chance(in: 4) { facts.region = .stated(try Region("US")) }
        if !chance(in: 4) { facts.ownership = .stated(pick(Ownership.allCases)) }
        if !chance(in: 4) { facts.environment = .stated(pick(StoreEnvironment.allCases)) }
        if !chance(in: 4) { facts.app.origin = pick(AppOrigin.allCases) }
        if !chance(in: 4) { facts.app.device = pick(DeviceIntegrity.allCases) }
        if !chance(in: 4) { facts.app.isLicensed = chance(in: 2) }
        if !chance(in: 4) { facts.offersUsed = .stated(try uses()) } else { facts.offersSeen = .stated(try uses()) }
        return facts
    }

    private mutating func refunds() -> [Refund] {
        instants().map { Refund(at: $0, millipercent: pick([100_000, 40_000, 20_000, nil])) }
    }

    private mutating func uses() throws -> [OfferUse] {
        try instants().map {
            let type = pick(OfferType.allCases)
            let isNamed = type != .introductory && !chance(in: 3)
            return OfferUse(
                type: type,
                offerID: isNamed ? try OfferID(pick(["a", "b"])) : nil,
                usedAt: $0,
                subscriptionGroup: chance(in: 3) ? nil : try SubscriptionGroupID(pick(["20001", "20002"]))
            )
        }
    }

    private mutating func instants() -> [Timestamp] {
        (0..<Int.random(in: 0...4, using: &self)).map { _ in instant() }
    }

    /// An instant of the last thirty days.
    private mutating func instant() -> Timestamp {
        RuleRow.now.adding(milliseconds: -Int64.random(in: 0...30 * 86_400_000, using: &self))
    }
}
