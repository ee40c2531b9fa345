// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
import JSON
package import OfferDomain

extension SubscriptionChain: StoredSubscription {
    package static var store: Store { .appStore }
    package static var hasTransactions: Bool { true }

    package init?(_ row: SubscriptionRow) {
        guard let object = JSONObject(record: row.record) else { return nil }
        self.init()
        if let value = object["renewal"] {
            guard let renewal = value.object.flatMap(RenewalRecord.init) else { return nil }
            self.renewal = renewal
        }
        if let value = object["status"] {
            guard let status = value.object.flatMap(StatusRecord.init) else { return nil }
            self.status = status
        }
        if let value = object["statusesReadAt"] {
            guard let milliseconds = value.integer else { return nil }
            statusesReadAt = Timestamp(milliseconds: milliseconds)
        }
        historyCompleteAt = row.historyCompleteAt
        for (key, json) in row.transactions {
            guard let record = TransactionRecord(json: json) else { return nil }
            transactions[key] = record
        }
    }

    package func row(since known: SubscriptionChain?) -> SubscriptionRow {
        var row = SubscriptionRow(record: json)
        row.historyCompleteAt = historyCompleteAt
        for (key, record) in transactions where known?.transactions[key] != record {
            row.transactions[key] = record.json
        }
        return row
    }

    private var json: String {
        JSONWriter.record(reserving: 512) { writer in
            writer.object("renewal", renewal) { $0.write(to: &$1) }
            writer.object("status", status) { $0.write(to: &$1) }
            writer.member("statusesReadAt", statusesReadAt)
        }
    }
}

extension TransactionRecord {
    var json: String {
        JSONWriter.record(reserving: 512) { writer in
            writer.member("productId", productID)
            writer.member("type", productType?.storeText)
            writer.member("subscriptionGroupIdentifier", subscriptionGroup?.text)
            writer.member("purchaseDate", purchasedAt)
            writer.member("expiresDate", expiresAt)
            writer.member("revocationDate", revokedAt)
            writer.member("revocationType", revocationType?.storeText)
            writer.member("revocationPercentage", revocationPercentage.map { "\($0)" })
            writer.flag("isUpgraded", isUpgraded)
            writer.member("inAppOwnershipType", ownership?.storeText)
            writer.member("offerType", offerType?.storeText)
            writer.member("offerIdentifier", offerID)
            writer.member("offerDiscountType", offerDiscountType?.storeText)
            writer.member("transactionReason", reason?.storeText)
            writer.member("storefront", storefront?.text)
            writer.member("billingPlanType", billingPlan?.storeText)
            writer.member("commitmentExpiresDate", commitmentEndsAt)
            writer.member("billingPeriodNumber", commitmentPeriod.map { "\($0)" })
            writer.member("account", account?.recordText)
            writer.member("environment", environment.storeText)
            writer.member("signedDate", signedAt)
            writer.member("source", source.rawValue)
        }
    }

    init?(json: String) {
        guard let object = JSONObject(record: json), let productID = object.text("productId"),
            let purchasedAt = object.instant("purchaseDate"), let signedAt = object.instant("signedDate"),
            let environment: StoreEnvironment = object.reported("environment")?.known,
            let source = object.text("source").flatMap(FactSource.init)
        else { return nil }
        self.init(
            productID: productID,
            purchasedAt: purchasedAt,
            environment: environment,
            signedAt: signedAt,
            source: source
        )
        productType = object.reported("type")
        subscriptionGroup = object.text("subscriptionGroupIdentifier").flatMap { try? SubscriptionGroupID($0) }
        expiresAt = object.instant("expiresDate")
        revokedAt = object.instant("revocationDate")
        revocationType = object.reported("revocationType")
        revocationPercentage = object.text("revocationPercentage").flatMap { Int($0) }
        isUpgraded = object.flag("isUpgraded")
        ownership = object.reported("inAppOwnershipType")
        offerType = object.reported("offerType")
        offerID = object.text("offerIdentifier")
        offerDiscountType = object.reported("offerDiscountType")
        reason = object.reported("transactionReason")
        storefront = object.text("storefront").flatMap { try? Storefront($0) }
        account = object.text("account").flatMap { Base64.decodeURL(Array($0.utf8)) }.map(AccountKey.init)
        billingPlan = object.reported("billingPlanType")
        commitmentEndsAt = object.instant("commitmentExpiresDate")
        commitmentPeriod = object.text("billingPeriodNumber").flatMap { Int($0) }
    }
}

extension RenewalRecord {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("productId", productID)
        writer.member("autoRenewStatus", autoRenews)
        writer.member("isInBillingRetryPeriod", isInBillingRetry)
        writer.member("gracePeriodExpiresDate", gracePeriodExpiresAt)
        writer.member("expirationIntent", expirationIntent?.storeText)
        writer.member("renewalDate", renewsAt)
        writer.member("autoRenewProductId", autoRenewProductID)
        writer.member("offerType", offerType?.storeText)
        writer.member("offerIdentifier", offerID)
        writer.array("eligibleWinBackOfferIds", eligibleWinBackOfferIDs) { $1.string($0) }
        writer.member("environment", environment.storeText)
        writer.member("signedDate", signedAt)
        writer.member("source", source.rawValue)
    }

    fileprivate init?(_ object: JSONObject) {
        guard let productID = object.text("productId"),
            let signedAt = object.instant("signedDate"),
            let environment: StoreEnvironment = object.reported("environment")?.known,
            let source = object.text("source").flatMap(FactSource.init)
        else { return nil }
        self.init(productID: productID, environment: environment, signedAt: signedAt, source: source)
        autoRenews = object["autoRenewStatus"]?.bool
        isInBillingRetry = object["isInBillingRetryPeriod"]?.bool
        gracePeriodExpiresAt = object.instant("gracePeriodExpiresDate")
        expirationIntent = object.reported("expirationIntent")
        renewsAt = object.instant("renewalDate")
        autoRenewProductID = object.text("autoRenewProductId")
        offerType = object.reported("offerType")
        offerID = object.text("offerIdentifier")
        eligibleWinBackOfferIDs = object.texts("eligibleWinBackOfferIds")
    }
}

extension StatusRecord {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("status", status.storeText)
        writer.member("observedAt", observedAt)
        writer.member("source", source.rawValue)
    }

    fileprivate init?(_ object: JSONObject) {
        guard let status: Reported<SubscriptionStatus> = object.reported("status"),
            let observedAt = object.instant("observedAt"),
            let source = object.text("source").flatMap(FactSource.init)
        else { return nil }
        self.init(status, observedAt: observedAt, source: source)
    }
}
