// SPDX-License-Identifier: Apache-2.0

/// What one purchase shows about its subscription at one instant.
struct GooglePlayPurchaseSummary {
    let key: PurchaseKey
    let purchase: GooglePlayPurchaseRecord
    let latest: GooglePlayObservation
    /// Nil if the status that was seen no longer holds, and the present one is unknown.
    let status: Fact<SubscriptionStatus>?
    /// The latest end that was seen.
    let end: Fact<Timestamp>?
    /// Whether no later end can exist unseen.
    let isEndCertain: Bool
}

extension GooglePlayPurchaseRecord {
    /// What is known at `now`; nil if nothing was ever granted, or if the purchase was gone before the service saw it.
    func summary(_ key: PurchaseKey, at now: Timestamp) -> GooglePlayPurchaseSummary? {
        guard let latest, latest.isGranted else { return nil }
        if let takenBackAt { return summary(key, latest, takenBackAt: takenBackAt) }
        let (status, isEndCertain) = isGone ? (ended, latest.hasEnded) : latest.claim(at: now, ended: ended)
        let observedAt = (isGone ? goneAt : nil) ?? latest.observedAt
        return GooglePlayPurchaseSummary(
            key: key,
            purchase: self,
            latest: latest,
            status: status.map { Fact($0, source: source, observedAt: observedAt) },
            end: latest.expiresAt.map { Fact($0, source: source, observedAt: latest.observedAt) },
            isEndCertain: isEndCertain
        )
    }

    /// What is known about a purchase that the store reported as revoked and has not answered about since.
    private func summary(
        _ key: PurchaseKey,
        _ latest: GooglePlayObservation,
        takenBackAt instant: Timestamp
    ) -> GooglePlayPurchaseSummary {
        let end = latest.expiresAt.map { min($0, instant) } ?? instant
        return GooglePlayPurchaseSummary(
            key: key,
            purchase: self,
            latest: latest,
            status: Fact(.revoked, source: .notification, observedAt: instant),
            end: Fact(end, source: .notification, observedAt: instant),
            isEndCertain: true
        )
    }

    /// The source of its state: notifications once one has come, because the store then reports every change.
    package var source: FactSource { isReported ? .notification : .storeAPI }

    /// The status of a purchase that is over: the store has no state for a revoked purchase.
    private var ended: SubscriptionStatus { revokedAt == nil ? .expired : .revoked }
}

extension GooglePlayObservation {
    /// Whether the end had come when this was seen.
    fileprivate var hasEnded: Bool { !isLive && state.known?.isBeforePurchase == false }

    /// The status at `now`, and whether the end that was seen is the last.
    ///
    /// If the end has passed and the purchase was set to renew, its status is unknown. A purchase that won't renew
    /// ends then. A customer can undo the cancellation before the end; the store reports that. A hold and a pause end
    /// by themselves; the result is unknown if the store's message about it was lost.
    fileprivate func claim(
        at now: Timestamp,
        ended: SubscriptionStatus
    ) -> (status: SubscriptionStatus?, isEndCertain: Bool) {
        let hasPassed = expiresAt.map { $0 <= now } ?? false
        // If the end had passed when the store reported this, the report is about another end.
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

    /// Whether the state may still hold; a state that was seen after its time limit gets the full time again.
    private func holds(until end: (Timestamp) -> Timestamp, at now: Timestamp) -> Bool {
        let last = end(expiresAt ?? observedAt)
        return now < (last > observedAt ? last : end(observedAt))
    }

    /// The latest end of a hold that began at `start`: grace period and hold together take 60 days at most.
    ///
    /// Source: Google, [AutoRenewingBasePlanType](https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.subscriptions#autorenewingbaseplantype), `accountHoldDuration`.
    private func holdEndsBy(_ start: Timestamp) -> Timestamp { start.adding(days: 60) }

    /// The end of a pause that began at `start`: the end that the store stated, or else after three months.
    ///
    /// Source: Google, [Subscription lifecycle](https://developer.android.com/google/play/billing/lifecycle/subscriptions#pause).
    private func pauseEndsBy(_ start: Timestamp) -> Timestamp {
        guard let resumesAt, resumesAt > observedAt else { return start.adding(days: 92) }
        return resumesAt
    }
}

extension GooglePlayPurchaseSummary {
    /// Which of several purchases supplies the facts: a running one first; then one with an unknown status, since it
    /// may be running; then those with trouble; then the one that ended last.
    var precedence: Int {
        switch status?.value {
        case .active: 4
        case nil: 3
        case .inGracePeriod: 2
        case .inBillingRetry, .paused: 1
        case .expired, .revoked: 0
        }
    }

    /// Whether this purchase has precedence over `other`.
    func comesAfter(_ other: GooglePlayPurchaseSummary) -> Bool {
        if precedence != other.precedence { return precedence > other.precedence }
        let (end, otherEnd) = (end?.value.milliseconds ?? .min, other.end?.value.milliseconds ?? .min)
        return end == otherEnd ? other.key < key : end > otherEnd
    }
}
