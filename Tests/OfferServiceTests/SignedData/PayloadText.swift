// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain

@testable import Configuration
@testable import OfferService
@testable import Stores

/// The JSON of a signed payload, with members that tests can change.
struct PayloadText: Sendable {
    private var members: [(name: String, json: String)]

    init(_ members: KeyValuePairs<String, String>) {
        self.members = members.map { (name: $0.key, json: $0.value) }
    }

    var names: [String] { members.map(\.name) }

    /// The JSON of a member; nil takes it away.
    subscript(name: String) -> String? {
        get { members.first { $0.name == name }?.json }
        set {
            let index = members.firstIndex { $0.name == name } ?? members.endIndex
            members.replaceSubrange(
                index..<min(index + 1, members.endIndex),
                with: newValue.map { [(name: name, json: $0)] } ?? []
            )
        }
    }

    func with(_ name: String, _ json: String?) -> PayloadText {
        var changed = self
        changed[name] = json
        return changed
    }

    var json: String { "{" + members.map { #""\#($0.name)":\#($0.json)"# }.joined(separator: ",") + "}" }

    /// As ``SignedByAnybody`` takes it.
    var jws: [UInt8] { Array(("signed" + json).utf8) }

    /// The JWS as a JSON string, to stand inside another payload.
    var nested: String {
        #""signed"# + json.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + #"""#
    }
}

/// Takes any text that begins with `signed`, so that tests need no certificates.
struct SignedByAnybody: SignedDataAuthenticator {
    func payload(of jws: [UInt8], at unixSeconds: Int64, maximumBytes: Int) throws(SignedDataError) -> [UInt8] {
        guard jws.count <= maximumBytes else { throw .tooLarge(limit: maximumBytes) }
        guard jws.starts(with: "signed".utf8) else { throw .wrongSignature }
        return Array(jws.dropFirst(6))
    }

    func remembersChain(of jws: [UInt8], maximumBytes: Int) -> Bool { true }
}

extension AppStoreSignedDataReader {
    static func example(environments: Set<StoreEnvironment> = [.production, .sandbox]) throws -> Self {
        AppStoreSignedDataReader(
            apps: [
                AppStoreApp(
                    bundleID: try BundleID("com.example.app"),
                    appAppleID: 1_234_567_890,
                    environments: environments
                ),
                AppStoreApp(bundleID: try BundleID("com.example.other"), appAppleID: 99, environments: environments),
            ],
            authenticator: SignedByAnybody()
        )
    }
}

// MARK: - Payloads with all the members that Apple documents

extension PayloadText {
    /// 2026-03-01T12:00:00Z.
    static let now = Timestamp(milliseconds: 1_772_366_400_000)

    static let transaction = PayloadText([
        "transactionId": #""2000000900000002""#, "originalTransactionId": #""2000000900000001""#,
        "webOrderLineItemId": #""2000000090000001""#, "bundleId": #""com.example.app""#,
        "productId": #""pro.monthly""#, "subscriptionGroupIdentifier": #""20001""#,
        "purchaseDate": "1770000000000", "originalPurchaseDate": "1760000000000",
        "expiresDate": "1772600000000", "quantity": "1", "type": #""Auto-Renewable Subscription""#,
        "appAccountToken": #""7E3FB204-2A6B-4B2F-9A3C-1B2C3D4E5F60""#, "inAppOwnershipType": #""PURCHASED""#,
        "signedDate": "1772366000000", "revocationReason": "1", "revocationDate": "1772300000000",
        "revocationType": #""REFUND_PRORATED""#, "revocationPercentage": "50000", "isUpgraded": "true",
        "offerType": "2", "offerIdentifier": #""winback_3m""#, "offerDiscountType": #""PAY_AS_YOU_GO""#,
        "offerPeriod": #""P1M""#, "environment": #""Production""#, "storefront": #""USA""#,
        "storefrontId": #""143441""#, "transactionReason": #""RENEWAL""#, "currency": #""USD""#, "price": "4990",
        "appTransactionId": #""704000000000000001""#, "previousOriginalTransactionId": #""2000000800000001""#,
        "bundleOriginalTransactionId": #""2000000700000001""#,
        "billingPlanType": #""MONTHLY""#, "commitmentInfo": #"{"billingPeriodNumber": 2}"#,
        "advancedCommerceInfo": #"{"requestReferenceId": "x", "items": [{"SKU": "a"}]}"#,
    ])

    static let renewalInfo = PayloadText([
        "expirationIntent": "1", "originalTransactionId": #""2000000900000001""#,
        "autoRenewProductId": #""pro.yearly""#, "productId": #""pro.monthly""#, "autoRenewStatus": "1",
        "isInBillingRetryPeriod": "true", "priceIncreaseStatus": "0", "gracePeriodExpiresDate": "1772700000000",
        "offerType": "2", "offerIdentifier": #""winback_3m""#, "signedDate": "1772366000000",
        "environment": #""Production""#, "recentSubscriptionStartDate": "1760000000000",
        "renewalDate": "1772600000000", "currency": #""USD""#, "renewalPrice": "4990",
        "offerDiscountType": #""PAY_AS_YOU_GO""#, "eligibleWinBackOfferIds": #"["best", "second"]"#,
        "appTransactionId": #""704000000000000001""#, "offerPeriod": #""P1M""#,
        "appAccountToken": #""7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60""#, "commitmentInfo": "{}",
        "renewalBillingPlanType": #""MONTHLY""#,
    ])

    static let appTransaction = PayloadText([
        "receiptType": #""Production""#, "appAppleId": "1234567890", "bundleId": #""com.example.app""#,
        "applicationVersion": #""2.1""#, "versionExternalIdentifier": "512",
        "receiptCreationDate": "1772366000000", "originalPurchaseDate": "1700000000000",
        "originalApplicationVersion": #""1.0""#, "deviceVerification": #""c2lnbmF0dXJl""#,
        "deviceVerificationNonce": #""48ccfa42-7431-4f22-9908-7e88983e105a""#, "preorderDate": "1690000000000",
        "appTransactionId": #""704000000000000001""#, "originalPlatform": #""iOS""#,
    ])

    static let data = PayloadText([
        "environment": #""Production""#, "appAppleId": "1234567890", "bundleId": #""com.example.app""#,
        "bundleVersion": #""2.1""#, "signedTransactionInfo": transaction.nested,
        "signedRenewalInfo": renewalInfo.nested, "status": "1",
        "consumptionRequestReason": #""UNINTENDED_PURCHASE""#,
    ])

    static let notification = notification("data", data)

    static let summary = PayloadText([
        "environment": #""Production""#, "appAppleId": "1234567890", "bundleId": #""com.example.app""#,
        "productId": #""pro.monthly""#, "requestIdentifier": #""efb27071-45a4-4aca-9854-2a1e9146f265""#,
        "storefrontCountryCodes": #"["CAN", "USA"]"#, "succeededCount": "5", "failedCount": "2",
    ])

    static let externalPurchaseToken = PayloadText([
        "externalPurchaseId": #""b2158121-7af9-49d4-9561-1f588205523e""#, "tokenCreationDate": "1772300000000",
        "appAppleId": "1234567890", "bundleId": #""com.example.app""#,
    ])

    static let appData = PayloadText([
        "environment": #""Production""#, "appAppleId": "1234567890", "bundleId": #""com.example.app""#,
        "signedAppTransactionInfo": appTransaction.nested,
    ])

    static let realtimeRequest = PayloadText([
        "originalTransactionId": #""2000000900000001""#, "appAppleId": "1234567890",
        "productId": #""pro.monthly""#, "userLocale": #""en-US""#,
        "requestIdentifier": #""3db5c98d-8acf-4e29-831e-8e1f82f9f6e9""#, "environment": #""Production""#,
        "signedDate": "1772366000000",
    ])

    static func notification(
        _ member: String,
        _ content: PayloadText,
        type: String = "OFFER_REDEEMED",
        subtype: String? = nil
    ) -> PayloadText {
        PayloadText([
            "notificationType": #""\#(type)""#, "notificationUUID": #""002e14d5-51f5-4503-b5a8-c3a1af68eb20""#,
            "version": #""2.0""#, "signedDate": "1772366100000", member: content.json,
        ]).with("subtype", subtype.map { #""\#($0)""# })
    }
}
