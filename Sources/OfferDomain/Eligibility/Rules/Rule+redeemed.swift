// SPDX-License-Identifier: Apache-2.0

// Caps that count grants that were redeemed or still may be. A grant that is given back no longer counts.

extension Rule {
    func redeemed(
        atMost: Int,
        perDays days: Int?,
        _ grants: [CountedGrant]?,
        _ scope: GrantScope,
        at now: Timestamp
    ) -> Finding {
        guard let grants else { return unknown(scope) }
        let ends = grants.map { $0.end(afterDays: days) }.filter { $0 > now }.sorted()
        guard ends.count >= atMost else {
            return Finding(self, .met, because: .grantsBelowCap, reporting: .count(ends.count))
        }
        var turnsAt: Timestamp?
        if atMost > 0, ends[ends.count - atMost] < .never { turnsAt = ends[ends.count - atMost] }
        return Finding(self, .notMet, because: .grantsCapReached, reporting: .count(ends.count), turnsAt: turnsAt)
    }

    func cooldown(
        days: Int,
        _ grants: [CountedGrant]?,
        _ scope: GrantScope,
        at now: Timestamp
    ) -> Finding {
        guard let grants else { return unknown(scope) }
        let counted = grants.filter { $0.end(afterDays: nil) > now }
        guard let last = counted.last else { return Finding(self, .met, because: .cooldownOver) }
        let passed = now.wholeDays(since: last.grantedAt)
        // A grant that will be given back may stop counting before an older grant that was redeemed.
        guard let end = counted.map({ $0.end(afterDays: days) }).max(), end > now else {
            return Finding(self, .met, because: .cooldownOver, reporting: .count(passed))
        }
        return Finding(self, .notMet, because: .cooldownRunning, reporting: .count(passed), turnsAt: end)
    }
}

extension CountedGrant {
    /// When it stops counting for a cap that looks back this number of days; nil is forever.
    fileprivate func end(afterDays days: Int?) -> Timestamp {
        min(days.map { grantedAt.adding(days: $0) } ?? .never, releasedAt ?? .never)
    }
}

extension Timestamp {
    fileprivate static let never = Timestamp(milliseconds: .max)
}
