// SPDX-License-Identifier: Apache-2.0

/// What the ledger knows of one offer's grants, read within the transaction that decides.
package struct GrantHistory: Hashable, Sendable {
    /// The grants to any of the customer's identities, each once, ascending.
    package var byCustomer: [Timestamp] = []
    /// The grants to the original transaction, ascending.
    package var byOriginalTransaction: [Timestamp] = []
    /// The grants to all customers, ascending by day, each day at most once.
    package var offerGrantsPerDay: [DayCount] = []

    /// The same customer's grants of the same offer in the other store, ascending.
    package var byCustomerInOtherStore: [Timestamp] = []
    /// The grants of the same offer to all customers in the other store, ascending by day, each day at most once.
    package var otherStoreGrantsPerDay: [DayCount] = []
    /// The grants that count for a cap on redemptions; `nil` if no cap counts redemptions.
    package var redeemable: RedeemableGrants?

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

    /// The grants to all customers, ascending by day, each day at most once.
    func offerGrantsPerDay(in stores: StoreScope) -> [DayCount] {
        guard stores == .both, !otherStoreGrantsPerDay.isEmpty else { return offerGrantsPerDay }
        var counts = Dictionary(offerGrantsPerDay.map { ($0.day, $0.count) }, uniquingKeysWith: +)
        for entry in otherStoreGrantsPerDay { counts[entry.day, default: 0] += entry.count }
        return counts.sorted { $0.key < $1.key }.map { DayCount(day: $0.key, count: $0.value) }
    }
}

/// A grant that was redeemed, or still may be.
package struct CountedGrant: Hashable, Sendable {
    package let grantedAt: Timestamp
    /// When it is given back if no use of it is reported; `nil` for a grant that was redeemed, or that is kept.
    package let releasedAt: Timestamp?

    package init(grantedAt: Timestamp, releasedAt: Timestamp? = nil) {
        self.grantedAt = grantedAt
        self.releasedAt = releasedAt
    }
}

/// The grants of one offer that were redeemed, or still may be; each list ascending by time, each grant once.
package struct RedeemableGrants: Hashable, Sendable {
    package var byCustomer: [CountedGrant] = []
    package var byCustomerInOtherStore: [CountedGrant] = []
    package var byOriginalTransaction: [CountedGrant] = []

    package init() {}
}

extension GrantHistory {
    /// The customer's grants that were redeemed, or still may be; all grants if that was not looked up.
    func redeemableByCustomer(in stores: StoreScope) -> [CountedGrant] {
        guard let redeemable else { return byCustomer(in: stores).map { CountedGrant(grantedAt: $0) } }
        guard stores == .both, !redeemable.byCustomerInOtherStore.isEmpty else { return redeemable.byCustomer }
        return (redeemable.byCustomer + redeemable.byCustomerInOtherStore).sorted { $0.grantedAt < $1.grantedAt }
    }

    /// The same for the original transaction.
    var redeemableByOriginalTransaction: [CountedGrant] {
        redeemable?.byOriginalTransaction ?? byOriginalTransaction.map { CountedGrant(grantedAt: $0) }
    }
}

/// Which part of a ``GrantHistory`` a rule reads; the rest need not be fetched.
package struct LedgerNeeds: Hashable, Sendable {
    /// Whether a cap counts the customer's grants.
    package var customerGrants: Bool = false
    /// Whether a cap counts the grants of an original transaction.
    package var originalTransactionGrants: Bool = false
    /// How far back a budget counts the grants to all customers; nil without a budget.
    package var budget: BudgetSpan?
    /// Whether a cap also counts the grants in the other store.
    package var otherStore: Bool = false
    /// Whether a cap counts redemptions, so that it matters which grants were redeemed.
    package var redemptions: Bool = false

    /// Nothing need be fetched.
    package init() {}

    /// What both rules need together.
    package func union(_ other: LedgerNeeds) -> LedgerNeeds {
        var both = self
        both.customerGrants = customerGrants || other.customerGrants
        both.originalTransactionGrants = originalTransactionGrants || other.originalTransactionGrants
        both.otherStore = otherStore || other.otherStore
        both.redemptions = redemptions || other.redemptions
        both.budget = [budget, other.budget].compactMap(\.self).max()
        return both
    }

    /// Whether nothing need be fetched.
    package var isEmpty: Bool { self == LedgerNeeds() }
}

/// How far back a budget counts an offer's grants; the longest is `forever`.
package enum BudgetSpan: Hashable, Comparable, Sendable {
    /// This number of UTC calendar days, today included.
    case days(Int)
    case forever
}
