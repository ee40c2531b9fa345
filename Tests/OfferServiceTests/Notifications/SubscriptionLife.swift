// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// The life of one subscription, as a series of Apple's notifications.
///
/// A period has two days, so that all of it lies within the time for which the fake's certificates are valid.
struct SubscriptionLife {
    /// Instead of a type: the app sends what StoreKit gave it.
    static let fromApp = "(app)"

    struct Event {
        /// In periods since the beginning.
        let time: Double
        let type: String
        let subtype: String?
        /// The period that the transaction in it bought, from 1; nil of one about no customer.
        var period: Int?
        var status = 1
        /// Whether it is the app that sends what it has, and not Apple.
        var isFromApp: Bool { type == fromApp }
        /// What differs in the transaction and in the renewal info from those of a subscription that goes on.
        var transaction, renewal: FakeAppStore.Members

        init(
            _ time: Double,
            _ type: String,
            _ subtype: String? = nil,
            of period: Int?,
            status: Int = 1,
            transaction: FakeAppStore.Members = [:],
            renewal: FakeAppStore.Members = [:]
        ) {
            (self.time, self.type, self.subtype, self.period) = (time, type, subtype, period)
            (self.status, self.transaction, self.renewal) = (status, transaction, renewal)
        }
    }

    static let token = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"
    static let periodMilliseconds = 172_800_000.0
    /// When each period began, in periods since the beginning.
    private static let starts: [Int: Double] = [1: 0, 2: 1, 3: 5, 4: 6, 5: 7, 6: 8, 7: 10, 8: 11.2]
    /// When the customer was granted the offer that is redeemed next.
    static let grants = [4.9, 7.4]
    static let end = 11.6

    private static let discounted: FakeAppStore.Members = [
        "offerType": 2, "offerIdentifier": "store_open", "offerDiscountType": "PAY_AS_YOU_GO",
    ]
    private static let off: FakeAppStore.Members = ["autoRenewStatus": 0, "renewalDate": .null]

    /// Subscribes with a free trial, leaves, comes back with an offer that we granted and pays in full; redeems a
    /// second one for the next renewal and has it refunded; comes back with an offer that we know nothing of, fails to
    /// pay, recovers, and has a part of that refunded.
    static let events = [
        Event(
            0,
            "SUBSCRIBED",
            "INITIAL_BUY",
            of: 1,
            transaction: ["offerType": 1, "offerDiscountType": "FREE_TRIAL", "transactionReason": "PURCHASE"]
        ),
        Event(1, "DID_RENEW", of: 2),
        Event(1.5, "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", of: 2, renewal: off),
        Event(2, "EXPIRED", "VOLUNTARY", of: 2, status: 2, renewal: off.merging(["expirationIntent": 1]) { $1 }),
        Event(
            5,
            "SUBSCRIBED",
            "RESUBSCRIBE",
            of: 3,
            transaction: discounted.merging(["transactionReason": "PURCHASE"]) { $1 },
            renewal: ["offerType": 2, "offerIdentifier": "store_open"]
        ),
        Event(5.3, fromApp, of: 3, transaction: discounted.merging(["transactionReason": "PURCHASE"]) { $1 }),
        Event(6, "DID_RENEW", of: 4, transaction: discounted),
        // Charged before the period begins, as Apple does it.
        Event(6.6, "DID_RENEW", of: 5),
        Event(7.2, fromApp, of: 5, renewal: off),
        Event(7.5, "OFFER_REDEEMED", of: 5, renewal: ["offerType": 2, "offerIdentifier": "store_open"]),
        Event(8, "DID_RENEW", of: 6, transaction: discounted),
        Event(8.2, "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", of: 6, transaction: discounted, renewal: off),
        Event(8.5, "REFUND", of: 6, status: 5, transaction: refunded, renewal: off),
        Event(8.6, "CONSUMPTION_REQUEST", of: 6, status: 5, transaction: refunded, renewal: off),
        Event(
            10,
            "SUBSCRIBED",
            "RESUBSCRIBE",
            of: 7,
            transaction: [
                "offerType": 2, "offerIdentifier": "store_elsewhere", "offerDiscountType": "PAY_UP_FRONT",
                "transactionReason": "PURCHASE",
            ]
        ),
        Event(
            11,
            "DID_FAIL_TO_RENEW",
            "GRACE_PERIOD",
            of: 7,
            status: 4,
            transaction: [
                "offerType": 2, "offerIdentifier": "store_elsewhere", "offerDiscountType": "PAY_UP_FRONT",
                "transactionReason": "PURCHASE",
            ],
            renewal: ["expirationIntent": 2, "isInBillingRetryPeriod": true, "gracePeriodExpiresDate": 11.5]
        ),
        Event(11.2, "DID_RENEW", "BILLING_RECOVERY", of: 8),
        Event(11.5, "TEST", of: nil),
        Event(11.55, "REFUND", of: 8, status: 5, transaction: paidBack, renewal: off),
    ]

    private static let refunded: FakeAppStore.Members =
        discounted.merging(["revocationDate": 8.45, "revocationReason": 1, "revocationType": "REFUND_FULL"]) { $1 }

    private static let paidBack: FakeAppStore.Members = [
        "revocationDate": 11.53, "revocationReason": 1, "revocationType": "REFUND_PRORATED",
        "revocationPercentage": 60_000,
    ]

    /// In milliseconds since 1970.
    let beginning: Int64
    let store: FakeAppStore

    func instant(_ periods: Double) -> Int64 { beginning + Int64(periods * Self.periodMilliseconds) }

    /// What is posted of an event.
    func call(of event: Event, number: Int, to service: TestService) throws -> Call {
        let signedAt = FakeAppStore.Value.integer(Int(instant(event.time)))
        guard event.isFromApp, let period = event.period else {
            return .notification(try notification(event, number, signedAt))
        }
        var call = service.call(
            as: "app",
            """
            {"bundleId": "com.example.app", "appAccountToken": "\(Self.token)",
             "signedTransactions": ["\(try transaction(period, event, signedAt))"],
             "signedRenewalInfo": ["\(try renewal(period, event, signedAt))"]}
            """
        )
        call.path = "/v1/transactions"
        return call
    }

    private func notification(_ event: Event, _ number: Int, _ signedAt: FakeAppStore.Value) throws -> String {
        var data: FakeAppStore.Members = [
            "bundleId": "com.example.app", "appAppleId": 1_234_567_890, "environment": "Production",
        ]
        if let period = event.period {
            data["status"] = .integer(event.status)
            data["signedTransactionInfo"] = .text(try transaction(period, event, signedAt))
            data["signedRenewalInfo"] = .text(try renewal(period, event, signedAt))
        }
        var payload: FakeAppStore.Members = [
            "notificationType": .text(event.type), "version": "2.0", "signedDate": signedAt, "data": .object(data),
            "notificationUUID": .text("00000000-0000-4000-8000-0000000000\(10 + number)"),
        ]
        if let subtype = event.subtype { payload["subtype"] = .text(subtype) }
        return #"{"signedPayload": "\#(try store.signPayload(payload))"}"#
    }

    private func transaction(_ period: Int, _ event: Event, _ signedAt: FakeAppStore.Value) throws -> String {
        let start = Self.starts[period] ?? 0
        var members: FakeAppStore.Members = [
            "transactionId": .text(String(2_000_000_000 + period)), "originalTransactionId": "2000000001",
            "bundleId": "com.example.app", "productId": "com.example.monthly", "environment": "Production",
            "subscriptionGroupIdentifier": "20000001", "type": "Auto-Renewable Subscription",
            "inAppOwnershipType": "PURCHASED", "transactionReason": "RENEWAL", "storefront": "USA",
            "purchaseDate": .integer(Int(instant(start))), "originalPurchaseDate": .integer(Int(instant(0))),
            "expiresDate": .integer(Int(instant(start + 1))), "signedDate": signedAt,
        ]
        // The app began to name its customers later.
        if period > 3 { members["appAccountToken"] = .text(Self.token) }
        return try sign(members, event.transaction)
    }

    private func renewal(_ period: Int, _ event: Event, _ signedAt: FakeAppStore.Value) throws -> String {
        let members: FakeAppStore.Members = [
            "originalTransactionId": "2000000001", "productId": "com.example.monthly",
            "autoRenewProductId": "com.example.monthly", "autoRenewStatus": 1, "environment": "Production",
            "renewalDate": .integer(Int(instant((Self.starts[period] ?? 0) + 1))), "signedDate": signedAt,
        ]
        return try sign(members, event.renewal)
    }

    /// Fractions are instants, in periods.
    private func sign(_ members: FakeAppStore.Members, _ changes: FakeAppStore.Members) throws -> String {
        var members = members
        for (name, value) in changes {
            switch value {
            case .null: members[name] = nil
            case .number(let periods): members[name] = .integer(Int(instant(periods)))
            default: members[name] = value
            }
        }
        return try store.signPayload(members)
    }
}
