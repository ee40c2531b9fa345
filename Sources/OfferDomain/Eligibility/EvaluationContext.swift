// SPDX-License-Identifier: Apache-2.0

/// Everything that a rule is evaluated against, the clock included.
package struct EvaluationContext: Hashable, Sendable {
    package var facts: CustomerFacts {
        get { shared.value }
        set { shared = SharedFacts(newValue) }
    }
    /// Nil if no trusted caller stated any; empty if one stated that there are none.
    package var attributes: Attributes?
    /// Under which names the customer's grants were looked up; a cap on what isn't among them is undecided.
    package var identities: [CustomerIdentity]
    package var grants: GrantHistory
    package var now: Timestamp
    /// Whether the ledger knows a subscription of the customer, by whatever name.
    package var knowsSubscription: Bool
    private var shared: SharedFacts

    package init(
        facts: CustomerFacts = CustomerFacts(),
        attributes: Attributes? = nil,
        identities: [CustomerIdentity] = [],
        grants: GrantHistory = GrantHistory(),
        now: Timestamp,
        knowsSubscription: Bool = false
    ) {
        self.init(
            facts: SharedFacts(facts),
            attributes: attributes,
            identities: identities,
            grants: grants,
            now: now,
            knowsSubscription: knowsSubscription
        )
    }

    package init(
        facts: SharedFacts,
        attributes: Attributes?,
        identities: [CustomerIdentity],
        grants: GrantHistory,
        now: Timestamp,
        knowsSubscription: Bool
    ) {
        shared = facts
        self.attributes = attributes
        self.identities = identities
        self.grants = grants
        self.now = now
        self.knowsSubscription = knowsSubscription
    }

    /// Whether it is known of which original transaction the grants are to be counted.
    private var knowsOriginalTransaction: Bool {
        knowsSubscription || identities.contains { if case .originalTransaction = $0 { true } else { false } }
    }

    /// The grants that a cap of this scope counts, ascending; nil if it isn't known whose to count.
    ///
    /// An original transaction is of one store.
    func grants(per scope: GrantScope, in stores: StoreScope) -> [Timestamp]? {
        switch scope {
        case .customer: identities.contains(where: \.namesCustomer) ? grants.byCustomer(in: stores) : nil
        case .originalTransaction: knowsOriginalTransaction ? grants.byOriginalTransaction : nil
        }
    }
}
