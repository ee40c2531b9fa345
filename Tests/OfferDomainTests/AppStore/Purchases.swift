// SPDX-License-Identifier: Apache-2.0

@testable import OfferDomain

/// Short ways to write transactions and renewal infos; whatever is not named is of an ordinary monthly subscription.
enum Purchases {
    static func transaction(
        _ id: Int,
        of chain: Int = 1,
        from start: Timestamp,
        to end: Timestamp?,
        signedAt: Timestamp = RuleRow.now,
        where change: (inout AppStoreTransaction) throws -> Void = { _ in }
    ) throws -> AppStoreTransaction {
        var transaction = AppStoreTransaction(
            transactionID: try TransactionID("\(id)"),
            originalTransactionID: try TransactionID("\(chain)"),
            productID: "pro.monthly",
            claims: SignedDataClaims(
                bundleID: try BundleID("com.example.app"),
                environment: .production,
                signedAt: signedAt
            ),
            purchasedAt: start
        )
        transaction.productType = .known(.autoRenewableSubscription)
        transaction.subscriptionGroup = try SubscriptionGroupID("20001")
        transaction.expiresAt = end
        transaction.ownership = .known(.purchased)
        transaction.reason = .known(id == chain ? .purchase : .renewal)
        transaction.storefront = try Storefront("USA")
        try change(&transaction)
        return transaction
    }

    static func renewal(
        of chain: Int = 1,
        signedAt: Timestamp = RuleRow.now,
        where change: (inout AppStoreRenewalInfo) -> Void = { _ in }
    ) throws -> AppStoreRenewalInfo {
        var renewal = AppStoreRenewalInfo(
            originalTransactionID: try TransactionID("\(chain)"),
            productID: "pro.monthly",
            environment: .production,
            signedAt: signedAt
        )
        renewal.autoRenews = true
        renewal.isInBillingRetry = false
        change(&renewal)
        return renewal
    }
}

extension AppStoreTransaction {
    /// With a promotional offer; each of its periods is one transaction.
    mutating func used(_ type: OfferType, _ offer: String?, _ discount: OfferDiscountType = .payAsYouGo) {
        offerType = .known(type)
        offerID = offer
        offerDiscountType = .known(discount)
    }
}

/// Keys that are the ids themselves, so that a failure can be read.
struct PlainKeys: SubscriptionKeys {
    func chainKey(of originalTransactionID: TransactionID) -> ChainKey {
        ChainKey(Array(originalTransactionID.text.utf8))
    }

    func transactionKey(of transactionID: TransactionID) -> TransactionKey {
        TransactionKey(Array(transactionID.text.utf8))
    }

    func accountKey(of token: UniqueID) -> AccountKey { AccountKey(token.bytes) }
}

extension SubscriptionHistory {
    init(_ evidence: SubscriptionEvidence...) {
        self = evidence.map { $0.history(keys: PlainKeys()) }.reduce(SubscriptionHistory()) { $0.merged(with: $1) }
    }

    /// The facts of the group that ``Purchases`` are of.
    func facts(at now: Timestamp = RuleRow.now) throws -> CustomerFacts {
        facts(group: try SubscriptionGroupID("20001"), productID: nil, at: now)
    }
}
