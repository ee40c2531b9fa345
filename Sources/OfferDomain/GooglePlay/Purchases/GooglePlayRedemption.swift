// SPDX-License-Identifier: Apache-2.0

/// One use that a customer made, or is about to make, of an offer at Google Play, and what came of it.
package struct GooglePlayRedemption: Hashable, Sendable {
    /// The purchase that the offer came with.
    package let purchase: PurchaseKey
    /// The offer, as the store names it.
    package let offer: GooglePlayOfferPath
    /// When the purchase began; of an offer that came later, when it was first seen; of a pending one, the same.
    package let redeemedAt: Timestamp
    /// What came of it, as of the newest evidence.
    package let state: RedemptionState
    /// The first money that was paid back without undoing the use.
    package let refund: Refund?
    /// Whether it is a test purchase.
    package let environment: StoreEnvironment
    /// What the purchase carries to name its grant; believed by nobody before it is verified.
    package let mark: String?
}

extension GooglePlayPurchaseRecord {
    /// The uses of offers that came with this purchase, oldest first.
    ///
    /// They are drawn as of the newest evidence and not as of now: when it arrived makes no difference.
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

    /// What the store calls cancelled for a replacement goes on as another purchase; nobody left.
    private func outcome(of use: Use, _ latest: GooglePlayObservation) -> RedemptionState {
        if latest.state.known == .pending { return .pending }
        if let paidInFullAt = use.paidInFullAt { return .converted(at: paidInFullAt) }
        if let undoneAt { return .undone(at: undoneAt) }
        guard !latest.isLive, !latest.awaitsPriceStepUp, latest.cancellation?.known != .forReplacement else {
            return .redeemed
        }
        return .notConverted(at: latest.expiresAt ?? latest.observedAt)
    }

    /// When the purchase was taken back, or all of the money paid back.
    private var undoneAt: Timestamp? { ([revokedAt] + refunds.filter(\.isFull).map(\.at)).compactMap(\.self).min() }

    /// The first money that was paid back: after the full price was seen any, before that a part, since all of it undoes
    /// the use.
    private func refund(of use: Use) -> Refund? {
        if use.paidInFullAt != nil { return refunds.first ?? revokedAt.map { Refund(at: $0) } }
        return undoneAt == nil ? refunds.first : nil
    }
}
