// SPDX-License-Identifier: Apache-2.0

extension CustomerFacts {
    /// What is known of a customer in one store, together with what is known in the other: a customer who pays in one
    /// is no lapsed one, whichever is asked.
    ///
    /// Status, end, renewal and ownership are of the store where the subscription is most alive. Uses of offers and
    /// refunds of both count. What names things of one store, and whether there was a subscription in this one, stay.
    package func joined(with other: CustomerFacts) -> CustomerFacts {
        var facts = self
        if other.isMoreAlive(than: self) { facts.takeSubscription(of: other) }
        (facts.offersUsed, facts.offersSeen) = Self.joined(
            (offersUsed, offersSeen),
            (other.offersUsed, other.offersSeen)
        )
        (facts.refundedAt, facts.refundsSeen) = Self.joined(
            (refundedAt, refundsSeen),
            (other.refundedAt, other.refundsSeen)
        )
        facts.storefront = storefront ?? other.storefront
        facts.region = region ?? other.region
        return facts
    }

    private mutating func takeSubscription(of other: CustomerFacts) {
        status = other.status
        expiresAt = other.expiresAt
        latestEndSeen = other.latestEndSeen
        autoRenews = other.autoRenews
        expirationIntent = other.expirationIntent
        ownership = other.ownership
    }

    private func isMoreAlive(than other: CustomerFacts) -> Bool {
        guard let status else { return false }
        guard let otherStatus = other.status else { return true }
        let (mine, theirs) = (status.value.liveliness, otherStatus.value.liveliness)
        guard mine == theirs else { return mine > theirs }
        guard let end = expiresAt?.value, let otherEnd = other.expiresAt?.value else { return false }
        return end > otherEnd
    }

    /// The whole of a list if both have the whole, else what was seen of it.
    ///
    /// A store that tells nothing takes nothing away.
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

extension SubscriptionStatus {
    /// How far a subscription is from having ended; the greater, the further.
    fileprivate var liveliness: Int {
        switch self {
        case .active: 4
        case .inGracePeriod: 3
        case .inBillingRetry, .paused: 2
        case .expired: 1
        case .revoked: 0
        }
    }
}

extension CustomerFacts {
    /// The same, where a subscription in the other store counts as one of before too.
    ///
    /// Google Play lets who asks give its offers to anybody; the App Store looks at its own subscriptions alone.
    package func joinedWithPast(of other: CustomerFacts) -> CustomerFacts {
        var facts = joined(with: other)
        if other.subscribedBefore?.value == true || subscribedBefore == nil {
            facts.subscribedBefore = other.subscribedBefore ?? subscribedBefore
        }
        return facts
    }
}
