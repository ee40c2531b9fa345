// SPDX-License-Identifier: Apache-2.0

extension CustomerFacts {
    /// Combines the facts from this store with those from the other: a customer who pays in either has not lapsed.
    ///
    /// Status, end, renewal and ownership come from the store whose subscription is most alive. They are unknown if a
    /// subscription may be running and none surely is. Offer uses and refunds of both stores count. `subscribedBefore`
    /// and facts that name things of one store stay those of this store.
    package func joined(with other: CustomerFacts) -> CustomerFacts {
        var facts = self
        switch (subscriptionState, other.subscriptionState) {
        case (_, .none): break
        case (.none, _): facts.takeSubscription(of: other)
        case (.surely(let mine), .surely(let theirs)) where mine != theirs:
            if theirs > mine { facts.takeSubscription(of: other) }
        case (.surely, .surely):
            if let end = expiresAt?.value, let otherEnd = other.expiresAt?.value {
                if otherEnd > end { facts.takeSubscription(of: other) }
            } else {
                facts.leaveSubscriptionOpen(with: other)
                facts.status = status?.value == other.status?.value ? status : nil
            }
        case (.surely(.mostAlive), .mayRun):
            facts.leaveSubscriptionOpen(with: other)
            facts.status = status
        case (.mayRun, .surely(.mostAlive)):
            facts.leaveSubscriptionOpen(with: other)
            facts.status = other.status
        case (.mayRun, _), (_, .mayRun): facts.leaveSubscriptionOpen(with: other)
        }
        (facts.offersUsed, facts.offersSeen) = Self.joined(
            (offersUsed, offersSeen),
            (other.offersUsed, other.offersSeen)
        )
        (facts.refundedAt, facts.refundsSeen) = Self.joined(
            (refundedAt, refundsSeen),
            (other.refundedAt, other.refundsSeen)
        )
        facts.refundsReportedSince = facts.refundedAt == nil ? refundsReportedSince(with: other) : nil
        facts.appleWinBackEligible = appleWinBackEligible ?? other.appleWinBackEligible
        facts.storefront = storefront ?? other.storefront
        facts.region = region ?? other.region
        facts.environment = environment ?? other.environment
        return facts
    }

    /// Keeps only the facts that stay true if the store has more than the evidence behind them.
    package func open(at now: Timestamp) -> CustomerFacts {
        var facts = self
        if subscribedBefore?.value == false { facts.subscribedBefore = nil }
        (facts.offersUsed, facts.offersSeen) = (nil, offersUsed ?? offersSeen)
        (facts.refundedAt, facts.refundsSeen) = (nil, refundedAt ?? refundsSeen)
        facts.refundsReportedSince = nil
        facts.leaveListsOpen(at: now)
        if subscriptionState != .surely(.mostAlive) { facts.leaveSubscriptionOpen(with: CustomerFacts()) }
        return facts
    }

    /// Marks each unknown list as empty and incomplete: this store may have more entries, so the other store's list is
    /// not complete for both.
    mutating func leaveListsOpen(at now: Timestamp) {
        if offersUsed == nil { offersSeen = offersSeen ?? Fact([], source: .ledger, observedAt: now) }
        if refundedAt == nil { refundsSeen = refundsSeen ?? Fact([], source: .ledger, observedAt: now) }
    }

    /// The later of the instants since which each store's refunds are complete, ignoring a store with a complete list
    /// or without any; nil if a store has no such instant.
    private func refundsReportedSince(with other: CustomerFacts) -> Fact<Timestamp>? {
        let parts = [self, other].filter { $0.refundsSeen != nil }
        let instants = parts.compactMap(\.refundsReportedSince)
        return instants.count == parts.count ? instants.max { $0.value < $1.value } : nil
    }

    private mutating func takeSubscription(of other: CustomerFacts) {
        hasSubscription = other.hasSubscription
        status = other.status
        expiresAt = other.expiresAt
        latestEndSeen = other.latestEndSeen
        autoRenews = other.autoRenews
        (isActive, cancelledAt, renewsTo) = (other.isActive, other.cancelledAt, other.renewsTo)
        expirationIntent = other.expirationIntent
        ownership = other.ownership
        (billingPlan, commitmentEndsAt) = (other.billingPlan, other.commitmentEndsAt)
        (commitmentPeriod, priceStepUpConsent) = (other.commitmentPeriod, other.priceStepUpConsent)
    }

    /// Removes all facts about the subscription except the latest end that was seen.
    private mutating func leaveSubscriptionOpen(with other: CustomerFacts) {
        let ends = [expiresAt ?? latestEndSeen, other.expiresAt ?? other.latestEndSeen].compactMap(\.self)
        latestEndSeen = ends.max { $0.value < $1.value }
        hasSubscription = true
        (status, expiresAt, autoRenews, expirationIntent, ownership) = (nil, nil, nil, nil, nil)
        (isActive, cancelledAt, renewsTo) = (nil, nil, nil)
        forgetPlan()
    }

    /// What is known about one store's subscription, for a comparison with the other store's.
    private enum SubscriptionState: Equatable {
        /// No subscription is known.
        case none
        /// There is a subscription, and its status isn't known.
        case mayRun
        case surely(Liveliness)
    }

    private var subscriptionState: SubscriptionState {
        if let status { return .surely(Liveliness(status.value)) }
        return hasSubscription ? .mayRun : .none
    }

    /// The complete list if both stores have a complete one, else the entries that were seen.
    ///
    /// A store without any list, such as one in which no subscription was seen, changes nothing.
    private static func joined<Element>(
        _ one: (whole: Fact<[Element]>?, seen: Fact<[Element]>?),
        _ other: (whole: Fact<[Element]>?, seen: Fact<[Element]>?)
    ) -> (whole: Fact<[Element]>?, seen: Fact<[Element]>?) {
        guard let mine = one.whole ?? one.seen else { return other.whole.map { (nil, $0) } ?? (nil, other.seen) }
        guard let theirs = other.whole ?? other.seen else { return one }
        let both = Fact(
            mine.value + theirs.value,
            source: mine.source,
            observedAt: min(mine.observedAt, theirs.observedAt)
        )
        return one.whole != nil && other.whole != nil ? (both, nil) : (nil, both)
    }
}

/// How far a subscription is from having ended; greater is further.
///
/// If two are equal, the subscription that ends later counts.
private struct Liveliness: Comparable {
    private let rank: Int

    static let mostAlive = Liveliness(.active)

    init(_ status: SubscriptionStatus) {
        rank =
            switch status {
            case .active: 3
            case .inGracePeriod: 2
            case .inBillingRetry, .paused: 1
            case .expired, .revoked: 0
            }
    }

    static func < (one: Liveliness, other: Liveliness) -> Bool { one.rank < other.rank }
}

extension CustomerFacts {
    /// The combined facts, where a subscription in the other store also makes `subscribedBefore` true.
    ///
    /// Google Play lets the developer give an offer to any customer; the App Store only considers its own
    /// subscriptions. `subscribedBefore` is false only if it is false for both stores.
    package func joinedWithPast(of other: CustomerFacts) -> CustomerFacts {
        var facts = joined(with: other)
        switch (subscribedBefore?.value, other.subscribedBefore?.value) {
        case (true, _): break
        case (_, true): facts.subscribedBefore = other.subscribedBefore
        case (false, false): break
        default: facts.subscribedBefore = nil
        }
        return facts
    }
}
