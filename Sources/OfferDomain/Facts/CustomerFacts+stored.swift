// SPDX-License-Identifier: Apache-2.0

// Facts that a trusted caller stated some time ago, for requests that cannot state them.
extension CustomerFacts {
    /// These facts, with each missing one taken from the facts that were stored at `storedAt`.
    ///
    /// Stored facts about the period, the offers used or the refunds are left out if newer ones were observed since
    /// `storedAt`. Stored facts about the period are also left out if the stored end has passed since.
    package func filled(fromStored stored: CustomerFacts, storedAt: Timestamp, now: Timestamp) -> CustomerFacts {
        func isSeenSince(_ observedAt: Timestamp?) -> Bool { observedAt.map { $0 >= storedAt } ?? false }
        var older = stored
        if isSeenSince(newestObservationOfPeriod) || stored.hasEnded(since: storedAt, at: now) { older.forgetPeriod() }
        if isSeenSince(offersSeen?.observedAt) { older.offersUsed = nil }
        if isSeenSince(refundsSeen?.observedAt) { older.refundedAt = nil }
        return filled(from: older)
    }

    private func hasEnded(since storedAt: Timestamp, at now: Timestamp) -> Bool {
        guard let end = expiresAt?.value else { return false }
        return storedAt < end && end <= now
    }

    /// When a fact that changes with the period was last observed.
    private var newestObservationOfPeriod: Timestamp? {
        [
            status?.observedAt, expiresAt?.observedAt, latestEndSeen?.observedAt, autoRenews?.observedAt,
            isActive?.observedAt, cancelledAt?.observedAt, renewsTo?.observedAt, billingPlan?.observedAt,
            commitmentEndsAt?.observedAt, commitmentPeriod?.observedAt, priceStepUpConsent?.observedAt,
        ].compactMap(\.self).max()
    }

    /// Removes the facts about one period, or about the subscription at that time.
    private mutating func forgetPeriod() {
        (status, expiresAt, isActive) = (nil, nil, nil)
        (autoRenews, cancelledAt, renewsTo) = (nil, nil, nil)
        forgetPlan()
    }
}
