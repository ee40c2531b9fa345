// SPDX-License-Identifier: Apache-2.0

/// What is known of a customer's dealings with the store; nil is what nobody told us.
package struct CustomerFacts: Hashable, Sendable {
    /// Whether the customer has or had a subscription of their own in the app.
    package var subscribedBefore: Fact<Bool>?
    package var status: Fact<SubscriptionStatus>?
    /// When the subscription ends or ended.
    package var expiresAt: Fact<Timestamp>?
    package var autoRenews: Fact<Bool>?
    /// Every offer that the customer has used; empty if it is known to be none.
    package var offersUsed: Fact<[OfferUse]>?
    /// Every refund; empty if it is known to be none.
    package var refundedAt: Fact<[Timestamp]>?
    package var storefront: Fact<Storefront>?
    package var region: Fact<Region>?
    package var ownership: Fact<Ownership>?
    package var environment: Fact<StoreEnvironment>?
    package var originalTransactionID: Fact<TransactionID>?
    package var subscriptionGroup: Fact<SubscriptionGroupID>?

    package init() {}

    /// These facts and what follows from them: who has a status or an end of a subscription has subscribed.
    ///
    /// It is drawn once, where facts are gathered, and not while a rule is evaluated: there, a fact more can only
    /// decide what was undecided. Nothing is drawn from a subscription that came by family sharing, of which Apple
    /// doesn't say that it makes a subscriber, nor from a revoked one, which may have been shared.
    package func withInferences() -> CustomerFacts {
        guard subscribedBefore == nil, ownership?.value != .familyShared, status?.value != .revoked else { return self }
        var facts = self
        if let status {
            facts.subscribedBefore = Fact(true, source: status.source, observedAt: status.observedAt)
        } else if let expiresAt {
            facts.subscribedBefore = Fact(true, source: expiresAt.source, observedAt: expiresAt.observedAt)
        }
        return facts
    }
}
