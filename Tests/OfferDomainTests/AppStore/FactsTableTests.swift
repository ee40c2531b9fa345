// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

/// By which way evidence comes.
enum Way: String, CaseIterable {
    case signedTransactions
    case api
    case notifications

    func history(of customer: StoreCustomer) -> SubscriptionHistory {
        switch self {
        case .signedTransactions: customer.signed
        case .api: customer.api
        case .notifications: customer.notified
        }
    }

    var source: FactSource {
        switch self {
        case .signedTransactions: .signedTransaction
        case .api: .storeAPI
        case .notifications: .notification
        }
    }
}

/// A customer, a way, and what must come of a win-back policy.
struct FactsRow: CustomTestStringConvertible {
    let customer: StoreCustomer
    let way: Way
    let status: SubscriptionStatus?
    let subscribedBefore: Bool?
    let outcome: Outcome
    /// Of the floor, `lapsed`, `refunded`, `usedOffers` and `ownership`.
    let codes: [FindingCode]

    var testDescription: String { "\(customer.name), from \(way.rawValue)" }

    /// The same row for each way; the codes of refunds and uses that only a whole history settles are given twice.
    static func rows(
        _ customer: StoreCustomer,
        _ status: SubscriptionStatus?,
        subscribedBefore: Bool?,
        _ outcomes: (partial: Outcome, whole: Outcome),
        floor: FindingCode,
        lapsed: FindingCode,
        refunded: (partial: FindingCode, whole: FindingCode),
        used: (partial: FindingCode, whole: FindingCode),
        ownership: FindingCode
    ) -> [FactsRow] {
        Way.allCases.map { way in
            let isWhole = way == .api
            return FactsRow(
                customer: customer,
                way: way,
                status: status,
                subscribedBefore: subscribedBefore,
                outcome: isWhole ? outcomes.whole : outcomes.partial,
                codes: [
                    floor, lapsed, isWhole ? refunded.whole : refunded.partial, isWhole ? used.whole : used.partial,
                    ownership,
                ]
            )
        }
    }
}

struct FactsTableTests {
    static let unknownUses: (partial: FindingCode, whole: FindingCode) = (
        .usedOffersUnknown, .usedOffersWithinLimit
    )
    static let unknownRefunds: (partial: FindingCode, whole: FindingCode) = (.refundsUnknown, .notRefunded)

    static func rows() throws -> [FactsRow] {
        let spent: (partial: FindingCode, whole: FindingCode) = (.usedOffersOverLimit, .usedOffersOverLimit)
        var rows = FactsRow.rows(
            try .lapsed(),
            .expired,
            subscribedBefore: true,
            (.undecided, .eligible),
            floor: .subscribedBefore,
            lapsed: .lapsed,
            refunded: unknownRefunds,
            used: unknownUses,
            ownership: .ownershipMatches
        )
        rows += FactsRow.rows(
            try .active(),
            .active,
            subscribedBefore: true,
            (.notEligible, .notEligible),
            floor: .subscribedBefore,
            lapsed: .notLapsed,
            refunded: unknownRefunds,
            used: unknownUses,
            ownership: .ownershipMatches
        )
        rows += FactsRow.rows(
            try .refunded(),
            .revoked,
            subscribedBefore: true,
            (.notEligible, .notEligible),
            floor: .subscribedBefore,
            lapsed: .notLapsed,
            refunded: (.refunded, .refunded),
            used: unknownUses,
            ownership: .ownershipMatches
        )
        rows += FactsRow.rows(
            try .familyShared(),
            .active,
            subscribedBefore: nil,
            (.notEligible, .notEligible),
            floor: .subscribedBeforeUnknown,
            lapsed: .notLapsed,
            refunded: unknownRefunds,
            used: unknownUses,
            ownership: .ownershipDiffers
        )
        rows += FactsRow.rows(
            try .inGracePeriod(),
            .inGracePeriod,
            subscribedBefore: true,
            (.notEligible, .notEligible),
            floor: .subscribedBefore,
            lapsed: .notLapsed,
            refunded: unknownRefunds,
            used: unknownUses,
            ownership: .ownershipMatches
        )
        rows += FactsRow.rows(
            try .inBillingRetry(),
            .inBillingRetry,
            subscribedBefore: true,
            (.notEligible, .notEligible),
            floor: .subscribedBefore,
            lapsed: .notLapsed,
            refunded: unknownRefunds,
            used: unknownUses,
            ownership: .ownershipMatches
        )
        rows += FactsRow.rows(
            try .upgraded(),
            .expired,
            subscribedBefore: true,
            (.notEligible, .notEligible),
            floor: .subscribedBefore,
            lapsed: .lapsed,
            refunded: unknownRefunds,
            used: spent,
            ownership: .ownershipMatches
        )
        rows += FactsRow.rows(
            try .twoGroups(),
            .expired,
            subscribedBefore: true,
            (.notEligible, .notEligible),
            floor: .subscribedBefore,
            lapsed: .lapsed,
            refunded: unknownRefunds,
            used: spent,
            ownership: .ownershipMatches
        )
        return rows + neverSubscribed
    }

    /// Silence shows nothing; only the store's word that there is no subscription does.
    static let neverSubscribed = Way.allCases.map { way in
        FactsRow(
            customer: .neverSubscribed,
            way: way,
            status: nil,
            subscribedBefore: way == .api ? false : nil,
            outcome: way == .api ? .notEligible : .undecided,
            codes: way == .api
                ? [
                    .neverSubscribed, .lapseStatusUnknown, .notRefunded, .usedOffersWithinLimit, .ownershipUnknown,
                ]
                : [
                    .subscribedBeforeUnknown, .lapseStatusUnknown, .refundsUnknown, .usedOffersUnknown,
                    .ownershipUnknown,
                ]
        )
    }

    static let policy = EligibilityPolicy(
        rule: .all([
            .lapsed(atLeastDays: 30, atMostDays: nil), .not(.refunded(withinDays: 90)),
            .usedOffers(type: .promotional, offer: nil, atMost: 0), .ownership(.purchased),
        ])
    )

    @Test(arguments: try rows())
    func `decides by what each way shows, and says why`(row: FactsRow) throws {
        let facts = try row.way.history(of: row.customer).facts()
        #expect(facts.status?.value == row.status)
        #expect(facts.subscribedBefore?.value == row.subscribedBefore)
        if facts.status != nil { #expect(facts.status?.source == row.way.source) }
        let decision = Self.policy.decide(EvaluationContext(facts: facts, now: RuleRow.now))
        #expect(decision.outcome == row.outcome)
        #expect(decision.findings.map { $0.children.first?.code ?? $0.code } == row.codes)
    }

    @Test(arguments: try rows())
    func `concludes the same from all ways together as from the one that shows most`(row: FactsRow) throws {
        let together = row.customer.signed.merged(with: row.customer.notified).merged(with: row.customer.api)
        let context = EvaluationContext(facts: try together.facts(), now: RuleRow.now)
        let best = EvaluationContext(facts: try row.customer.api.facts(), now: RuleRow.now)
        #expect(Self.policy.decide(context) == Self.policy.decide(best))
    }
}
