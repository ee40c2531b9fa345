// SPDX-License-Identifier: Apache-2.0

extension Rule {
    func refunded(withinDays days: Int, _ percent: Int?, _ context: EvaluationContext) -> Finding {
        guard let refunds = context.facts.refundedAt?.value else {
            return refundedAmongSeen(withinDays: days, percent, context)
        }
        let recent = refunds.within(days: days, percent, at: context.now)
        guard let latest = recent.certain else {
            guard !recent.mayBeOthers else { return Finding(self, .undecided, because: .refundsUnknown) }
            return Finding(self, .notMet, because: .notRefunded)
        }
        return Finding(self, .met, because: .refunded, turnsAt: recent.mayBeOthers ? nil : latest.adding(days: days))
    }

    /// Answers from an incomplete list of refunds; it never states when a refund stops counting, as others may follow.
    ///
    /// It states that there was no refund only if none can be missing in these days.
    private func refundedAmongSeen(withinDays days: Int, _ percent: Int?, _ context: EvaluationContext) -> Finding {
        let (seen, since) = (context.facts.refundsSeen?.value, context.facts.refundsReportedSince?.value)
        let recent = seen?.within(days: days, percent, at: context.now)
        if recent?.certain != nil { return Finding(self, .met, because: .refunded) }
        guard let recent, !recent.mayBeOthers, let since, since.adding(days: days) <= context.now else {
            return Finding(self, .undecided, because: .refundsUnknown)
        }
        return Finding(self, .notMet, because: .notRefunded)
    }
}

extension [Refund] {
    /// The latest refund in these days that is large enough, and whether any refund of unknown size may be.
    fileprivate func within(
        days: Int,
        _ percent: Int?,
        at now: Timestamp
    ) -> (certain: Timestamp?, mayBeOthers: Bool) {
        let recent = filter { $0.at.adding(days: days) > now }
        let isEnough: [Bool?] = recent.map { refund in percent.map { refund.isAtLeast(percent: $0) } ?? true }
        let certain = zip(recent, isEnough).compactMap { $1 == true ? $0.at : nil }
        return (certain.max(), isEnough.contains(nil))
    }
}
