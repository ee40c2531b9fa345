// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

/// A customer as the App Store knows them, and what each source of evidence shows.
struct StoreCustomer: CustomTestStringConvertible {
    let name: String
    var transactions: [AppStoreTransaction] = []
    /// By chain, the newest.
    var renewals: [AppStoreRenewalInfo] = []
    var statuses: [SubscriptionEvidence.Status] = []

    var testDescription: String { name }

    /// The last transaction of each chain, as Get All Subscription Statuses and a notification have it.
    private var last: [AppStoreTransaction] {
        Dictionary(grouping: transactions, by: \.originalTransactionID).values.compactMap { chain in
            chain.max { $0.purchasedAt < $1.purchasedAt }
        }
    }

    /// What an honest app sends along: all that StoreKit has on the device.
    var signed: SubscriptionHistory {
        SubscriptionHistory(
            SubscriptionEvidence(source: .signedTransaction, transactions: transactions, renewals: renewals)
        )
    }

    /// Statuses and the whole history, asked for now.
    var api: SubscriptionHistory {
        var present = SubscriptionEvidence(
            source: .storeAPI,
            transactions: last,
            renewals: renewals,
            statuses: statuses
        )
        present.statusesReadAt = RuleRow.now
        return SubscriptionHistory(
            present,
            SubscriptionEvidence(source: .storeAPI, transactions: transactions, historyReadAt: RuleRow.now)
        )
    }

    /// One notification for each transaction when it was new, and one for the present state.
    var notified: SubscriptionHistory {
        var history = SubscriptionHistory()
        for transaction in transactions {
            history.merge(
                SubscriptionHistory(SubscriptionEvidence(source: .notification, transactions: [transaction]))
            )
        }
        history.merge(
            SubscriptionHistory(
                SubscriptionEvidence(
                    source: .notification,
                    transactions: last,
                    renewals: renewals,
                    statuses: statuses
                )
            )
        )
        return history
    }

    init(_ name: String, _ transactions: [AppStoreTransaction] = [], _ renewal: AppStoreRenewalInfo? = nil) {
        self.name = name
        self.transactions = transactions
        renewals = renewal.map { [$0] } ?? []
    }

    func with(_ status: SubscriptionStatus, of chain: Int = 1) throws -> StoreCustomer {
        var customer = self
        customer.statuses.append(
            SubscriptionEvidence.Status(
                originalTransactionID: try TransactionID("\(chain)"),
                status: .known(status),
                observedAt: RuleRow.now
            )
        )
        return customer
    }
}

// MARK: - The customers

extension StoreCustomer {
    static func lapsed() throws -> StoreCustomer {
        try StoreCustomer(
            "lapsed",
            [
                Purchases.transaction(1, from: .ago(days: 101), to: .ago(days: 71)),
                Purchases.transaction(2, from: .ago(days: 71), to: .ago(days: 41)),
            ],
            Purchases.renewal {
                $0.autoRenews = false
                $0.expirationIntent = .known(.cancelled)
                $0.renewsAt = .ago(days: 41)
            }
        ).with(.expired)
    }

    static func active() throws -> StoreCustomer {
        try StoreCustomer(
            "active",
            [
                Purchases.transaction(1, from: .ago(days: 40), to: .ago(days: 10)) { $0.used(.introductory, nil) },
                Purchases.transaction(2, from: .ago(days: 10), to: .ago(days: -20)),
            ],
            Purchases.renewal { $0.renewsAt = .ago(days: -20) }
        ).with(.active)
    }

    static let neverSubscribed = StoreCustomer("never subscribed")

    static func refunded() throws -> StoreCustomer {
        try StoreCustomer(
            "refunded",
            [
                Purchases.transaction(1, from: .ago(days: 50), to: .ago(days: 20)),
                Purchases.transaction(2, from: .ago(days: 20), to: .ago(days: -10)) {
                    $0.revokedAt = .ago(days: 15)
                    $0.revocationType = .known(.fullRefund)
                },
            ],
            Purchases.renewal {
                $0.autoRenews = false
                $0.renewsAt = .ago(days: -10)
            }
        ).with(.revoked)
    }

    static func familyShared() throws -> StoreCustomer {
        try StoreCustomer(
            "family shared",
            [
                Purchases.transaction(1, from: .ago(days: 10), to: .ago(days: -20)) {
                    $0.ownership = .known(.familyShared)
                    $0.used(.promotional, "spring")
                }
            ],
            Purchases.renewal { $0.renewsAt = .ago(days: -20) }
        ).with(.active)
    }

    static func inGracePeriod() throws -> StoreCustomer {
        try StoreCustomer(
            "in grace period",
            [Purchases.transaction(1, from: .ago(days: 33), to: .ago(days: 3))],
            Purchases.renewal {
                $0.isInBillingRetry = true
                $0.gracePeriodExpiresAt = .ago(days: -3)
                $0.expirationIntent = .known(.billingError)
                $0.renewsAt = .ago(days: 3)
            }
        ).with(.inGracePeriod)
    }

    static func inBillingRetry() throws -> StoreCustomer {
        try StoreCustomer(
            "in billing retry",
            [Purchases.transaction(1, from: .ago(days: 75), to: .ago(days: 45))],
            Purchases.renewal {
                $0.isInBillingRetry = true
                $0.expirationIntent = .known(.billingError)
                $0.renewsAt = .ago(days: 45)
            }
        ).with(.inBillingRetry)
    }

    /// Left the yearly plan, with a year to go, for a monthly one that has lapsed since.
    static func upgraded() throws -> StoreCustomer {
        try StoreCustomer(
            "upgraded",
            [
                Purchases.transaction(1, from: .ago(days: 90), to: .ago(days: -275)) {
                    $0.productID = "basic.yearly"
                    $0.isUpgraded = true
                    $0.used(.promotional, "spring", .payUpFront)
                },
                Purchases.transaction(2, from: .ago(days: 70), to: .ago(days: 40)),
            ],
            Purchases.renewal {
                $0.autoRenews = false
                $0.expirationIntent = .known(.cancelled)
                $0.renewsAt = .ago(days: 40)
            }
        ).with(.expired)
    }

    /// Lapsed from the offer's group, and subscribed in another one.
    static func twoGroups() throws -> StoreCustomer {
        var customer = try lapsed()
        customer.transactions.append(
            try Purchases.transaction(9, of: 9, from: .ago(days: 5), to: .ago(days: -25)) {
                $0.subscriptionGroup = try SubscriptionGroupID("20002")
                $0.productID = "magazine"
                $0.used(.promotional, "spring")
            }
        )
        customer.renewals.append(try Purchases.renewal(of: 9) { $0.renewsAt = .ago(days: -25) })
        customer = try customer.with(.active, of: 9)
        return StoreCustomer(renaming: customer, "two groups")
    }

    private init(renaming customer: StoreCustomer, _ name: String) {
        self.name = name
        transactions = customer.transactions
        renewals = customer.renewals
        statuses = customer.statuses
    }
}
