// SPDX-License-Identifier: Apache-2.0

/// The part of one answer of the store about a purchase that the ledger may keep; facts and redemptions are computed
/// from it.
package struct GooglePlayObservation: Hashable, Sendable, Superseding {
    /// The state that the store reported.
    package var state: Reported<GooglePlayPurchaseState>
    /// When the subscription was granted; nil while the purchase is pending.
    package var startedAt: Timestamp?
    /// Where the customer was billed when the subscription was granted.
    package var region: Region?
    /// In a fixed order, regardless of the order in the store's answer.
    package var items: [GooglePlayPurchase.LineItem]
    /// Who canceled it, or why; nil if it wasn't canceled.
    package var cancellation: Reported<GooglePlayCancellation>?
    /// When the customer canceled it; nil if the store or the developer did.
    package var cancelledAt: Timestamp?
    /// When it resumes by itself, if it is paused.
    package var resumesAt: Timestamp?
    /// Whether a license tester bought it.
    package var isTest: Bool
    /// When the store was asked.
    package var observedAt: Timestamp

    /// What each observation has; the caller sets the rest.
    package init(
        state: Reported<GooglePlayPurchaseState>,
        items: [GooglePlayPurchase.LineItem],
        isTest: Bool,
        observedAt: Timestamp
    ) {
        self.state = state
        self.items = items.sorted { $0.contents.lexicographicallyPrecedes($1.contents) }
        self.isTest = isTest
        self.observedAt = observedAt
    }

    /// Takes what the ledger may keep of an answer of the store.
    package init(_ purchase: GooglePlayPurchase, observedAt: Timestamp) {
        self.init(state: purchase.state, items: purchase.lineItems, isTest: purchase.isTest, observedAt: observedAt)
        startedAt = purchase.startedAt
        region = purchase.region
        cancellation = purchase.cancellation
        cancelledAt = purchase.cancelledAt
        resumesAt = purchase.resumesAt
    }

    var signedAt: Timestamp { observedAt }

    var contents: [Content] {
        [
            Content(state.storeText), Content(startedAt), Content(region?.text), Content(cancellation?.storeText),
            Content(cancelledAt), Content(resumesAt), Content(isTest), Content(String(items.count)),
        ] + items.flatMap(\.contents)
    }
}

// MARK: - What it shows

extension GooglePlayObservation {
    /// Sandbox for the purchase of a license tester, else production.
    package var environment: StoreEnvironment { isTest ? .sandbox : .production }

    /// The latest end of all that was bought together.
    package var expiresAt: Timestamp? { items.compactMap(\.expiresAt).max() }

    /// Whether a subscription was granted, whatever became of it.
    var isGranted: Bool {
        guard let known = state.known else { return startedAt != nil }
        return !known.isBeforePurchase && startedAt != nil
    }

    /// Whether the customer has the service, or will have it again without another purchase.
    ///
    /// True also for a state that this version does not know, since the purchase may not have ended.
    var isLive: Bool {
        switch state.known {
        case .active, .inGracePeriod, .onHold, .paused, nil: true
        case .cancelled: expiresAt.map { $0 > observedAt } ?? true
        case .expired, .pending, .pendingPurchaseCancelled: false
        }
    }

    /// Whether it may go on at a higher price: the customer agreed, or could still agree when this was seen.
    var awaitsPriceStepUp: Bool {
        items.compactMap(\.priceStepUp).contains { stepUp in
            let mayGoOn = [.pending, .confirmed].contains(stepUp.consent.known)
            return mayGoOn && stepUp.deadline.map { $0 > observedAt } ?? false
        }
    }

    /// Whether it ended because another purchase continues it.
    var isReplaced: Bool { !isLive && cancellation?.known == .forReplacement }
}

extension GooglePlayPurchase.LineItem {
    var contents: [Content] {
        let (renews, ends): (Bool?, Bool?) =
            if case .autoRenewing(let isEnabled, let isCancellationPending) = plan {
                (isEnabled, isCancellationPending)
            } else {
                (nil, nil)
            }
        return [
            Content(productID), Content(basePlanID), Content(offerID), Content(expiresAt), Content(phase?.storeText),
            Content(plan == .prepaid), Content(renews), Content(ends), Content(replaced?.productID),
            Content(replaced?.basePlanID), Content(replaced?.offerID), Content(hasPromotionCode),
            Content(isRemovedLater), Content(isReplacedLater), Content(priceStepUp?.consent.storeText),
            Content(priceStepUp?.deadline),
        ]
    }

    /// Whether it renews; nil for a kind of plan that this version does not know.
    var renews: Bool? {
        switch plan {
        case .autoRenewing(let isEnabled, let isCancellationPending):
            isEnabled && !isCancellationPending && !isRemovedLater
        case .prepaid: false
        case nil: nil
        }
    }
}
