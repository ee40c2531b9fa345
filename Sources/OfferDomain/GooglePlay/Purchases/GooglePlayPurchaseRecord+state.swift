// SPDX-License-Identifier: Apache-2.0

/// What one purchase tells of its subscription at one instant.
struct GooglePlayPurchaseStanding {
    let key: PurchaseKey
    let purchase: GooglePlayPurchaseRecord
    let latest: GooglePlayObservation
    /// Nil if what was seen no longer holds, and what does wasn't seen.
    let status: Fact<SubscriptionStatus>?
    /// The latest end that was seen.
    let end: Fact<Timestamp>?
    /// Whether no later end can exist unseen.
    let isEndCertain: Bool
}

extension GooglePlayPurchaseRecord {
    /// What is known at `now`; nil of a purchase that never came to anything, or that nobody saw before it was gone.
    func standing(_ key: PurchaseKey, at now: Timestamp) -> GooglePlayPurchaseStanding? {
        guard let latest, latest.isGranted else { return nil }
        if let takenBackAt { return standing(key, latest, takenBackAt: takenBackAt) }
        let (status, isEndCertain) = isGone ? (ended, latest.hasEnded) : latest.claim(at: now, ended: ended)
        let observedAt = (isGone ? goneAt : nil) ?? latest.observedAt
        return GooglePlayPurchaseStanding(
            key: key,
            purchase: self,
            latest: latest,
            status: status.map { Fact($0, source: source, observedAt: observedAt) },
            end: latest.expiresAt.map { Fact($0, source: source, observedAt: latest.observedAt) },
            isEndCertain: isEndCertain
        )
    }

    /// What is known of a purchase that the store told to be taken back, and of which it had no answer then or since.
    private func standing(
        _ key: PurchaseKey,
        _ latest: GooglePlayObservation,
        takenBackAt instant: Timestamp
    ) -> GooglePlayPurchaseStanding {
        let end = latest.expiresAt.map { min($0, instant) } ?? instant
        return GooglePlayPurchaseStanding(
            key: key,
            purchase: self,
            latest: latest,
            status: Fact(.revoked, source: .notification, observedAt: instant),
            end: Fact(end, source: .notification, observedAt: instant),
            isEndCertain: true
        )
    }

    /// Who tells of it: the store by itself, once it has begun to, and then it tells of every change.
    package var source: FactSource { isReported ? .notification : .storeAPI }

    /// The status of a purchase that is over: the store has no state for one that was taken back.
    private var ended: SubscriptionStatus { revokedAt == nil ? .expired : .revoked }
}

extension GooglePlayObservation {
    /// Whether the end had come when this was seen.
    fileprivate var hasEnded: Bool { !isLive && state.known?.isBeforePurchase == false }

    /// The status at `now`, and whether the end that was seen is the last.
    ///
    /// What would have been renewed by now shows nothing: neither that it was, nor that it wasn't. What won't renew
    /// ends when it says. A customer can take the cancellation back before the end; the store tells of that. A hold and
    /// a pause end by themselves, and what came of them isn't known if the store's word of it was lost.
    fileprivate func claim(
        at now: Timestamp,
        ended: SubscriptionStatus
    ) -> (status: SubscriptionStatus?, isEndCertain: Bool) {
        let hasPassed = expiresAt.map { $0 <= now } ?? false
        // An end that had passed when this was said is not the end that it is about.
        let hasPassedSince = hasPassed && expiresAt.map { $0 > observedAt } ?? false
        switch state.known {
        case .active: return (hasPassedSince ? nil : .active, !hasPassed)
        case .inGracePeriod: return (hasPassedSince ? nil : .inGracePeriod, !hasPassed)
        case .onHold: return holds(until: holdEndsBy, at: now) ? (.inBillingRetry, true) : (nil, false)
        case .paused: return holds(until: pauseEndsBy, at: now) ? (.paused, true) : (nil, false)
        case .cancelled: return (hasPassed ? ended : .active, true)
        case .expired: return (ended, true)
        case .pending, .pendingPurchaseCancelled, nil: return (nil, false)
        }
    }

    /// Whether what was seen may still be so; what outlasted its time when it was seen has all of it again.
    private func holds(until end: (Timestamp) -> Timestamp, at now: Timestamp) -> Bool {
        let last = end(expiresAt ?? observedAt)
        return now < (last > observedAt ? last : end(observedAt))
    }

    /// When a hold is over that began at `start`: grace period and hold together take 60 days at most.
    ///
    /// Source: Google, [AutoRenewingBasePlanType](https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.subscriptions#autorenewingbaseplantype), `accountHoldDuration`.
    private func holdEndsBy(_ start: Timestamp) -> Timestamp { start.adding(days: 60) }

    /// When a pause is over that began at `start`: when the store said, or else after three months.
    ///
    /// Source: Google, [Subscription lifecycle](https://developer.android.com/google/play/billing/lifecycle/subscriptions#pause).
    private func pauseEndsBy(_ start: Timestamp) -> Timestamp {
        guard let resumesAt, resumesAt > observedAt else { return start.adding(days: 92) }
        return resumesAt
    }
}

extension GooglePlayPurchaseStanding {
    /// Which of several purchases is told of: a running one first; then one of which too little is known, since it may
    /// run; then those with trouble; then the one that ended last.
    var precedence: Int {
        switch status?.value {
        case .active: 4
        case nil: 3
        case .inGracePeriod: 2
        case .inBillingRetry, .paused: 1
        case .expired, .revoked: 0
        }
    }

    /// Whether what is told of comes after what `other` tells of.
    func comesAfter(_ other: GooglePlayPurchaseStanding) -> Bool {
        if precedence != other.precedence { return precedence > other.precedence }
        let (end, otherEnd) = (end?.value.milliseconds ?? .min, other.end?.value.milliseconds ?? .min)
        return end == otherEnd ? other.key < key : end > otherEnd
    }
}
