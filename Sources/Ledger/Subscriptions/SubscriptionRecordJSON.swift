// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
import OfferDomain

// How the ledger writes what it keeps of the App Store's evidence: JSON with Apple's names and values, what is absent
// left out, so that an auditor can read a row. The signed data itself is not kept.

extension TransactionRecord {
    var json: String {
        var writer = RecordWriter()
        writer.member("productId", productID)
        writer.member("type", productType?.storeText)
        writer.member("subscriptionGroupIdentifier", subscriptionGroup?.text)
        writer.member("purchaseDate", purchasedAt)
        writer.member("expiresDate", expiresAt)
        writer.member("revocationDate", revokedAt)
        writer.member("revocationType", revocationType?.storeText)
        writer.member("revocationPercentage", revocationPercentage.map { "\($0)" })
        writer.member("isUpgraded", isUpgraded ? true : nil)
        writer.member("inAppOwnershipType", ownership?.storeText)
        writer.member("offerType", offerType?.storeText)
        writer.member("offerIdentifier", offerID)
        writer.member("offerDiscountType", offerDiscountType?.storeText)
        writer.member("transactionReason", reason?.storeText)
        writer.member("storefront", storefront?.text)
        writer.member("billingPlanType", billingPlan?.storeText)
        writer.member("commitmentExpiresDate", commitmentEndsAt)
        writer.member("billingPeriodNumber", commitmentPeriod.map { "\($0)" })
        writer.member("account", (account?.bytes).map { String(decoding: Base64.encodeURL($0), as: UTF8.self) })
        writer.member("environment", environment.storeText)
        writer.member("signedDate", signedAt)
        writer.member("source", source.rawValue)
        return writer.finished()
    }

    init?(json: String) {
        guard let reader = RecordReader(json), let productID = reader.text("productId"),
            let purchasedAt = reader.instant("purchaseDate"), let signedAt = reader.instant("signedDate"),
            let environment: StoreEnvironment = reader.reported("environment")?.known,
            let source = reader.text("source").flatMap(FactSource.init)
        else { return nil }
        self.init(
            productID: productID,
            productType: reader.reported("type"),
            subscriptionGroup: reader.text("subscriptionGroupIdentifier").flatMap { try? SubscriptionGroupID($0) },
            purchasedAt: purchasedAt,
            expiresAt: reader.instant("expiresDate"),
            revokedAt: reader.instant("revocationDate"),
            revocationType: reader.reported("revocationType"),
            isUpgraded: reader.flag("isUpgraded") ?? false,
            ownership: reader.reported("inAppOwnershipType"),
            offerType: reader.reported("offerType"),
            offerID: reader.text("offerIdentifier"),
            offerDiscountType: reader.reported("offerDiscountType"),
            reason: reader.reported("transactionReason"),
            storefront: reader.text("storefront").flatMap { try? Storefront($0) },
            account: reader.text("account").flatMap { Base64.decodeURL(Array($0.utf8)) }.map(AccountKey.init),
            environment: environment,
            signedAt: signedAt,
            source: source
        )
        revocationPercentage = reader.text("revocationPercentage").flatMap { Int($0) }
        billingPlan = reader.reported("billingPlanType")
        commitmentEndsAt = reader.instant("commitmentExpiresDate")
        commitmentPeriod = reader.text("billingPeriodNumber").flatMap { Int($0) }
    }
}

extension RenewalRecord {
    var json: String {
        var writer = RecordWriter()
        writer.member("productId", productID)
        writer.member("autoRenewStatus", autoRenews)
        writer.member("isInBillingRetryPeriod", isInBillingRetry)
        writer.member("gracePeriodExpiresDate", gracePeriodExpiresAt)
        writer.member("expirationIntent", expirationIntent?.storeText)
        writer.member("renewalDate", renewsAt)
        writer.member("autoRenewProductId", autoRenewProductID)
        writer.member("offerType", offerType?.storeText)
        writer.member("offerIdentifier", offerID)
        writer.member("eligibleWinBackOfferIds", eligibleWinBackOfferIDs)
        writer.member("environment", environment.storeText)
        writer.member("signedDate", signedAt)
        writer.member("source", source.rawValue)
        return writer.finished()
    }

    init?(json: String) {
        guard let reader = RecordReader(json), let productID = reader.text("productId"),
            let signedAt = reader.instant("signedDate"),
            let environment: StoreEnvironment = reader.reported("environment")?.known,
            let source = reader.text("source").flatMap(FactSource.init)
        else { return nil }
        self.init(
            productID: productID,
            autoRenews: reader.flag("autoRenewStatus"),
            isInBillingRetry: reader.flag("isInBillingRetryPeriod"),
            gracePeriodExpiresAt: reader.instant("gracePeriodExpiresDate"),
            expirationIntent: reader.reported("expirationIntent"),
            renewsAt: reader.instant("renewalDate"),
            offerType: reader.reported("offerType"),
            offerID: reader.text("offerIdentifier"),
            eligibleWinBackOfferIDs: reader.texts("eligibleWinBackOfferIds"),
            environment: environment,
            signedAt: signedAt,
            source: source
        )
        autoRenewProductID = reader.text("autoRenewProductId")
    }
}

extension StatusRecord {
    var json: String {
        var writer = RecordWriter()
        writer.member("status", status.storeText)
        writer.member("observedAt", observedAt)
        writer.member("source", source.rawValue)
        return writer.finished()
    }

    init?(json: String) {
        guard let reader = RecordReader(json), let status: Reported<SubscriptionStatus> = reader.reported("status"),
            let observedAt = reader.instant("observedAt"),
            let source = reader.text("source").flatMap(FactSource.init)
        else { return nil }
        self.init(status, observedAt: observedAt, source: source)
    }
}

/// Writes an object, leaving out what is absent.
private struct RecordWriter {
    private var writer = JSONWriter(reserving: 384)

    init() { writer.beginObject() }

    mutating func member(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        writer.name(name)
        writer.string(text)
    }

    mutating func member(_ name: StaticString, _ instant: Timestamp?) {
        guard let instant else { return }
        writer.name(name)
        writer.integer(instant.milliseconds)
    }

    mutating func member(_ name: StaticString, _ flag: Bool?) {
        guard let flag else { return }
        writer.name(name)
        writer.boolean(flag)
    }

    mutating func member(_ name: StaticString, _ texts: [String]) {
        guard !texts.isEmpty else { return }
        writer.name(name)
        writer.beginArray()
        for text in texts { writer.string(text) }
        writer.endArray()
    }

    mutating func finished() -> String {
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

/// Reads what ``RecordWriter`` wrote.
private struct RecordReader {
    private let object: JSONObject

    init?(_ json: String) {
        guard let object = (try? JSONDocument(Array(json.utf8)))?.root.object else { return nil }
        self.object = object
    }

    func text(_ name: String) -> String? { object[name]?.string }

    func flag(_ name: String) -> Bool? { object[name]?.bool }

    func instant(_ name: String) -> Timestamp? { object[name]?.integer.map(Timestamp.init(milliseconds:)) }

    func reported<Known: StoreCode>(_ name: String) -> Reported<Known>? { text(name).map(Reported.init) }

    func texts(_ name: String) -> [String] { object[name]?.array?.compactMap(\.string) ?? [] }
}
