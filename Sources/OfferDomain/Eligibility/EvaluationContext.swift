// SPDX-License-Identifier: Apache-2.0

/// Which kinds of owners the grants were looked up for.
package struct GrantOwners: OptionSet, Hashable, Sendable {
    /// One bit for each kind of owner.
    package let rawValue: UInt8

    /// Required by `OptionSet`; there are two kinds.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A name of the customer.
    package static let customer = GrantOwners(rawValue: 1)
    /// An original transaction of the App Store.
    package static let originalTransaction = GrantOwners(rawValue: 1 << 1)

    /// The kinds of owners of these names.
    package init(_ names: [CustomerIdentity]) {
        self = names.reduce(into: []) { $0.insert($1.namesCustomer ? .customer : .originalTransaction) }
    }
}

/// Everything that a rule is evaluated against, the clock included.
package struct EvaluationContext: Hashable, Sendable {
    /// What is known of the customer; a new value replaces the shared one.
    package var facts: CustomerFacts {
        get { shared.value }
        set { shared = SharedFacts(newValue) }
    }
    /// Nil if no trusted caller stated any; empty if one stated that there are none.
    ///
    /// Written as `Optional` so that it has no initial value; otherwise initializers copy the whole context at the end.
    package var attributes: Optional<Attributes>
    /// A cap on the grants of any other kind of owner is undecided.
    package var owners: GrantOwners
    /// True if a trusted caller or evidence says who the customer is; false if only an app claims it.
    package var isProven: Bool
    /// What the ledger knows of the offer's grants, read in the transaction that decides.
    package var grants: GrantHistory
    /// The instant of the decision, the only clock that rules have.
    package var now: Timestamp
    /// Whether the ledger knows a subscription of the customer, under any name.
    package var knowsSubscription: Bool
    private var shared: SharedFacts

    /// A context with a default for all but the instant: nothing known, no grants, a proven customer.
    package init(
        facts: CustomerFacts = CustomerFacts(),
        owners: GrantOwners = [],
        grants: GrantHistory = GrantHistory(),
        now: Timestamp,
        knowsSubscription: Bool = false
    ) {
        self.init(facts: SharedFacts(facts), owners: owners, isProven: true, grants: grants, now: now)
        self.knowsSubscription = knowsSubscription
    }

    /// Takes facts that others read too; the caller sets the attributes, and whether a subscription is known.
    package init(facts: SharedFacts, owners: GrantOwners, isProven: Bool, grants: GrantHistory, now: Timestamp) {
        shared = facts
        attributes = nil
        self.owners = owners
        self.isProven = isProven
        self.grants = grants
        self.now = now
        knowsSubscription = false
    }

    /// Whether the original transaction is known, so that its grants can be counted.
    private var knowsOriginalTransaction: Bool {
        knowsSubscription || owners.contains(.originalTransaction)
    }

    /// The grants that a cap of this scope counts, ascending; nil if their owner isn't known.
    ///
    /// An original transaction belongs to one store.
    func grants(per scope: GrantScope, in stores: StoreScope) -> [Timestamp]? {
        switch scope {
        case .customer: owners.contains(.customer) ? grants.byCustomer(in: stores) : nil
        case .originalTransaction: knowsOriginalTransaction ? grants.byOriginalTransaction : nil
        }
    }

    /// The same for grants that were redeemed, or still may be.
    func redeemable(per scope: GrantScope, in stores: StoreScope) -> [CountedGrant]? {
        switch scope {
        case .customer: owners.contains(.customer) ? grants.redeemableByCustomer(in: stores) : nil
        case .originalTransaction: knowsOriginalTransaction ? grants.redeemableByOriginalTransaction : nil
        }
    }
}
