// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
import Storage

/// Offers that one customer might have, looked at together; nothing is granted.
package struct OfferPreview: Sendable {
    /// One for each offer, all of one app and one customer, and of the same knowledge.
    package let requests: [DecisionRequest]
    /// What the request sent along, or what a store has just answered; merged into the ledger once.
    package let knowledge: StoreKnowledge

    /// All requests must be about one customer.
    package init(requests: [DecisionRequest], knowledge: StoreKnowledge) {
        self.requests = requests
        self.knowledge = knowledge
    }

    /// The versions of the secret that its requests and reports use; one, unless the secret was changed meanwhile.
    var versions: [String] {
        requests.map(\.secretVersion) + knowledge.reports.values.map(\.secretVersion)
    }
}

/// The result for one previewed offer.
package struct PreviewedOffer: Sendable {
    /// What would be decided now; it is neither recorded nor granted.
    package let decision: Decision
    /// What a store should be asked for before the decision counts; empty if it does.
    package let storeNeeds: FactNeeds
    /// Whether a store was asked for what is missing, and did not answer.
    package let isStoreSilent: Bool
}

/// Data of one customer, which is read once for many offers.
struct CustomerMemory {
    var appStore: [[[UInt8]]: SubscriptionHistory] = [:]
    var googlePlay: [[[UInt8]]: GooglePlayHistory] = [:]
    var links: [[[UInt8]]: [CustomerLinks.Link]] = [:]
    var attributes: [[[UInt8]]: StoredAttributes?] = [:]
    /// All grants to one subject, by offer.
    var grants: [[UInt8]: [Int64: Set<UniqueID>]] = [:]
}

extension LedgerWriter {
    /// Decides each offer on what is known, as ``decide(_:)`` would, and neither reserves nor records.
    package func preview(_ preview: OfferPreview) throws(LedgerError) -> [PreviewedOffer] {
        try apply(Array(Set(preview.knowledge.rotatedKeys + preview.requests.flatMap(\.rotatedKeys))))
        try merge(preview.knowledge.reports)
        memory = CustomerMemory()
        defer { memory = nil }
        var previewed: [PreviewedOffer] = []
        previewed.reserveCapacity(preview.requests.count)
        for request in preview.requests {
            let evaluation = try evaluate(request)
            previewed.append(
                PreviewedOffer(
                    decision: evaluation.decision,
                    storeNeeds: evaluation.storeNeeds,
                    isStoreSilent: evaluation.decision.outcome == .undecided && request.knowledge.isStoreDown
                )
            )
        }
        return previewed
    }

    func appStoreHistory(
        of subjects: [[UInt8]],
        _ knowledge: StoreKnowledge
    ) throws(LedgerError) -> SubscriptionHistory {
        let all = subjects + knowledge.subjects
        let key = all + knowledge.chains.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }
        if let known = memory?.appStore[key] { return known }
        let history = try database(chains.history(of: all, chains: knowledge.chains))
        memory?.appStore[key] = history
        return history
    }

    func googlePlayHistory(
        of subjects: [[UInt8]],
        _ knowledge: StoreKnowledge
    ) throws(LedgerError) -> GooglePlayHistory {
        let key = subjects + knowledge.googlePlayPurchases.sorted().map(\.bytes)
        if let known = memory?.googlePlay[key] { return known }
        let history = try database(purchases.history(of: subjects, purchases: knowledge.googlePlayPurchases))
        memory?.googlePlay[key] = history
        return history
    }

    /// Like `grantIDs`, but reads the ledger once for all offers of a subject.
    func rememberedGrants(of subjects: [[UInt8]], _ offerKey: Int64) throws(LedgerError) -> [UniqueID] {
        var found: [UniqueID] = []
        for subject in subjects {
            if memory?.grants[subject] == nil { memory?.grants[subject] = try allGrants(to: subject) }
            found += memory?.grants[subject]?[offerKey] ?? []
        }
        return found
    }

    private func allGrants(to subject: [UInt8]) throws(LedgerError) -> [Int64: Set<UniqueID>] {
        try database(grants.grants(to: subject))
    }
}
