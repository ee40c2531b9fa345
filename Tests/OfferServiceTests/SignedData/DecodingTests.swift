// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Testing

@testable import OfferService
@testable import Stores

/// Payloads of the shapes that Apple documents, and what must be read from them.
struct DecodingTests {
    private let reader: AppStoreSignedDataReader
    private let signedAt = Timestamp(milliseconds: 1_772_366_000_000)

    init() throws { reader = try .example() }

    @Test
    func `reads a transaction`() throws {
        let transaction = try reader.transaction(PayloadText.transaction.jws, at: PayloadText.now)
        var expected = AppStoreTransaction(
            transactionID: try TransactionID("2000000900000002"),
            originalTransactionID: try TransactionID("2000000900000001"),
            productID: "pro.monthly",
            claims: SignedDataClaims(
                bundleID: try BundleID("com.example.app"),
                environment: .production,
                signedAt: signedAt
            ),
            purchasedAt: Timestamp(milliseconds: 1_770_000_000_000)
        )
        expected.productType = .known(.autoRenewableSubscription)
        expected.subscriptionGroup = try SubscriptionGroupID("20001")
        expected.originallyPurchasedAt = Timestamp(milliseconds: 1_760_000_000_000)
        expected.expiresAt = Timestamp(milliseconds: 1_772_600_000_000)
        expected.revokedAt = Timestamp(milliseconds: 1_772_300_000_000)
        expected.revocationType = .known(.proratedRefund)
        expected.revocationPercentage = 50_000
        expected.isUpgraded = true
        expected.ownership = .known(.purchased)
        expected.offerType = .known(.promotional)
        expected.offerID = "winback_3m"
        expected.offerDiscountType = .known(.payAsYouGo)
        expected.storefront = try Storefront("USA")
        expected.reason = .known(.renewal)
        expected.appAccountToken = UniqueID("7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60")
        expected.appTransactionID = try TransactionID("704000000000000001")
        expected.billingPlan = .known(.monthly)
        expected.commitmentPeriod = 2
        expected.previousOriginalTransactionID = try TransactionID("2000000800000001")
        expected.bundleOriginalTransactionID = try TransactionID("2000000700000001")
        #expect(transaction == expected)
    }

    @Test
    func `reads a renewal info`() throws {
        let transaction = try reader.transaction(PayloadText.transaction.jws, at: PayloadText.now)
        let info = try reader.renewalInfo(
            PayloadText.renewalInfo.jws,
            pairedWith: [transaction],
            .byTransaction,
            at: PayloadText.now
        )
        var expected = AppStoreRenewalInfo(
            originalTransactionID: try TransactionID("2000000900000001"),
            productID: "pro.monthly",
            environment: .production,
            signedAt: signedAt
        )
        expected.autoRenewProductID = "pro.yearly"
        expected.autoRenews = true
        expected.isInBillingRetry = true
        expected.gracePeriodExpiresAt = Timestamp(milliseconds: 1_772_700_000_000)
        expected.expirationIntent = .known(.cancelled)
        expected.offerType = .known(.promotional)
        expected.offerID = "winback_3m"
        expected.priceIncreaseSettled = false
        expected.renewsAt = Timestamp(milliseconds: 1_772_600_000_000)
        expected.recentSubscriptionStartAt = Timestamp(milliseconds: 1_760_000_000_000)
        expected.eligibleWinBackOfferIDs = ["best", "second"]
        expected.appAccountToken = UniqueID("7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60")
        expected.appTransactionID = try TransactionID("704000000000000001")
        #expect(info == expected)
    }

    @Test
    func `reads an app transaction and a real-time request`() throws {
        let app = try reader.appTransaction(PayloadText.appTransaction.jws, at: PayloadText.now)
        #expect(app.appTransactionID?.text == "704000000000000001")
        #expect(app.appAppleID == 1_234_567_890)
        #expect(app.signedAt == signedAt)
        #expect(app.originallyPurchasedAt == Timestamp(milliseconds: 1_700_000_000_000))
        let request = try reader.realtimeRequest(PayloadText.realtimeRequest.jws, at: PayloadText.now)
        #expect(request.originalTransactionID.text == "2000000900000001")
        #expect(request.userLocale == "en-US")
        #expect(request.requestIdentifier == UniqueID("3db5c98d-8acf-4e29-831e-8e1f82f9f6e9"))
        #expect(request.productID == "pro.monthly")
    }

    @Test
    func `reads a notification about a subscription, and what it carries`() throws {
        let notification = try reader.notification(PayloadText.notification.jws, at: PayloadText.now)
        #expect(notification.notificationType == .known(.offerRedeemed))
        #expect(notification.subtype == nil)
        #expect(notification.notificationUUID == UniqueID("002e14d5-51f5-4503-b5a8-c3a1af68eb20"))
        #expect(notification.status == .known(.active))
        let evidence = try reader.evidence(of: notification, at: PayloadText.now)
        #expect(evidence.source == .notification)
        #expect(evidence.transactions.map(\.transactionID.text) == ["2000000900000002"])
        #expect(evidence.renewals.map(\.productID) == ["pro.monthly"])
        #expect(evidence.statuses.map(\.observedAt) == [Timestamp(milliseconds: 1_772_366_100_000)])
    }

    @Test
    func `reads the other kinds of notifications, which describe no subscription`() throws {
        let sandboxToken = PayloadText.externalPurchaseToken
            .with("externalPurchaseId", #""SANDBOX_b2158121""#).with("appAppleId", nil)
        let rows: [(PayloadText, StoreEnvironment)] = [
            (.notification("summary", .summary, type: "RENEWAL_EXTENSION", subtype: "SUMMARY"), .production),
            (
                .notification(
                    "externalPurchaseToken",
                    .externalPurchaseToken,
                    type: "EXTERNAL_PURCHASE_TOKEN",
                    subtype: "UNREPORTED"
                ), .production
            ),
            (.notification("externalPurchaseToken", sandboxToken, type: "EXTERNAL_PURCHASE_TOKEN"), .sandbox),
            (.notification("appData", .appData, type: "RESCIND_CONSENT"), .production),
            (
                .notification(
                    "data",
                    .data.with("signedTransactionInfo", nil).with("signedRenewalInfo", nil).with("status", nil),
                    type: "TEST"
                ), .production
            ),
        ]
        for (payload, environment) in rows {
            let notification = try reader.notification(payload.jws, at: PayloadText.now)
            #expect(notification.notificationType.known != nil)
            #expect(notification.environment == environment)
            let evidence = try reader.evidence(of: notification, at: PayloadText.now)
            #expect(evidence == SubscriptionEvidence(source: .notification))
        }
    }

    @Test
    func `takes the status expired from the type EXPIRED when the status is missing`() throws {
        let data = PayloadText.data.with("status", nil)
        let expired = try reader.notification(
            PayloadText.notification("data", data, type: "EXPIRED", subtype: "VOLUNTARY").jws,
            at: PayloadText.now
        )
        #expect(expired.status == .known(.expired))
        let renewed = try reader.notification(
            PayloadText.notification("data", data, type: "DID_RENEW").jws,
            at: PayloadText.now
        )
        #expect(renewed.status == nil)
    }

    @Test
    func `keeps values that it does not know, and passes over members that it does not know`() throws {
        let payload = PayloadText.transaction.with("type", #""Rental""#).with("offerType", "9")
            .with("inAppOwnershipType", #""GIFTED""#).with("revocationType", #""REFUND_IN_KIND""#)
            .with("transactionReason", #""TRANSFER""#).with("offerDiscountType", #""HALF""#)
            .with("storefront", #""Atlantis""#).with("unheardOf", #"{"a": [1, {"b": null}], "é": 1.5e300}"#)
            .with("appAccountToken", "null")
        let transaction = try reader.transaction(payload.jws, at: PayloadText.now)
        #expect(transaction.productType == .unknown("Rental"))
        #expect(transaction.offerType == .unknown("9"))
        #expect(transaction.ownership == .unknown("GIFTED"))
        #expect(transaction.revocationType == .unknown("REFUND_IN_KIND"))
        #expect(transaction.reason == .unknown("TRANSFER"))
        #expect(transaction.offerDiscountType == .unknown("HALF"))
        #expect(transaction.storefront == nil)
        #expect(transaction.appAccountToken == nil)
        let renewal = PayloadText.renewalInfo.with("autoRenewStatus", "2").with("expirationIntent", "12")
        let info = try reader.renewalInfo(renewal.jws, pairedWith: [transaction], .byTransaction, at: PayloadText.now)
        #expect(info.autoRenews == nil)
        #expect(info.expirationIntent == .unknown("12"))
        let notification = try reader.notification(
            PayloadText.notification("data", .data.with("status", "17"), type: "BIRTHDAY", subtype: "MANY").jws,
            at: PayloadText.now
        )
        #expect(notification.notificationType == .unknown("BIRTHDAY"))
        #expect(notification.subtype == .unknown("MANY"))
        #expect(notification.status == .unknown("17"))
    }

    @Test
    func `reads what it wrote for every known value`() {
        func survives<Known: StoreCode>(_: Known.Type) {
            for known in Known.allCases { #expect(Reported<Known>(known.storeText) == .known(known)) }
            #expect(Set(Known.allCases.map(\.storeText)).count == Known.allCases.count)
            #expect(Reported<Known>("¿").storeText == "¿")
        }
        survives(SubscriptionStatus.self)
        survives(OfferType.self)
        survives(Ownership.self)
        survives(StoreEnvironment.self)
        survives(AppStoreProductType.self)
        survives(TransactionReason.self)
        survives(OfferDiscountType.self)
        survives(RevocationType.self)
        survives(ExpirationIntent.self)
        survives(NotificationType.self)
        survives(NotificationSubtype.self)
    }
}
