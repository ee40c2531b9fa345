// SPDX-License-Identifier: Apache-2.0

/// What one chain shows about its subscription at one instant.
struct ChainState {
    let latest: TransactionRecord
    let status: Fact<SubscriptionStatus>?
    /// The latest end that was seen, and as of when.
    let end: Fact<Timestamp>?
    /// Whether no later end can exist unseen.
    let isEndCertain: Bool
    /// Whether no later purchase can exist unseen.
    let isLatestCertain: Bool
    /// The renewal info, unless the chain has moved on since.
    let renewal: RenewalRecord?
}

/// What one piece of evidence says of the status.
private struct StatusClaim {
    /// Nil if it only shows that earlier claims no longer hold.
    var status: SubscriptionStatus?
    let observedAt: Timestamp
    let source: FactSource
    /// The instant at which the claim stops holding.
    var holdsUntil: Timestamp?
}

extension SubscriptionChain {
    /// The period that began last; a period that the customer upgraded out of does not count.
    package var latest: TransactionRecord? {
        inOrder.last { $0.record.isSubscription && !$0.record.isUpgraded }?.record
    }

    /// The transactions in the order of their periods.
    var inOrder: [(key: TransactionKey, record: TransactionRecord)] {
        transactions.sorted { one, other in
            let (first, second) = (one.value, other.value)
            if first.purchasedAt != second.purchasedAt { return first.purchasedAt < second.purchasedAt }
            let (end, otherEnd) = (first.expiresAt ?? first.purchasedAt, second.expiresAt ?? second.purchasedAt)
            return end == otherEnd ? one.key < other.key : end < otherEnd
        }.map { ($0.key, $0.value) }
    }

    /// What is known at `now`; nil for a chain without a subscription.
    func state(at now: Timestamp) -> ChainState? {
        latest.map { ofPeriod($0).state(of: $0, at: now) }
    }

    private func state(of latest: TransactionRecord, at now: Timestamp) -> ChainState {
        let end = end(of: latest, renewal)
        // The newest claim holds; of several with the same instant, the last one in this list.
        let claims = [
            runningPeriod(latest, at: now), renewal.flatMap { claim(of: $0, latest, end: end) },
            revocation(of: latest, renewal), statedStatus(end: end, renewal),
        ]
        let newest = claims.compactMap(\.self).reduce(nil as StatusClaim?) { newest, claim in
            if let newest, newest.observedAt > claim.observedAt { newest } else { claim }
        }
        let holds = newest?.holdsUntil.map { $0 > now } ?? true
        let status = newest.flatMap { claim in
            claim.status.map { Fact($0, source: claim.source, observedAt: claim.observedAt) }
        }
        let known = endObservation(latest, renewal)
        let isEndCertain = isCertain(end, renewal, at: now)
        return ChainState(
            latest: latest,
            status: holds ? status : nil,
            end: end.map { Fact($0, source: known.source, observedAt: known.observedAt) },
            isEndCertain: isEndCertain,
            isLatestCertain: isEndCertain && !isFollowed(latest, renewal),
            renewal: renewal
        )
    }
}

// MARK: - Whether the chain has moved on

extension SubscriptionChain {
    /// The chain without a renewal info and a status that are older than the purchase of the period.
    private func ofPeriod(_ latest: TransactionRecord) -> SubscriptionChain {
        var chain = self
        chain.renewal = renewal.flatMap { $0.signedAt >= latest.knownSince || $0.isOf(latest) ? $0 : nil }
        // A status that came with the renewal info, or after it, is about the period too.
        let since = chain.renewal.map { min($0.signedAt, latest.knownSince) } ?? latest.knownSince
        chain.status = status.flatMap { $0.observedAt >= since ? $0 : nil }
        return chain
    }
}

extension TransactionRecord {
    /// An instant at which the store had sold it: the store charges for a renewal up to a day before the period begins,
    /// and signs the transaction at that moment.
    ///
    /// Source: Apple, [Auto-renewable subscriptions](https://developer.apple.com/app-store/subscriptions/).
    fileprivate var knownSince: Timestamp { min(purchasedAt, signedAt) }
}

extension RenewalRecord {
    /// Whether it is about this period or a later one, even if it was signed before the period began.
    ///
    /// Before the charge, `renewsAt` is the end of the previous period, so it shows this. For a purchase it does not: a
    /// customer who upgrades may leave a period that would have ended later.
    fileprivate func isOf(_ period: TransactionRecord) -> Bool {
        guard let renewsAt, let end = period.expiresAt, period.reason?.known == .renewal else { return false }
        return renewsAt >= end && productID == period.productID
    }
}

// MARK: - Claims

extension SubscriptionChain {
    /// A period that has not ended shows an active subscription; one that has ended shows nothing.
    private func runningPeriod(_ latest: TransactionRecord, at now: Timestamp) -> StatusClaim? {
        guard latest.revokedAt == nil, let end = latest.expiresAt, end > now else { return nil }
        return StatusClaim(status: .active, observedAt: latest.signedAt, source: latest.source)
    }

    /// A refund shows a revoked subscription only if nothing was bought after it.
    private func revocation(of latest: TransactionRecord, _ renewal: RenewalRecord?) -> StatusClaim? {
        guard let revokedAt = latest.revokedAt else { return nil }
        guard isLast(latest, renewal) || sightings(nil).contains(where: { $0.observedAt >= revokedAt }) else {
            return nil
        }
        return StatusClaim(status: .revoked, observedAt: latest.signedAt, source: latest.source)
    }

    /// What the store's own status says.
    private func statedStatus(end: Timestamp?, _ renewal: RenewalRecord?) -> StatusClaim? {
        guard let status else { return nil }
        var claim = StatusClaim(
            status: status.status.known,
            observedAt: status.observedAt,
            source: status.source
        )
        switch claim.status {
        case .active: claim.holdsUntil = end
        case .inGracePeriod: claim.holdsUntil = renewal?.gracePeriodExpiresAt
        default: break
        }
        // If the end had passed when the store stated this, the statement is about another end.
        if let end = claim.holdsUntil, end <= status.observedAt { claim.holdsUntil = nil }
        if claim.holdsUntil == nil { claim.holdsUntil = claim.lastAttempt(after: end) }
        return claim
    }

    /// What a renewal info shows: trouble with the payment, an end for a stated reason, or that the period runs.
    ///
    /// Turned-off renewal together with a passed end shows nothing: the period that was seen may not be the
    /// last one, because the customer's device chooses what the service sees.
    private func claim(of renewal: RenewalRecord, _ latest: TransactionRecord, end: Timestamp?) -> StatusClaim? {
        var claim = StatusClaim(status: nil, observedAt: renewal.signedAt, source: renewal.source)
        if latest.revokedAt != nil, isLast(latest, renewal) {
            // Of a refunded period, the renewal info says only that it has ended, whichever was signed first.
            claim.status = .revoked
        } else if let grace = renewal.gracePeriodExpiresAt, grace > renewal.signedAt {
            claim.status = .inGracePeriod
            claim.holdsUntil = grace
        } else if renewal.isInBillingRetry == true {
            claim.status = .inBillingRetry
            claim.holdsUntil = claim.lastAttempt(after: end)
        } else if let end, end > renewal.signedAt {
            // The service does not know whether a period that it has not seen was refunded.
            claim.status = latest.revokedAt == nil && !isFollowed(latest, renewal) ? .active : nil
            claim.holdsUntil = end
        } else if renewal.expirationIntent != nil {
            claim.status = .expired
        }
        return claim
    }
}

extension StatusClaim {
    /// Until when the store may be trying to collect for the period after `end`; nil if it isn't trying.
    ///
    /// It tries for 60 days. If `end` was longer ago than that when the store stated this, there was a later end.
    ///
    /// Source: Apple, [Reducing involuntary subscriber churn](https://developer.apple.com/documentation/storekit/reducing-involuntary-subscriber-churn).
    fileprivate func lastAttempt(after end: Timestamp?) -> Timestamp? {
        guard status == .inBillingRetry || status == .inGracePeriod else { return nil }
        let last = (end ?? observedAt).adding(days: 60)
        return last > observedAt ? last : observedAt.adding(days: 60)
    }
}

// MARK: - The end

extension SubscriptionChain {
    /// Whether the renewal info shows a later period than the latest one that was seen.
    private func isFollowed(_ latest: TransactionRecord, _ renewal: RenewalRecord?) -> Bool {
        guard let renewsAt = renewal?.renewsAt else { return false }
        return latest.expiresAt.map { renewsAt > $0 } ?? true
    }

    /// Whether the renewal info shows that no period came after this one.
    private func isLast(_ latest: TransactionRecord, _ renewal: RenewalRecord?) -> Bool {
        guard let renewsAt = renewal?.renewsAt else { return false }
        return renewsAt == latest.expiresAt
    }

    /// The latest end that was seen; for a revoked period, when it was revoked.
    private func end(of latest: TransactionRecord, _ renewal: RenewalRecord?) -> Timestamp? {
        let end = [latest.expiresAt, renewal?.renewsAt].compactMap(\.self).max()
        guard let revokedAt = latest.revokedAt, end == latest.expiresAt else { return end }
        return min(revokedAt, end ?? revokedAt)
    }

    /// A passed end is the last one if later evidence would have shown a later end.
    private func isCertain(_ end: Timestamp?, _ renewal: RenewalRecord?, at now: Timestamp) -> Bool {
        guard let end else { return false }
        return end > now || sightings(renewal).contains { $0.observedAt >= end }
    }

    /// The instants and sources of evidence that would have shown a later transaction.
    private func sightings(_ renewal: RenewalRecord?) -> [(observedAt: Timestamp, source: FactSource)] {
        var sightings: [(observedAt: Timestamp, source: FactSource)] = []
        if let status { sightings.append((status.observedAt, status.source)) }
        if let renewal, renewal.renewsAt != nil { sightings.append((renewal.signedAt, renewal.source)) }
        if let historyCompleteAt { sightings.append((historyCompleteAt, .storeAPI)) }
        return sightings
    }

    private func endObservation(
        _ latest: TransactionRecord,
        _ renewal: RenewalRecord?
    ) -> (observedAt: Timestamp, source: FactSource) {
        sightings(renewal).reduce((latest.signedAt, latest.source)) { newest, sighting in
            sighting.observedAt >= newest.0 ? (sighting.observedAt, sighting.source) : newest
        }
    }
}
