// SPDX-License-Identifier: Apache-2.0

/// What is known of a customer, for all who only read it while one request is answered.
///
/// A class, because there is much of it: each of them would copy and count what it holds one by one.
package final class SharedFacts: Sendable {
    /// The facts, which never change.
    package let value: CustomerFacts

    /// Nothing is known.
    package static let nothing = SharedFacts(CustomerFacts())

    /// Takes over the facts; a change makes a new object.
    package init(_ value: consuming CustomerFacts) {
        self.value = value
    }

    /// These facts where a subscription of that group is asked about, see ``CustomerFacts/asked(of:)``.
    package func asked(of group: SubscriptionGroupID?) -> SharedFacts {
        value.concernsOtherGroup(than: group) ? SharedFacts(value.asked(of: group)) : self
    }

    /// See ``CustomerFacts/isComplete(for:)``.
    package func isComplete(for needs: FactNeeds) -> Bool { value.isComplete(for: needs) }
}

extension SharedFacts: Hashable {
    /// By the facts, not by the object.
    package static func == (one: SharedFacts, other: SharedFacts) -> Bool { one.value == other.value }

    /// By the facts, not by the object.
    package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
