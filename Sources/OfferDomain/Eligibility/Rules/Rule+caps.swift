// SPDX-License-Identifier: Apache-2.0

// What the ledger counts. The days of a customer's caps are sliding periods of 24 hours, to the millisecond. A budget
// serves campaigns that are planned by the calendar, so its days are UTC calendar days.

extension Rule {
    func grants(
        atMost: Int,
        perDays days: Int?,
        per scope: GrantScope,
        in stores: StoreScope,
        _ context: EvaluationContext
    ) -> Finding {
        guard let grants = context.grants(per: scope, in: stores) else { return unknown(scope) }
        var firstCounted = 0
        if let days {
            firstCounted = grants.firstIndex { $0.adding(days: days) > context.now } ?? grants.count
        }
        let count = grants.count - firstCounted
        guard count >= atMost else { return Finding(self, .met, because: .grantsBelowCap, reporting: .count(count)) }
        var turnsAt: Timestamp?
        if let days, atMost > 0 {
            turnsAt = grants[grants.count - atMost].adding(days: days)
        }
        return Finding(self, .notMet, because: .grantsCapReached, reporting: .count(count), turnsAt: turnsAt)
    }

    func cooldown(days: Int, per scope: GrantScope, in stores: StoreScope, _ context: EvaluationContext) -> Finding {
        guard let grants = context.grants(per: scope, in: stores) else { return unknown(scope) }
        guard let last = grants.last else { return Finding(self, .met, because: .cooldownOver) }
        let passed = context.now.wholeDays(since: last)
        let end = last.adding(days: days)
        guard end > context.now else { return Finding(self, .met, because: .cooldownOver, reporting: .count(passed)) }
        return Finding(self, .notMet, because: .cooldownRunning, reporting: .count(passed), turnsAt: end)
    }

    func budget(atMost: Int, perDays days: Int?, in stores: StoreScope, _ context: EvaluationContext) -> Finding {
        // Otherwise a caller that invents names could use up the whole budget.
        guard context.isProven else { return Finding(self, .undecided, because: .customerUnproven) }
        let today = context.now.utcDay
        var (spent, turnsAt) = (0, Timestamp?.none)
        // From the newest day backwards: the budget becomes free when the day that exhausts it leaves the period.
        let perDay = context.grants.offerGrantsPerDay(in: stores)
        for entry in perDay.reversed() where days.map({ today - entry.day < $0 }) ?? true {
            let wasLeft = spent < atMost
            spent += entry.count
            if let days, wasLeft, spent >= atMost { turnsAt = Timestamp(startOfUTCDay: entry.day).adding(days: days) }
        }
        guard spent >= atMost else { return Finding(self, .met, because: .budgetLeft, reporting: .count(spent)) }
        return Finding(self, .notMet, because: .budgetSpent, reporting: .count(spent), turnsAt: turnsAt)
    }

    func unknown(_ scope: GrantScope) -> Finding {
        Finding(self, .undecided, because: scope == .customer ? .customerUnknown : .originalTransactionUnknown)
    }
}
