// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// What a ``DecisionRequest`` has from the store.
package struct StoreKnowledge: Sendable {
    /// The members that are empty for most requests.
    private struct Contents: Sendable {
        var reports: [Store: SubscriptionReport] = [:]
        var googlePlayPurchases: Set<PurchaseKey> = []
        var chains: Set<ChainKey> = []
        var subjects: [[UInt8]] = []
        var account: [[UInt8]] = []
        var rotatedKeys: [RotatedKey] = []
        var shownNames: [PseudonymizedName] = []
        var shownPurchases: [[UInt8]] = []
        var findings: [StoreFinding] = []
        var refusingStore: Store?

        var isNothing: Bool {
            reports.isEmpty && googlePlayPurchases.isEmpty && chains.isEmpty
                && subjects.isEmpty && account.isEmpty && rotatedKeys.isEmpty && shownNames.isEmpty
                && shownPurchases.isEmpty && findings.isEmpty && refusingStore == nil
        }
    }

    /// A separate object: otherwise each copy of the knowledge copies and retains every member, even if all are empty.
    private final class SharedContents: Sendable {
        let value: Contents

        init(_ value: Contents) { self.value = value }
    }

    private var shared: SharedContents?
    private var contents: Contents {
        get { shared?.value ?? Contents() }
        set { shared = newValue.isNothing ? nil : SharedContents(newValue) }
    }
    /// What the request sent along, or what a store has just answered; it is merged into the ledger first.
    package var reports: [Store: SubscriptionReport] {
        get { shared?.value.reports ?? [:] }
        set { contents.reports = newValue }
    }
    /// Whether it has knowledge that the ledger may not have yet.
    var mayBeNew: Bool {
        guard let contents = shared?.value else { return false }
        return !contents.reports.isEmpty || namesPurchases
    }
    /// The purchases at Google Play that are surely the customer's.
    package var googlePlayPurchases: Set<PurchaseKey> {
        get { shared?.value.googlePlayPurchases ?? [] }
        set { contents.googlePlayPurchases = newValue }
    }
    /// The chains that are surely the customer's.
    package var chains: Set<ChainKey> {
        get { shared?.value.chains ?? [] }
        set { contents.chains = newValue }
    }
    /// Keys of pseudonyms by which the ledger may look for purchases, beside those of the customer: of a transaction
    /// that a trusted caller named, or of the account below.
    package var subjects: [[UInt8]] {
        get { shared?.value.subjects ?? [] }
        set { contents.subjects = newValue }
    }
    /// The keys of the store account's pseudonyms in the ledger, if what is signed is bound to an account.
    ///
    /// Then no other account's history is used for this one. Empty if it is bound to none.
    package var account: [[UInt8]] {
        get { shared?.value.account ?? [] }
        set { contents.account = newValue }
    }
    /// What the ledger may have of what the request names under earlier secrets.
    package var rotatedKeys: [RotatedKey] {
        get { shared?.value.rotatedKeys ?? [] }
        set { contents.rotatedKeys = newValue }
    }
    /// The names that verified evidence shows for the customer, in any group or product.
    ///
    /// They are original transactions, accounts of the store and account tokens; caps count under each of them.
    package var shownNames: [PseudonymizedName] {
        get { shared?.value.shownNames ?? [] }
        set { contents.shownNames = newValue }
    }
    /// The keys of the purchases at Google Play that are surely the customer's, of any product.
    ///
    /// A backend's purchases count by its word, an app's once Google Play knows them; caps count under each of them.
    package var shownPurchases: [[UInt8]] {
        get { shared?.value.shownPurchases ?? [] }
        set { contents.shownPurchases = newValue }
    }
    /// What the store answered that explains why too little is known.
    package var findings: [StoreFinding] {
        get { shared?.value.findings ?? [] }
        set { contents.findings = newValue }
    }
    /// The store that refuses this service until an operator changes something; then waiting does not help.
    package var refusingStore: Store? {
        get { shared?.value.refusingStore }
        set { contents.refusingStore = newValue }
    }
    /// The keys of ``shownNames`` and ``shownPurchases``.
    package var shownSubjects: [[UInt8]] { shownNames.map(\.pseudonym.ledgerKey) + shownPurchases }
    /// Whether purchases under the names of the request are the customer's.
    ///
    /// Purchases under names that an app gives are not, if what is signed is bound to an account and not to the name.
    package var believesNames = true
    /// Whether a trusted caller gave the names; then purchases under an anonymous ID, or by a linked customer, are the
    /// customer's too.
    package var isVouchedFor = false
    /// Whether a user's token shows who the customer is; then purchases of linked customers are theirs too.
    package var provesCustomer = false
    /// Whether there is a store that can still be asked.
    package var mayAsk = false
    /// Whether it was asked and did not answer.
    package var isStoreDown = false
    /// When asking it again makes sense, if it said so.
    package var retryAfterSeconds: Int?
    /// When the store listed all subscriptions of a customer that is surely this one.
    package var statusesReadAt: Timestamp?
    /// When it listed all transactions.
    package var historyReadAt: Timestamp?

    /// Nothing is known of a store.
    package init() {}

    /// This knowledge, together with a store's answers to another request about the same customer; it leaves out
    /// reports to be merged into the ledger, and what only that request believes.
    package func adding(answersOf other: StoreKnowledge) -> StoreKnowledge {
        var knowledge = self
        knowledge.reports = [:]
        knowledge.chains.formUnion(other.chains)
        knowledge.googlePlayPurchases.formUnion(other.googlePlayPurchases)
        knowledge.shownNames += other.shownNames.filter { !shownNames.contains($0) }
        knowledge.shownPurchases += other.shownPurchases.filter { !shownPurchases.contains($0) }
        knowledge.findings += other.findings.filter { !findings.contains($0) }
        knowledge.refusingStore = other.refusingStore
        knowledge.mayAsk = other.mayAsk
        knowledge.isStoreDown = other.isStoreDown
        knowledge.retryAfterSeconds = other.retryAfterSeconds
        knowledge.statusesReadAt = other.statusesReadAt
        knowledge.historyReadAt = other.historyReadAt
        return knowledge
    }

    /// Whether it names subscriptions that are surely the customer's.
    var namesPurchases: Bool {
        guard let contents = shared?.value else { return false }
        return !contents.chains.isEmpty || !contents.googlePlayPurchases.isEmpty
    }
}
