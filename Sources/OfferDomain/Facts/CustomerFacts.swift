// SPDX-License-Identifier: Apache-2.0

/// What is known about a customer's dealings with the store; nil means not known.
package struct CustomerFacts: Hashable, Sendable {
    /// Whether the customer has or had a subscription of their own in the app.
    package var subscribedBefore: Fact<Bool>?
    /// Whether a subscription of the requested kind was seen, even if nothing else is known about it.
    package var hasSubscription = false
    /// The status of the subscription in question.
    package var status: Fact<SubscriptionStatus>?
    /// When the subscription ends or ended.
    package var expiresAt: Fact<Timestamp>?
    /// The latest end that was seen, if a later one may exist; a certain end is in `expiresAt`.
    package var latestEndSeen: Fact<Timestamp>?
    /// Whether the subscription will renew.
    package var autoRenews: Fact<Bool>?
    /// Whether the customer has access to what the subscription gives; if a status is known, the status decides.
    package var isActive: Fact<Bool>?
    /// When the customer cancelled, so that it will not renew.
    package var cancelledAt: Fact<Timestamp>?
    /// The product that the next renewal is for; it differs from the current one if a change is planned.
    package var renewsTo: Fact<ProductID>?
    /// Why the subscription ended.
    package var expirationIntent: Fact<ExpirationIntent>?
    /// Every offer that the customer has used; empty if it is known to be none.
    package var offersUsed: Fact<[OfferUse]>?
    /// Offers that the customer has used, if there may be more; set only if `offersUsed` is nil.
    ///
    /// Empty if there is a subscription and no use was seen.
    package var offersSeen: Fact<[OfferUse]>?
    /// Every refund of a subscription; empty if it is known to be none.
    package var refundedAt: Fact<[Refund]>?
    /// Refunds, if there may be more; set only if `refundedAt` is nil.
    ///
    /// Empty if there is a subscription and no refund was seen.
    package var refundsSeen: Fact<[Refund]>?
    /// The instant since which `refundsSeen` has every refund; set only together with it.
    package var refundsReportedSince: Fact<Timestamp>?
    /// The win-back offers that the App Store says the customer may have, the best first.
    package var eligibleWinBackOffers: Fact<[OfferID]>?
    /// Whether the App Store itself shows the customer a win-back offer.
    package var appleWinBackEligible: Fact<Bool>?
    /// How the customer pays for the subscription; App Store only.
    package var billingPlan: Fact<BillingPlan>?
    package var priceStepUpConsent: Fact<PriceStepUpConsent>?
    /// When the commitment of a monthly plan ends or ended.
    package var commitmentEndsAt: Fact<Timestamp>?
    /// Which period of the commitment runs, counted from 1.
    package var commitmentPeriod: Fact<Int>?
    /// The App Store's storefront of the latest purchase, or what a caller states.
    package var storefront: Fact<Storefront>?
    /// The country at Google Play in which the customer was billed, or what a caller states.
    package var region: Fact<Region>?
    /// Whether the customer bought the subscription or has it by Family Sharing.
    package var ownership: Fact<Ownership>?
    /// Whether the subscription is a test purchase.
    package var environment: Fact<StoreEnvironment>?
    /// What is known about the app that sends this request; it is about no customer, and comes from no store.
    package var app = AppFacts()
    /// What a caller states; evidence has only pseudonyms and cannot supply it.
    package var originalTransactionID: Fact<TransactionID>?
    /// The group that status, end, renewal and ownership are about.
    package var subscriptionGroup: Fact<SubscriptionGroupID>?
    /// When the store last listed all the customer's subscriptions with their statuses.
    package var statusesReadAt: Timestamp?
    /// When the store last listed all the customer's transactions.
    package var historyReadAt: Timestamp?

    /// Nothing is known.
    package init() {}

    /// Whether the customer has access: what the status says, or, without a status, what the caller stated.
    var hasAccess: Bool? {
        switch status?.value {
        case .active, .inGracePeriod: true
        case .expired, .revoked, .paused, .inBillingRetry: false
        case nil: isActive?.value
        }
    }

    /// Adds what follows from these facts: a customer with a subscription's status or end has subscribed.
    ///
    /// This happens once, where facts are gathered, and not while a rule is evaluated: there, one more fact can only
    /// decide what was undecided. Nothing follows from a subscription by Family Sharing, since Apple doesn't say that
    /// it makes a subscriber. Nothing follows from a revoked one, since it may have been shared.
    mutating func addInferences() {
        subscribedBefore = subscribedBefore ?? inferredSubscribedBefore
    }

    private var inferredSubscribedBefore: Fact<Bool>? {
        guard ownership?.value != .familyShared, status?.value != .revoked else { return nil }
        if let status { return Fact(true, source: status.source, observedAt: status.observedAt) }
        return expiresAt.map { Fact(true, source: $0.source, observedAt: $0.observedAt) }
    }

    /// These facts, with each missing one taken from `other`.
    ///
    /// A partial list is dropped if either has the complete one, so that no two facts can contradict each other.
    package func filled(from other: CustomerFacts) -> CustomerFacts {
        var facts = self
        facts.subscribedBefore = subscribedBefore ?? other.subscribedBefore
        facts.hasSubscription = hasSubscription || other.hasSubscription
        facts.status = status ?? other.status
        facts.expiresAt = expiresAt ?? other.expiresAt
        facts.latestEndSeen = facts.expiresAt == nil ? latestEndSeen ?? other.latestEndSeen : nil
        facts.autoRenews = autoRenews ?? other.autoRenews
        facts.isActive = isActive ?? other.isActive
        facts.cancelledAt = cancelledAt ?? (autoRenews?.value == true ? nil : other.cancelledAt)
        facts.renewsTo = renewsTo ?? other.renewsTo
        facts.expirationIntent = expirationIntent ?? other.expirationIntent
        facts.offersUsed = offersUsed ?? other.offersUsed
        facts.offersSeen = facts.offersUsed == nil ? offersSeen ?? other.offersSeen : nil
        facts.refundedAt = refundedAt ?? other.refundedAt
        facts.refundsSeen = facts.refundedAt == nil ? refundsSeen ?? other.refundsSeen : nil
        let reportedSince = refundsSeen == nil ? other.refundsReportedSince : refundsReportedSince
        facts.refundsReportedSince = facts.refundedAt == nil ? reportedSince : nil
        facts.eligibleWinBackOffers = eligibleWinBackOffers ?? other.eligibleWinBackOffers
        facts.appleWinBackEligible = appleWinBackEligible ?? other.appleWinBackEligible
        facts.billingPlan = billingPlan ?? other.billingPlan
        facts.priceStepUpConsent = priceStepUpConsent ?? other.priceStepUpConsent
        facts.commitmentEndsAt = commitmentEndsAt ?? other.commitmentEndsAt
        facts.commitmentPeriod = commitmentPeriod ?? other.commitmentPeriod
        facts.storefront = storefront ?? other.storefront
        facts.region = region ?? other.region
        facts.ownership = ownership ?? other.ownership
        facts.environment = environment ?? other.environment
        facts.originalTransactionID = originalTransactionID ?? other.originalTransactionID
        facts.subscriptionGroup = subscriptionGroup ?? other.subscriptionGroup
        facts.statusesReadAt = statusesReadAt ?? other.statusesReadAt
        facts.historyReadAt = historyReadAt ?? other.historyReadAt
        return facts
    }
}

extension CustomerFacts {
    /// These facts for a request about that group: without the facts about a subscription in another group.
    ///
    /// Facts about the whole app stay. If either group isn't known, all facts stay.
    package func asked(of group: SubscriptionGroupID?) -> CustomerFacts {
        guard concernsOtherGroup(than: group) else { return self }
        var facts = self
        facts.hasSubscription = false
        (facts.status, facts.expiresAt, facts.latestEndSeen) = (nil, nil, nil)
        (facts.autoRenews, facts.expirationIntent, facts.ownership) = (nil, nil, nil)
        (facts.isActive, facts.cancelledAt, facts.renewsTo) = (nil, nil, nil)
        facts.forgetPlan()
        facts.subscriptionGroup = nil
        return facts
    }

    /// Whether some of these facts are about a subscription in another group.
    func concernsOtherGroup(than group: SubscriptionGroupID?) -> Bool {
        guard let group, let known = subscriptionGroup?.value else { return false }
        return known != group
    }
}

extension CustomerFacts {
    /// These facts without those that are too old to decide on; a forgotten fact counts as not known.
    ///
    /// Past events stay: offers used, refunds, and that there was a subscription. A statement that there was none, or
    /// that a list is complete, can be forgotten. A purchase stays in the environment that it was made in.
    package func forgetting(_ isTooOld: (FactSource, Timestamp) -> Bool) -> CustomerFacts {
        func fresh<Value>(_ fact: Fact<Value>?) -> Fact<Value>? {
            fact.flatMap { isTooOld($0.source, $0.observedAt) ? nil : $0 }
        }
        var facts = self
        if subscribedBefore?.value == false { facts.subscribedBefore = fresh(subscribedBefore) }
        facts.status = fresh(status)
        facts.expiresAt = fresh(expiresAt)
        facts.autoRenews = fresh(autoRenews)
        facts.isActive = fresh(isActive)
        facts.cancelledAt = fresh(cancelledAt)
        facts.renewsTo = fresh(renewsTo)
        facts.expirationIntent = fresh(expirationIntent)
        facts.eligibleWinBackOffers = fresh(eligibleWinBackOffers)
        facts.appleWinBackEligible = fresh(appleWinBackEligible)
        facts.billingPlan = fresh(billingPlan)
        facts.priceStepUpConsent = fresh(priceStepUpConsent)
        facts.commitmentEndsAt = fresh(commitmentEndsAt)
        facts.commitmentPeriod = fresh(commitmentPeriod)
        (facts.storefront, facts.region) = (fresh(storefront), fresh(region))
        facts.ownership = fresh(ownership)
        facts.offersUsed = fresh(offersUsed)
        if facts.offersUsed == nil { facts.offersSeen = offersSeen ?? offersUsed }
        facts.refundedAt = fresh(refundedAt)
        if facts.refundedAt == nil { facts.refundsSeen = refundsSeen ?? refundedAt }
        facts.refundsReportedSince = fresh(refundsReportedSince)
        return facts
    }
}
