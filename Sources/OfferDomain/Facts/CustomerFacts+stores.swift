// SPDX-License-Identifier: Apache-2.0

extension CustomerFacts {
    /// What is known of a customer in one store, together with what is known in the other: a customer who pays in one
    /// is no lapsed one, whichever is asked.
    ///
    /// Status, end, renewal and ownership are of the store where the subscription is most alive; where one of them may
    /// run and none surely does, nobody tells them. Uses of offers and refunds of both count. What names things of one
    /// store, and whether there was a subscription in this one, stay.
    package func joined(with other: CustomerFacts) -> CustomerFacts {
        var facts = self
        switch (standing, other.standing) {
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
        facts.refundsToldSince = facts.refundedAt == nil ? refundsToldSince(with: other) : nil
        facts.appleWinBackEligible = appleWinBackEligible ?? other.appleWinBackEligible
        facts.storefront = storefront ?? other.storefront
        facts.region = region ?? other.region
        facts.environment = environment ?? other.environment
        return facts
    }

    /// The same facts where the store could tell of more than they rest on: only what more can't change is kept.
    package func open(at now: Timestamp) -> CustomerFacts {
        var facts = self
        if subscribedBefore?.value == false { facts.subscribedBefore = nil }
        (facts.offersUsed, facts.offersSeen) = (nil, offersUsed ?? offersSeen)
        (facts.refundedAt, facts.refundsSeen) = (nil, refundedAt ?? refundsSeen)
        facts.refundsToldSince = nil
        facts.leaveListsOpen(at: now)
        if standing != .surely(.mostAlive) { facts.leaveSubscriptionOpen(with: CustomerFacts()) }
        return facts
    }

    /// Tells lists of which nothing was told as seen and empty: in this store there may be more, so that the other's
    /// list is not the whole of both.
    mutating func leaveListsOpen(at now: Timestamp) {
        if offersUsed == nil { offersSeen = offersSeen ?? Fact([], source: .ledger, observedAt: now) }
        if refundedAt == nil { refundsSeen = refundsSeen ?? Fact([], source: .ledger, observedAt: now) }
    }

    /// The later of two instants, if the one store has all refunds since the one, and the other since the other; a store
    /// that has all of them, or tells nothing, makes no difference.
    private func refundsToldSince(with other: CustomerFacts) -> Fact<Timestamp>? {
        let parts = [self, other].filter { $0.refundsSeen != nil }
        let instants = parts.compactMap(\.refundsToldSince)
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

    /// Keeps no more than how late the end is at least.
    private mutating func leaveSubscriptionOpen(with other: CustomerFacts) {
        let ends = [expiresAt ?? latestEndSeen, other.expiresAt ?? other.latestEndSeen].compactMap(\.self)
        latestEndSeen = ends.max { $0.value < $1.value }
        hasSubscription = true
        (status, expiresAt, autoRenews, expirationIntent, ownership) = (nil, nil, nil, nil, nil)
        (isActive, cancelledAt, renewsTo) = (nil, nil, nil)
        forgetPlan()
    }

    /// How a store's subscription stands beside the other's.
    private enum Standing: Equatable {
        /// Nobody told of one.
        case none
        /// There is one, and how it stands isn't known.
        case mayRun
        case surely(Liveliness)
    }

    private var standing: Standing {
        if let status { return .surely(Liveliness(status.value)) }
        return hasSubscription ? .mayRun : .none
    }

    /// The whole of a list if both have the whole, else what was seen of it.
    ///
    /// A store that tells nothing, as one in which no subscription was seen, takes nothing away.
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

/// How far a subscription is from having ended; the greater, the further.
///
/// Of two alike, the one that ends later counts.
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
    /// The same, where a subscription in the other store counts as one of before too.
    ///
    /// Google Play lets who asks give its offers to anybody; the App Store looks at its own subscriptions alone. That
    /// there never was one in either store is known only if it is known of both.
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
