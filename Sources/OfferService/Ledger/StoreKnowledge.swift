// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// What a ``DecisionRequest`` brings along of the store's own knowledge.
package struct StoreKnowledge: Sendable {
    /// Kept apart, because they are large, and most requests bring none.
    private final class Reports: Sendable {
        let appStore: SubscriptionReport?
        let googlePlay: GooglePlayPurchaseReport?

        init?(_ appStore: SubscriptionReport?, _ googlePlay: GooglePlayPurchaseReport?) {
            if appStore == nil, googlePlay == nil { return nil }
            self.appStore = appStore
            self.googlePlay = googlePlay
        }
    }

    private var reports: Reports?
    /// What the request sent along, or what the store has just answered; it is merged into the ledger first.
    package var report: SubscriptionReport? {
        get { reports?.appStore }
        set { reports = Reports(newValue, reports?.googlePlay) }
    }
    /// The same of purchases at Google Play.
    package var googlePlayReport: GooglePlayPurchaseReport? {
        get { reports?.googlePlay }
        set { reports = Reports(reports?.appStore, newValue) }
    }
    /// Whether it tells what the ledger may not have.
    var isTold: Bool { reports != nil || namesPurchases }
    /// The purchases at Google Play that are surely the customer's.
    package var googlePlayPurchases: Set<PurchaseKey> = []
    /// Keys of pseudonyms by which the ledger may look for purchases, beside those of the customer: of a transaction
    /// that a trusted caller named, or of the account below.
    package var subjects: [[UInt8]] = []
    /// The keys of pseudonyms that the account of the store has in the ledger, if what is signed is bound to one.
    ///
    /// Then nobody else's history stands for its own. Empty if it is bound to none.
    package var account: [[UInt8]] = []
    /// Whether purchases under the names of the request are the customer's.
    ///
    /// Those under names that an app gives are not, where what is signed is bound to an account and not to the name.
    package var believesNames = true
    /// Whether a trusted caller gave the names; then purchases under an anonymous id, or by who is linked to the
    /// customer, are the customer's too.
    package var isVouchedFor = false
    /// Whether there is a store that can still be asked.
    package var mayAsk = false
    /// Whether it was asked and did not answer.
    package var isStoreDown = false
    /// When asking it again makes sense, if it said so.
    package var retryAfterSeconds: Int?
    /// The chains that are surely the customer's.
    package var chains: Set<ChainKey> = []
    /// What the ledger may have of what the request names under earlier secrets.
    package var successions: [KeySuccession] = []
    /// When the store listed all subscriptions of a customer who is surely this one.
    package var statusesReadAt: Timestamp?
    /// When it listed all transactions.
    package var historyReadAt: Timestamp?

    package init() {}

    /// The same, together with what a store has answered to another request about the same customer; what is to be
    /// merged into the ledger is left out, and so is what only that request believes.
    func told(by other: StoreKnowledge) -> StoreKnowledge {
        var knowledge = self
        (knowledge.report, knowledge.googlePlayReport) = (nil, nil)
        knowledge.chains.formUnion(other.chains)
        knowledge.googlePlayPurchases.formUnion(other.googlePlayPurchases)
        knowledge.mayAsk = other.mayAsk
        knowledge.isStoreDown = other.isStoreDown
        knowledge.retryAfterSeconds = other.retryAfterSeconds
        knowledge.statusesReadAt = other.statusesReadAt
        knowledge.historyReadAt = other.historyReadAt
        return knowledge
    }

    /// Whether it names subscriptions that are surely the customer's.
    var namesPurchases: Bool { !chains.isEmpty || !googlePlayPurchases.isEmpty }
}
