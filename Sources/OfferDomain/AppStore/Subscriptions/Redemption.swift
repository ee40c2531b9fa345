// SPDX-License-Identifier: Apache-2.0

/// One use that a customer made, or is about to make, of an offer, and what came of it.
package struct Redemption: Hashable, Sendable {
    /// Its name, which stays the same unless an earlier transaction becomes known.
    package let key: RedemptionKey
    /// The product bought with it; for a pending redemption, the product that the customer has.
    package let productID: String
    /// The kind of offer; it is always the kind that the caller asked for.
    package let offerType: OfferType
    /// The store's id of the offer.
    package let offerID: String?
    /// When the first discounted period began; for a pending redemption, when the store reported it.
    package private(set) var redeemedAt: Timestamp
    /// How many discounted periods there were so far; 0 for a pending redemption.
    package let periods: Int
    /// What came of it, as of the newest evidence.
    package let state: RedemptionState
    /// The first money that was paid back without undoing the use.
    package var refund: Refund?
    /// True if the customer bought at ``redeemedAt``; false if the store renewed with an offer that the customer took
    /// before; `nil` if the store doesn't say.
    package let wasBought: Bool?
    /// The account that the purchase names; `nil` if it names none, or if a renewal began the redemption.
    package let account: AccountKey?
    /// Whether it is a test purchase.
    package let environment: StoreEnvironment
    /// The source of the newest evidence of it.
    package let source: FactSource
    /// When the newest evidence of it was signed.
    package let observedAt: Timestamp
}

extension Redemption {
    /// The same redemption with another ``redeemedAt``.
    package func redeemed(at instant: Timestamp) -> Redemption {
        var redemption = self
        redemption.redeemedAt = instant
        return redemption
    }
}

/// Names a redemption by the first of its transactions.
///
/// The order in which evidence arrives does not matter. If the first transaction becomes known after the second, the
/// name changes. So a changed chain has all its redemptions computed again, and they replace the earlier ones.
package struct RedemptionKey: Hashable, Comparable, Sendable {
    /// The chain in which the offer was used.
    package let chain: ChainKey
    /// Nil for a pending redemption; a chain has at most one.
    package let firstTransaction: TransactionKey?

    package init(chain: ChainKey, firstTransaction: TransactionKey?) {
        self.chain = chain
        self.firstTransaction = firstTransaction
    }

    /// By the chain, then a pending one first.
    package static func < (one: RedemptionKey, other: RedemptionKey) -> Bool {
        if one.chain != other.chain { return one.chain < other.chain }
        guard let first = one.firstTransaction else { return other.firstTransaction != nil }
        return other.firstTransaction.map { first < $0 } ?? false
    }
}

extension SubscriptionHistory {
    /// The customer's redemptions of one type of offer in the whole app, oldest first.
    package func redemptions(of type: OfferType = .promotional, at now: Timestamp) -> [Redemption] {
        chains.flatMap { $1.redemptions(of: type, chain: $0, at: now) }.sorted {
            ($0.redeemedAt, $0.key) < ($1.redeemedAt, $1.key)
        }
    }
}

extension SubscriptionChain {
    /// The redemptions in this chain, oldest first, a pending one last.
    package func redemptions(
        of type: OfferType = .promotional,
        chain: ChainKey,
        at now: Timestamp
    ) -> [Redemption] {
        let state = state(at: now)
        let runs = offerRuns(chain: chain).filter { $0.type.known == type }
        return runs.compactMap { $0.redemption(type, state) }
            + (pending(type, in: chain, state).map { [$0] } ?? [])
    }

    /// Whether a redemption may have begun with an unknown transaction: the history is incomplete, and its first known
    /// transaction is the renewal that begins the redemption.
    package func mayHaveBegunEarlier(_ redemption: Redemption) -> Bool {
        guard historyCompleteAt == nil, redemption.wasBought == false, let first = inOrder.first else { return false }
        return first.key == redemption.key.firstTransaction
    }

    /// The offer of the next renewal; nil if the running offer continues, or if no renewal will come.
    private func pending(_ type: OfferType, in chain: ChainKey, _ state: ChainState?) -> Redemption? {
        guard let state, let renewal = state.renewal, renewal.offerType?.known == type else { return nil }
        let isRunning = state.latest.offerType?.known == type && state.latest.offerID == renewal.offerID
        let hasEnded = [.expired, .revoked].contains(state.status?.value)
        guard !isRunning, !hasEnded, state.latest.ownership?.known != .familyShared else { return nil }
        return Redemption(
            key: RedemptionKey(chain: chain, firstTransaction: nil),
            productID: renewal.productID,
            offerType: type,
            offerID: renewal.offerID,
            redeemedAt: renewal.signedAt,
            periods: 0,
            state: .pending,
            wasBought: false,
            account: nil,
            environment: renewal.environment,
            source: renewal.source,
            observedAt: renewal.signedAt
        )
    }
}

extension OfferRun {
    fileprivate func redemption(_ type: OfferType, _ state: ChainState?) -> Redemption? {
        guard let first = parts.first, let last = parts.last?.record else { return nil }
        let wasBought = first.record.reason?.known.map { $0 == .purchase }
        let evidence = (records + following).reduce(last) { $0.newer(of: $1) }
        return Redemption(
            key: RedemptionKey(chain: chain, firstTransaction: first.key),
            productID: first.record.productID,
            offerType: type,
            offerID: offerID,
            redeemedAt: first.record.purchasedAt,
            periods: parts.count,
            state: outcome(after: last, state),
            refund: last.isUndone ? nil : (records + continuation(after: last)).compactMap(\.refund).min(),
            wasBought: wasBought,
            account: wasBought == false ? nil : first.record.account,
            environment: first.record.environment,
            source: evidence.source,
            observedAt: evidence.signedAt
        )
    }

    /// What came after the last discounted period.
    private func outcome(after last: TransactionRecord, _ state: ChainState?) -> RedemptionState {
        if let revokedAt = last.revokedAt, last.isUndone { return .undone(at: revokedAt) }
        guard let next = following.first else {
            guard let status = state?.status?.value, [.expired, .revoked].contains(status) else { return .redeemed }
            return .notConverted(at: state?.end?.value ?? last.expiresAt ?? last.purchasedAt)
        }
        if next.offerType != nil { return .notConverted(at: next.purchasedAt) }
        if isReturn(next, after: last) { return .notConverted(at: last.accessEndsAt ?? next.purchasedAt) }
        return .converted(at: next.purchasedAt)
    }

    /// The periods at full price that follow the discounted ones, until the customer leaves or takes another offer.
    private func continuation(after last: TransactionRecord) -> [TransactionRecord] {
        var (continuation, previous) = ([TransactionRecord](), last)
        for next in following {
            guard next.offerType == nil, !isReturn(next, after: previous) else { break }
            continuation.append(next)
            previous = next
        }
        return continuation
    }

    /// Whether the customer left and came back, which is not a result of the offer.
    ///
    /// The store tries to collect for 60 days, so a renewal may begin that long after the end.
    ///
    /// Source: Apple, [Reducing involuntary subscriber churn](https://developer.apple.com/documentation/storekit/reducing-involuntary-subscriber-churn).
    private func isReturn(_ next: TransactionRecord, after last: TransactionRecord) -> Bool {
        guard let end = last.accessEndsAt, next.purchasedAt > end else { return false }
        switch next.reason?.known {
        case .purchase: return true
        case .renewal: return false
        case nil: return next.purchasedAt > end.adding(days: 60)
        }
    }
}

extension TransactionRecord {
    /// Whether the whole period was taken back; after a partial refund, the customer had it for a time.
    fileprivate var isUndone: Bool { revokedAt != nil && refund?.isFull != false }

    /// When a period that is not undone ended, or will.
    fileprivate var accessEndsAt: Timestamp? { [expiresAt, revokedAt].compactMap(\.self).min() }
}
