// SPDX-License-Identifier: Apache-2.0

/// What the ledger knows of one offer's grants, read within the transaction that decides.
package struct GrantHistory: Hashable, Sendable {
    /// The grants to any of the customer's identities, each once, ascending.
    package var byCustomer: [Timestamp] = []
    /// The grants to the original transaction, ascending.
    package var byOriginalTransaction: [Timestamp] = []
    /// The grants to anybody, ascending by day, each day at most once.
    package var offerGrantsPerDay: [DayCount] = []

    package init() {}

    /// How many grants the offer had on one UTC calendar day.
    package struct DayCount: Hashable, Sendable {
        /// Days since 1970-01-01, as ``Timestamp/utcDay``.
        package let day: Int
        package let count: Int

        package init(day: Int, count: Int) {
            self.day = day
            self.count = count
        }
    }
}

/// Which part of a ``GrantHistory`` a rule reads; the rest need not be fetched.
package struct LedgerNeeds: Hashable, Sendable {
    package var customerGrants: Bool = false
    package var originalTransactionGrants: Bool = false
    package var budget: BudgetSpan?

    package init() {}

    /// What both rules need together.
    package func union(_ other: LedgerNeeds) -> LedgerNeeds {
        var both = self
        both.customerGrants = customerGrants || other.customerGrants
        both.originalTransactionGrants = originalTransactionGrants || other.originalTransactionGrants
        both.budget = [budget, other.budget].compactMap(\.self).max()
        return both
    }

    package var isEmpty: Bool { self == LedgerNeeds() }
}

/// For how long back a budget counts an offer's grants; the longest is `forever`.
package enum BudgetSpan: Hashable, Comparable, Sendable {
    /// So many UTC calendar days, today included.
    case days(Int)
    case forever
}
