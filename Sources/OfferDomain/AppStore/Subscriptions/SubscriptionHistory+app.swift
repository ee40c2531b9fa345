// SPDX-License-Identifier: Apache-2.0

// What the whole app shows, regardless of the subscription group.
extension SubscriptionHistory {
    /// The instant up to which the history is complete: the oldest reading among the chains of subscriptions.
    ///
    /// It is nil if one of these chains was never read with its whole history.
    package var historyCompleteAt: Timestamp? {
        let subscriptions = chains.values.filter(\.isOfSubscription)
        if subscriptions.isEmpty { return historyReadAt }
        let readings = subscriptions.compactMap(\.historyCompleteAt)
        return readings.count == subscriptions.count ? readings.min() : nil
    }

    /// Whether there is or was a subscription, bought by the customer or shared by the family.
    var hasSubscription: Bool { chains.values.contains(where: \.isOfSubscription) }

    /// True if there is a subscription that the customer bought; false if the store was asked and there is none.
    ///
    /// Nil if the customer has one by Family Sharing alone: Apple doesn't say that this makes a subscriber.
    var subscribedBefore: Fact<Bool>? {
        let bought = records.filter { $0.isSubscription && $0.isOwn }
        if let newest = bought.newest { return Fact(true, source: newest.source, observedAt: newest.signedAt) }
        guard !hasSubscription else { return nil }
        return [statusesReadAt, historyReadAt].compactMap(\.self).max().map {
            Fact(false, source: .storeAPI, observedAt: $0)
        }
    }

    /// Adds the environment that the customer buys in, and the last storefront if all purchases are known.
    func addPlace(to facts: inout CustomerFacts) {
        guard let last = chains.values.compactMap({ $0.inOrder.last?.record }).latestPurchase else { return }
        facts.environment = Fact(last.environment, source: last.source, observedAt: last.signedAt)
        guard historyCompleteAt != nil else { return }
        facts.storefront = last.storefront.map { Fact($0, source: last.source, observedAt: last.signedAt) }
    }

    /// Adds the offers that the customer has used.
    func addOffers(to facts: inout CustomerFacts) {
        let runs = offerRuns
        let uses = runs.map(\.use).sorted { $0.order < $1.order }
        facts.historyReadAt = historyCompleteAt
        if let historyCompleteAt {
            facts.offersUsed = Fact(uses, source: .storeAPI, observedAt: historyCompleteAt)
        } else if !uses.isEmpty, let newest = runs.flatMap(\.records).newest {
            facts.offersSeen = Fact(uses, source: newest.source, observedAt: newest.signedAt)
        }
    }

    /// Adds the refunds of subscriptions.
    func addRefunds(to facts: inout CustomerFacts) {
        // The service does not ask for the history of other products, so it knows of their refunds only by chance.
        let refunded = records.filter { $0.isSubscription && $0.refund != nil }
        let refunds = refunded.compactMap(\.refund).sorted()
        if let historyCompleteAt {
            facts.refundedAt = Fact(refunds, source: .storeAPI, observedAt: historyCompleteAt)
        } else if let newest = refunded.newest {
            facts.refundsSeen = Fact(refunds, source: newest.source, observedAt: newest.signedAt)
        }
    }

    private var records: [TransactionRecord] { chains.values.flatMap(\.transactions.values) }
}

extension SubscriptionChain {
    fileprivate var isOfSubscription: Bool {
        renewal != nil || status != nil || transactions.values.contains(where: \.isSubscription)
    }
}

extension [TransactionRecord] {
    /// The record that was signed last; of several with the same instant, the one with the greatest contents.
    fileprivate var newest: TransactionRecord? {
        reduce(nil) { newest, record in newest.map(record.newer(of:)) ?? record }
    }

    fileprivate var latestPurchase: TransactionRecord? {
        let last = map(\.purchasedAt).max()
        return filter { $0.purchasedAt == last }.newest
    }
}

extension OfferUse {
    fileprivate var order: (Int64, String) {
        let name = [type?.rawValue, offerID?.text, subscriptionGroup?.text].map { $0 ?? "" }.joined(separator: " ")
        return (usedAt?.milliseconds ?? .min, name)
    }
}
