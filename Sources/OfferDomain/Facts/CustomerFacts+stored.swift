// SPDX-License-Identifier: Apache-2.0

// Facts that a trusted caller stated some time ago, for requests that cannot state them.
extension CustomerFacts {
    /// These facts, and of those that are missing what was stored at that instant.
    ///
    /// What was seen of a subscription, of its offers or its refunds since then is newer than what is stored of them. So is
    /// whatever came after the end of the period that the stored facts tell of.
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

    /// When anything was last observed that another period changes.
    private var newestObservationOfPeriod: Timestamp? {
        [
            status?.observedAt, expiresAt?.observedAt, latestEndSeen?.observedAt, autoRenews?.observedAt,
            isActive?.observedAt, cancelledAt?.observedAt, renewsTo?.observedAt, billingPlan?.observedAt,
            commitmentEndsAt?.observedAt, commitmentPeriod?.observedAt, priceStepUpConsent?.observedAt,
        ].compactMap(\.self).max()
    }

    /// Leaves out what is of one period, or of the subscription as it was then.
    private mutating func forgetPeriod() {
        (status, expiresAt, isActive) = (nil, nil, nil)
        (autoRenews, cancelledAt, renewsTo) = (nil, nil, nil)
        forgetPlan()
    }
}
