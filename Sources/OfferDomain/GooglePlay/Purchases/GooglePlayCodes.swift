// SPDX-License-Identifier: Apache-2.0

/// The state of a purchase.
///
/// There is no state for a revoked purchase: it has expired.
///
/// Source: Google, [SubscriptionState](https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2#subscriptionstate).
package enum GooglePlayPurchaseState: String, StoreCode {
    /// Not paid yet; nothing was granted.
    case pending = "SUBSCRIPTION_STATE_PENDING"
    case active = "SUBSCRIPTION_STATE_ACTIVE"
    /// The customer paused it for a time; it continues afterwards.
    case paused = "SUBSCRIPTION_STATE_PAUSED"
    /// Unpaid, and the customer keeps the service for now.
    case inGracePeriod = "SUBSCRIPTION_STATE_IN_GRACE_PERIOD"
    /// Unpaid, and the store is still trying to collect.
    case onHold = "SUBSCRIPTION_STATE_ON_HOLD"
    /// It won't renew; the customer keeps the service until it expires.
    case cancelled = "SUBSCRIPTION_STATE_CANCELED"
    case expired = "SUBSCRIPTION_STATE_EXPIRED"
    /// It never came to a payment.
    case pendingPurchaseCancelled = "SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED"

    /// The value of `subscriptionState`.
    package var storeText: String { rawValue }

    /// Whether nothing was ever granted.
    package var isBeforePurchase: Bool { self == .pending || self == .pendingPurchaseCancelled }
}

/// Who canceled a purchase, or why; the text is the name of the member that says so.
///
/// Source: Google, [CanceledStateContext](https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2#canceledstatecontext).
package enum GooglePlayCancellation: String, StoreCode {
    case byCustomer = "userInitiatedCancellation"
    /// As for want of payment; refunds can say this too.
    case bySystem = "systemInitiatedCancellation"
    case byDeveloper = "developerInitiatedCancellation"
    /// The customer changed plans: another purchase continues this one.
    case forReplacement = "replacementCancellation"

    /// The name of a member of `canceledStateContext`.
    package var storeText: String { rawValue }
}

/// Which price applies; the text is the name of the member that says so.
///
/// Source: Google, [OfferPhase](https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2#offerphase).
package enum GooglePlayOfferPhase: String, StoreCode {
    case freeTrial
    case introductoryPrice
    /// The full price: whatever offer there was is over.
    case basePrice
    /// Time that is left of another plan.
    case prorationPeriod

    /// The name of a member of `offerPhase`.
    package var storeText: String { rawValue }
}

extension PriceStepUpConsent: StoreCode {
    /// Source: Google, [PriceStepUpConsentDetails](https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2#pricestepupconsentdetails).
    package var storeText: String {
        switch self {
        case .pending: "PENDING"
        case .confirmed: "CONFIRMED"
        case .completed: "COMPLETED"
        // Google says nothing then; no text of its will be this one.
        case .notRequired: "notRequired"
        }
    }
}
