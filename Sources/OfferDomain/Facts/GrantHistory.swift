// SPDX-License-Identifier: Apache-2.0

/// What the ledger knows of one offer's grants, read within the transaction that decides.
package struct GrantHistory: Hashable, Sendable {
    /// The grants to any of the customer's identities, each once, ascending.
    package var byCustomer: [Timestamp] = []
    /// The grants to the original transaction, ascending.
    package var byOriginalTransaction: [Timestamp] = []
    /// The grants to anybody, ascending by day, each day at most once.
    package var offerGrantsPerDay: [DayCount] = []

    /// The same customer's grants of the same offer in the other store, ascending.
    package var byCustomerInOtherStore: [Timestamp] = []
    /// The grants of the same offer to anybody in the other store, ascending by day, each day at most once.
    package var otherStoreGrantsPerDay: [DayCount] = []

    /// No grants.
    package init() {}

    /// How many grants the offer had on one UTC calendar day.
    package struct DayCount: Hashable, Sendable {
        /// Days since 1970-01-01, as ``Timestamp/utcDay``.
        package let day: Int
        /// Grants on that day.
        package let count: Int

        package init(day: Int, count: Int) {
            self.day = day
            self.count = count
        }
    }
}

extension GrantHistory {
    /// The grants to the customer, ascending.
    func byCustomer(in stores: StoreScope) -> [Timestamp] {
        guard stores == .both, !byCustomerInOtherStore.isEmpty else { return byCustomer }
        return (byCustomer + byCustomerInOtherStore).sorted()
    }

    /// The grants to anybody, ascending by day, each day at most once.
    func offerGrantsPerDay(in stores: StoreScope) -> [DayCount] {
        guard stores == .both, !otherStoreGrantsPerDay.isEmpty else { return offerGrantsPerDay }
        var counts = Dictionary(offerGrantsPerDay.map { ($0.day, $0.count) }, uniquingKeysWith: +)
        for entry in otherStoreGrantsPerDay { counts[entry.day, default: 0] += entry.count }
        return counts.sorted { $0.key < $1.key }.map { DayCount(day: $0.key, count: $0.value) }
    }
}

/// Which part of a ``GrantHistory`` a rule reads; the rest need not be fetched.
package struct LedgerNeeds: Hashable, Sendable {
    /// Whether a cap counts the customer's grants.
    package var customerGrants: Bool = false
    /// Whether a cap counts the grants of an original transaction.
    package var originalTransactionGrants: Bool = false
    /// How far back a budget counts everybody's grants; nil without a budget.
    package var budget: BudgetSpan?
    /// Whether a cap counts what was granted in the other store too.
    package var otherStore: Bool = false

    /// Nothing need be fetched.
    package init() {}

    /// What both rules need together.
    package func union(_ other: LedgerNeeds) -> LedgerNeeds {
        var both = self
        both.customerGrants = customerGrants || other.customerGrants
        both.originalTransactionGrants = originalTransactionGrants || other.originalTransactionGrants
        both.otherStore = otherStore || other.otherStore
        both.budget = [budget, other.budget].compactMap(\.self).max()
        return both
    }

    /// Whether nothing need be fetched.
    package var isEmpty: Bool { self == LedgerNeeds() }
}

/// For how long back a budget counts an offer's grants; the longest is `forever`.
package enum BudgetSpan: Hashable, Comparable, Sendable {
    /// So many UTC calendar days, today included.
    case days(Int)
    case forever
}
