// SPDX-License-Identifier: Apache-2.0

/// One use that a customer made, or is about to make, of an offer at Google Play, and what came of it.
package struct GooglePlayRedemption: Hashable, Sendable {
    /// The purchase that the offer came with.
    package let purchase: PurchaseKey
    /// The offer, as the store names it.
    package let offer: GooglePlayOfferPath
    /// When the purchase began; for a later offer or a pending purchase, when the offer was first seen.
    package let redeemedAt: Timestamp
    /// What came of it, as of the newest evidence.
    package let state: RedemptionState
    /// The first money that was paid back without undoing the use.
    package let refund: Refund?
    /// Whether it is a test purchase.
    package let environment: StoreEnvironment
    /// What the purchase carries to name its grant; not trusted until it is verified.
    package let mark: String?
}

extension GooglePlayPurchaseRecord {
    /// The uses of offers that came with this purchase, oldest first.
    ///
    /// They are computed as of the newest evidence, not as of now, so its time of arrival does not matter.
    package func redemptions(_ key: PurchaseKey) -> [GooglePlayRedemption] {
        guard let latest, latest.state.known != .pendingPurchaseCancelled else { return [] }
        return uses.map { offer, use in
            GooglePlayRedemption(
                purchase: key,
                offer: offer,
                redeemedAt: usedAt(use),
                state: outcome(of: use, latest),
                refund: refund(of: use),
                environment: latest.environment,
                mark: mark
            )
        }.sorted { ($0.redeemedAt, $0.offer) < ($1.redeemedAt, $1.offer) }
    }

    /// After a cancellation for a replacement, another purchase continues; the customer has not left.
    private func outcome(of use: Use, _ latest: GooglePlayObservation) -> RedemptionState {
        if latest.state.known == .pending { return .pending }
        if let paidInFullAt = use.paidInFullAt { return .converted(at: paidInFullAt) }
        if let undoneAt { return .undone(at: undoneAt) }
        guard !latest.isLive, !latest.awaitsPriceStepUp, latest.cancellation?.known != .forReplacement else {
            return .redeemed
        }
        return .notConverted(at: latest.expiresAt ?? latest.observedAt)
    }

    /// When the purchase was revoked, or all of the money paid back.
    private var undoneAt: Timestamp? { ([revokedAt] + refunds.filter(\.isFull).map(\.at)).compactMap(\.self).min() }

    /// The first refund: any refund once the full price was seen; before that only a partial one, since a full refund
    /// undoes the use.
    private func refund(of use: Use) -> Refund? {
        if use.paidInFullAt != nil { return refunds.first ?? revokedAt.map { Refund(at: $0) } }
        return undoneAt == nil ? refunds.first : nil
    }
}
