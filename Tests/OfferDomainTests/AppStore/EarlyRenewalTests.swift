// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

/// What is signed around a renewal, and what it shows of the new period.
private struct EarlyRow: CustomTestStringConvertible {
    let testDescription: String
    let transactions: [AppStoreTransaction]
    let renewal: AppStoreRenewalInfo
    /// An instant at which the store said that the subscription is active.
    var statedAt: Timestamp?
    var days = 0
    let autoRenews: Bool?
    let source: FactSource?
}

/// Apple charges for a renewal up to a day before the period begins, and signs it right then.
struct EarlyRenewalTests {
    private static let charged = RuleRow.now.adding(hours: -2)
    private static let start = RuleRow.now.adding(hours: 10)
    private static let end = start.adding(days: 30)

    private static func before() throws -> AppStoreTransaction {
        try Purchases.transaction(1, from: start.adding(days: -30), to: start, signedAt: .ago(days: 20))
    }

    private static func renewed(
        signedAt: Timestamp = charged,
        where change: (inout AppStoreTransaction) -> Void = { _ in }
    ) throws -> AppStoreTransaction {
        try Purchases.transaction(2, from: start, to: end, signedAt: signedAt, where: change)
    }

    private static func off(
        _ signedAt: Timestamp,
        renewsAt: Timestamp? = end,
        _ product: String = "pro.monthly"
    ) throws -> AppStoreRenewalInfo {
        var renewal = try Purchases.renewal(signedAt: signedAt) {
            $0.renewsAt = renewsAt
            $0.autoRenews = false
        }
        renewal.productID = product
        return renewal
    }

    private static func rows() throws -> [EarlyRow] {
        let later = start.adding(days: 1)
        let bought = try renewed(signedAt: later) { $0.reason = .known(.purchase) }
        let upgraded = try Purchases.transaction(2, from: charged, to: end, signedAt: .ago(days: -1)) {
            $0.reason = .known(.purchase)
        }
        return [
            EarlyRow(
                testDescription: "what comes with it counts",
                transactions: [try before(), try renewed()],
                renewal: try off(charged),
                statedAt: charged,
                autoRenews: false,
                source: .notification
            ),
            EarlyRow(
                testDescription: "so does what is changed before the period begins",
                transactions: [try before(), try renewed()],
                renewal: try off(charged.adding(hours: 1), renewsAt: nil),
                statedAt: charged.adding(hours: 1),
                autoRenews: false,
                source: .notification
            ),
            EarlyRow(
                testDescription: "also when the transaction is signed again in the period",
                transactions: [try before(), try renewed(signedAt: later)],
                renewal: try off(charged),
                statedAt: charged,
                days: 2,
                autoRenews: false,
                source: .signedTransaction
            ),
            EarlyRow(
                testDescription: "a renewal info of the period before does not",
                transactions: [try before(), try renewed()],
                renewal: try off(charged.adding(hours: -1), renewsAt: start),
                statedAt: charged.adding(hours: -1),
                autoRenews: nil,
                source: .signedTransaction
            ),
            EarlyRow(
                testDescription: "nor one from before a purchase, which the store doesn't sign early",
                transactions: [bought],
                renewal: try off(charged),
                days: 2,
                autoRenews: nil,
                source: .signedTransaction
            ),
            EarlyRow(
                testDescription: "nor one of a longer period that was upgraded out of",
                transactions: [upgraded],
                renewal: try off(charged.adding(hours: -1), renewsAt: end.adding(days: 300), "basic.yearly"),
                days: 2,
                autoRenews: nil,
                source: .signedTransaction
            ),
            EarlyRow(
                testDescription: "nor after the next renewal",
                transactions: [try renewed(signedAt: later)],
                renewal: try off(charged, renewsAt: end.adding(days: 300), "basic.yearly"),
                days: 2,
                autoRenews: nil,
                source: .signedTransaction
            ),
        ]
    }

    @Test(arguments: try rows())
    fileprivate func `what is signed before a period begins is of that period if it knows of it`(row: EarlyRow) throws {
        var stated = SubscriptionEvidence(source: .notification, renewals: [row.renewal])
        if let instant = row.statedAt {
            stated.statuses = [
                SubscriptionEvidence.Status(
                    originalTransactionID: try TransactionID("1"),
                    status: .known(.active),
                    observedAt: instant
                )
            ]
        }
        let shown = SubscriptionEvidence(source: .signedTransaction, transactions: row.transactions)
        let facts = try SubscriptionHistory(stated, shown).facts(at: RuleRow.now.adding(days: row.days))
        #expect(facts.autoRenews?.value == row.autoRenews)
        #expect(facts.status?.value == .active)
        #expect(facts.status?.source == row.source)
        #expect(facts.expiresAt?.value == Self.end)
    }

    @Test func `an offer for the renewal after it is pending`() throws {
        let evidence = SubscriptionEvidence(
            source: .notification,
            transactions: [try Self.before(), try Self.renewed()],
            renewals: [
                try Purchases.renewal(signedAt: Self.charged) {
                    $0.renewsAt = Self.end
                    $0.offerType = .known(.promotional)
                    $0.offerID = "spring"
                }
            ]
        )
        #expect(SubscriptionHistory(evidence).redemptions(at: RuleRow.now).map(\.state) == [.pending])
    }
}
