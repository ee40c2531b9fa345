// SPDX-License-Identifier: Apache-2.0

/// What a trusted caller states of a customer; nil means not stated.
package struct StatedFacts: Hashable, Sendable {
    /// Whether the customer has or had a subscription of their own in the app.
    package var subscribedBefore: Bool?
    /// The status of the subscription; without it, one may follow from `isActive` and `expiresAt`.
    package var status: SubscriptionStatus?
    /// When the subscription ends or ended.
    package var expiresAt: Timestamp?
    /// Whether the subscription will renew; without it, a cancellation means that it will not.
    package var autoRenews: Bool?
    /// Whether the customer has access to what the subscription gives.
    package var isActive: Bool?
    /// When the customer cancelled.
    package var cancelledAt: Timestamp?
    /// The product that the next renewal is for.
    package var renewsTo: ProductID?
    /// Every offer that the customer has used.
    package var offersUsed: [OfferUse]?
    /// When each refund of a subscription was made.
    package var refundedAt: [Timestamp]?
    /// Whether the App Store itself shows the customer a win-back offer.
    package var appleWinBackEligible: Bool?
    /// How the customer pays for the subscription; App Store only.
    package var billingPlan: BillingPlan?
    /// Whether the customer agreed to a higher price; Google Play only.
    package var priceStepUpConsent: PriceStepUpConsent?
    /// When the commitment of a monthly plan ends or ended.
    package var commitmentEndsAt: Timestamp?
    /// Which period of the commitment runs, counted from 1.
    package var commitmentPeriod: Int?
    /// The App Store's storefront of the customer.
    package var storefront: Storefront?
    /// The country at Google Play in which the customer was billed.
    package var region: Region?
    /// Whether the customer bought the subscription or has it by Family Sharing.
    package var ownership: Ownership?
    /// Whether the subscription is a test purchase.
    package var environment: StoreEnvironment?
    /// The first purchase of the subscription in the App Store.
    package var originalTransactionID: TransactionID?
    /// The group that status, end, renewal and ownership are about.
    package var subscriptionGroup: SubscriptionGroupID?

    /// Nothing is stated.
    package init() {}
}

extension CustomerFacts {
    /// What a trusted caller states at one instant, and what follows from it.
    ///
    /// It is in this module because another module would look up the type of each fact at run time.
    package init(_ stated: StatedFacts, at instant: Timestamp) {
        func fact<Value>(_ value: Value?) -> Fact<Value>? {
            value.map { Fact($0, source: .statedByCaller, observedAt: instant) }
        }
        self.init()
        subscribedBefore = fact(stated.subscribedBefore)
        status = fact(stated.status ?? Self.status(stated.isActive, stated.expiresAt, at: instant))
        expiresAt = fact(stated.expiresAt)
        autoRenews = fact(stated.autoRenews ?? (stated.cancelledAt == nil ? nil : false))
        isActive = fact(stated.isActive)
        cancelledAt = fact(stated.cancelledAt)
        renewsTo = fact(stated.renewsTo)
        offersUsed = fact(stated.offersUsed)
        refundedAt = fact(stated.refundedAt?.map { Refund(at: $0) })
        appleWinBackEligible = fact(stated.appleWinBackEligible)
        billingPlan = fact(stated.billingPlan)
        priceStepUpConsent = fact(stated.priceStepUpConsent)
        commitmentEndsAt = fact(stated.commitmentEndsAt)
        commitmentPeriod = fact(stated.commitmentPeriod)
        storefront = fact(stated.storefront)
        region = fact(stated.region)
        ownership = fact(stated.ownership)
        environment = fact(stated.environment)
        originalTransactionID = fact(stated.originalTransactionID)
        subscriptionGroup = fact(stated.subscriptionGroup)
        addInferences()
    }

    /// The status that follows from an SDK's “is active” flag and end; nil if none follows.
    ///
    /// Access that continues after the end is a grace period. Access that stopped before the end was revoked. Without
    /// an end, a customer without access may never have had any.
    private static func status(_ isActive: Bool?, _ end: Timestamp?, at now: Timestamp) -> SubscriptionStatus? {
        let isOver = end.map { $0 <= now }
        return switch (isActive, isOver) {
        case (true?, true?): .inGracePeriod
        case (true?, _): .active
        case (false?, true?): .expired
        case (false?, false?): .revoked
        case (false?, nil), (nil, _): nil
        }
    }
}
