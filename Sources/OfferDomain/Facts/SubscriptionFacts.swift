// SPDX-License-Identifier: Apache-2.0

/// The state of a subscription.
///
/// Source: Apple, [status](https://developer.apple.com/documentation/appstoreserverapi/status).
package enum SubscriptionStatus: String, CaseIterable, Sendable {
    case active
    case expired
    /// Unpaid, and the customer keeps the service for now.
    case inGracePeriod
    /// Unpaid, and the store is still trying to collect.
    case inBillingRetry
    /// Revoked by a refund, or by the end of Family Sharing.
    case revoked
    /// Stopped for a time by the customer; Google Play only.
    case paused
}

/// The kinds of offers that the App Store tells apart.
///
/// Source: Apple, [offerType](https://developer.apple.com/documentation/appstoreserverapi/offertype).
package enum OfferType: String, CaseIterable, Sendable {
    case introductory
    case promotional
    case offerCode
    case winBack
    /// Made in App Store Connect and shown by the App Store to a subscriber who cancels; it needs no signature.
    case retention
}

/// How a customer came by a subscription.
///
/// Source: Apple, [inAppOwnershipType](https://developer.apple.com/documentation/appstoreserverapi/inappownershiptype).
package enum Ownership: String, CaseIterable, Sendable {
    case purchased
    case familyShared
}

/// How a customer pays for a subscription in the App Store.
///
/// Source: Apple, [billingPlanType](https://developer.apple.com/documentation/appstoreserverapi/billingplantype).
package enum BillingPlan: String, CaseIterable, Sendable {
    /// Month by month, with a commitment to several months.
    case monthly
    case billedUpfront
}

/// Whether a customer agrees to the price after a trial or a lower price, where Google Play has to ask (South Korea).
///
/// Source: Google, [PriceStepUpConsentDetails](https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2#pricestepupconsentdetails).
package enum PriceStepUpConsent: String, CaseIterable, Sendable {
    /// The customer is not asked.
    case notRequired
    /// The customer has not answered; without an answer in time, the subscription is canceled.
    case pending
    /// The customer agreed, and the new price does not apply yet.
    case confirmed
    /// The customer agreed, and the new price applies.
    case completed
}

/// Which of the store's two environments a purchase belongs to.
///
/// Source: Apple, [environment](https://developer.apple.com/documentation/appstoreserverapi/environment).
package enum StoreEnvironment: String, CaseIterable, Sendable {
    case production
    case sandbox
}

/// One use that a customer made of an offer, however many discounted periods it had.
package struct OfferUse: Hashable, Sendable {
    /// `nil` for a type that this version does not know.
    package let type: OfferType?
    /// The store's ID of the offer; nil if it isn't known, and for an introductory offer, which has none.
    package let offerID: OfferID?
    /// When the discount began; nil where it isn't known.
    package let usedAt: Timestamp?
    /// The group of the subscription that was bought with it; nil where it isn't known.
    package let subscriptionGroup: SubscriptionGroupID?

    /// What a caller states or evidence shows of one use.
    package init(
        type: OfferType?,
        offerID: OfferID? = nil,
        usedAt: Timestamp? = nil,
        subscriptionGroup: SubscriptionGroupID? = nil
    ) {
        self.type = type
        self.offerID = offerID
        self.usedAt = usedAt
        self.subscriptionGroup = subscriptionGroup
    }
}
