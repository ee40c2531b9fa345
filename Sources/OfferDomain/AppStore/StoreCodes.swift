// SPDX-License-Identifier: Apache-2.0

extension SubscriptionStatus: StoreCode {
    /// Source: Apple, [status](https://developer.apple.com/documentation/appstoreserverapi/status).
    package var storeText: String {
        switch self {
        case .active: "1"
        case .expired: "2"
        case .inBillingRetry: "3"
        case .inGracePeriod: "4"
        case .revoked: "5"
        // The App Store has no such status; no number of its will be this text.
        case .paused: "paused"
        }
    }
}

extension OfferType: StoreCode {
    /// Sources: Apple, [offerType](https://developer.apple.com/documentation/appstoreserverapi/offertype), and of 5 the
    /// session “Explore Retention Messaging in App Store Connect” of WWDC26.
    package var storeText: String {
        switch self {
        case .introductory: "1"
        case .promotional: "2"
        case .offerCode: "3"
        case .winBack: "4"
        case .retention: "5"
        }
    }
}

extension Ownership: StoreCode {
    /// Source: Apple, [inAppOwnershipType](https://developer.apple.com/documentation/appstoreserverapi/inappownershiptype).
    package var storeText: String {
        switch self {
        case .purchased: "PURCHASED"
        case .familyShared: "FAMILY_SHARED"
        }
    }
}

extension StoreEnvironment: StoreCode {
    /// Source: Apple, [environment](https://developer.apple.com/documentation/appstoreserverapi/environment).
    package var storeText: String {
        switch self {
        case .production: "Production"
        case .sandbox: "Sandbox"
        }
    }
}

/// What kind of product a transaction bought.
///
/// Source: Apple, [type](https://developer.apple.com/documentation/appstoreserverapi/type).
package enum AppStoreProductType: String, StoreCode {
    case autoRenewableSubscription = "Auto-Renewable Subscription"
    case nonRenewingSubscription = "Non-Renewing Subscription"
    case consumable = "Consumable"
    case nonConsumable = "Non-Consumable"

    /// The value of `type`.
    package var storeText: String { rawValue }
}

/// Whether a person bought, or the store renewed.
///
/// Source: Apple, [transactionReason](https://developer.apple.com/documentation/appstoreserverapi/transactionreason).
package enum TransactionReason: String, StoreCode {
    case purchase = "PURCHASE"
    case renewal = "RENEWAL"

    /// The value of `transactionReason`.
    package var storeText: String { rawValue }
}

/// How an offer lowers the price.
///
/// Source: Apple, [offerDiscountType](https://developer.apple.com/documentation/appstoreserverapi/offerdiscounttype).
package enum OfferDiscountType: String, StoreCode {
    /// One transaction, for nothing.
    case freeTrial = "FREE_TRIAL"
    /// One transaction for each discounted period.
    case payAsYouGo = "PAY_AS_YOU_GO"
    /// One transaction, for the whole discounted time.
    case payUpFront = "PAY_UP_FRONT"
    case oneTime = "ONE_TIME"

    /// The value of `offerDiscountType`.
    package var storeText: String { rawValue }
}

extension BillingPlan: StoreCode {
    /// Source: Apple, [billingPlanType](https://developer.apple.com/documentation/appstoreserverapi/billingplantype).
    package var storeText: String {
        switch self {
        case .monthly: "MONTHLY"
        case .billedUpfront: "BILLED_UPFRONT"
        }
    }
}

/// Why a transaction was taken back.
///
/// Source: Apple, [revocationType](https://developer.apple.com/documentation/appstoreserverapi/revocationtype).
package enum RevocationType: String, StoreCode {
    case fullRefund = "REFUND_FULL"
    case proratedRefund = "REFUND_PRORATED"
    case familyRevoked = "FAMILY_REVOKE"

    /// The value of `revocationType`.
    package var storeText: String { rawValue }
}

/// Why a subscription ended.
///
/// Source: Apple, [expirationIntent](https://developer.apple.com/documentation/appstoreserverapi/expirationintent).
package enum ExpirationIntent: String, StoreCode {
    case cancelled = "1"
    case billingError = "2"
    case priceIncreaseNotAccepted = "3"
    case productUnavailable = "4"
    case other = "5"

    /// The digits of `expirationIntent`.
    package var storeText: String { rawValue }
}
