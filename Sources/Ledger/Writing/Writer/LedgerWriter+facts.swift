// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage

// MARK: - What the stores reported

extension LedgerWriter {
    /// What is known of a customer when an offer is decided.
    struct KnownCustomer {
        let facts: SharedFacts
        /// The keys of the subscription that the offer is for, in the offer's own store; its grants are counted too.
        var subscriptions: [[UInt8]] = []
        /// The histories that the facts come from; `nil` if no lookup was needed.
        var histories: StoreHistories?

        /// What the stores' answers explain about a decision that lacks facts.
        func explanations(_ request: DecisionRequest) -> [StoreFinding] {
            var explanations = request.knowledge.findings
            if facts.value.status == nil, let group = histories?.otherGroup { explanations.append(.otherGroup(group)) }
            return explanations
        }
    }

    /// Merges the store data of the request, and combines what the ledger knows with what the request states.
    ///
    /// Facts that are too old for the offer are left out, and so is everything that a trusted caller has stated
    /// already. Subscriptions that the request names are kept: their grants count for every caller. For an offer that
    /// is in both stores, what is known in the other store counts too.
    func knownCustomer(_ request: DecisionRequest) throws(LedgerError) -> KnownCustomer {
        let mayBeNew = request.knowledge.mayBeNew
        if mayBeNew { try merge(request.knowledge.reports) }
        guard mayBeNew || !request.hasAllFacts || request.offer.needs.originalTransactionGrants else {
            return KnownCustomer(facts: request.facts)
        }
        let histories = try histories(request)
        return KnownCustomer(
            facts: SharedFacts(request.facts.value.filled(from: histories.facts)),
            subscriptions: histories.subscriptions,
            histories: histories
        )
    }

    /// The missing facts that the store should be asked for; empty if it cannot be asked.
    func storeNeeds(_ request: DecisionRequest, _ known: KnownCustomer) -> FactNeeds {
        guard request.knowledge.mayAsk else { return [] }
        let needs = known.facts.value.unmet(request.offer.factNeeds, olderThan: request.receivedAt)
            .intersection(known.histories?.tellableFacts ?? request.offer.tellableFacts)
        // Any answer shows which customer has the purchases.
        return needs.isEmpty && !request.isProven ? .subscribedBefore : needs
    }

    /// What is known in each store that the offer's entry is in.
    private func histories(_ request: DecisionRequest) throws(LedgerError) -> StoreHistories {
        let subjects = try purchaseSubjects(request)
        var histories = StoreHistories(request)
        if request.offer.inAppStore != nil { histories.appStore = try appStoreHistory(request, subjects) }
        if request.offer.inGooglePlay != nil {
            let history = try googlePlayHistory(of: subjects, request.knowledge)
            histories.googlePlay = history
            histories.formerOffers = try formerOffers(of: history, request)
        }
        return histories
    }

    /// The used offers that the catalog can't name and that were the developer's own; a use stays what it was when its
    /// offer leaves the catalog.
    private func formerOffers(
        of history: GooglePlayHistory,
        _ request: DecisionRequest
    ) throws(LedgerError) -> Set<GooglePlayOfferPath> {
        guard let scope = request.googlePlayScope, let app = request.offer.inGooglePlay?.packageName,
            request.offer.factNeeds.contains(.offersUsed)
        else { return [] }
        var former: Set<GooglePlayOfferPath> = []
        for (purchase, record) in history.purchases {
            for offer in record.offers.subtracting(former) where scope.offerType(offer) != .promotional {
                let key = try database(grants.formerKey(of: offer, boughtWith: purchase, in: app))
                if key != nil { former.insert(offer) }
            }
        }
        return former
    }

    private func appStoreHistory(
        _ request: DecisionRequest,
        _ subjects: [[UInt8]]
    ) throws(LedgerError) -> SubscriptionHistory {
        let knowledge = request.knowledge
        var history = try appStoreHistory(of: subjects, knowledge)
        if try !hasRead(knowledge, history) { history.forgetReadings() }
        // An answer of the store that names no subscription is kept with none.
        history.statusesReadAt = [history.statusesReadAt, knowledge.statusesReadAt].compactMap(\.self).max()
        history.historyReadAt = [history.historyReadAt, knowledge.historyReadAt].compactMap(\.self).max()
        return history
    }

    /// The names of the request under which its customer's purchases are looked up.
    ///
    /// A name that an app claims proves nothing: it gives no access to purchases under it or under customers linked to
    /// it. If the caller names the customer, links are followed from there and not from the device: other users of the
    /// device have bought for themselves. A link of a user's token is not followed: the device may be another person's.
    private func purchaseSubjects(_ request: DecisionRequest) throws(LedgerError) -> [[UInt8]] {
        guard request.knowledge.believesNames else { return [] }
        guard request.knowledge.isVouchedFor else {
            guard request.knowledge.provesCustomer, let customer = request.knownCustomer else {
                return request.provenSubjects
            }
            return try request.provenSubjects + vouchedLinks(of: [customer])
        }
        return try request.namedSubjects + vouchedLinks(of: request.knownCustomer.map { [$0] } ?? request.customers)
    }

    /// The customers that are one link away from one of these.
    func linked(to customers: [[UInt8]]) throws(LedgerError) -> [[UInt8]] { try links(of: customers).map(\.subject) }

    /// The linked customers that a backend or a store vouches for: their purchases and attributes follow.
    func vouchedLinks(of customers: [[UInt8]]) throws(LedgerError) -> [[UInt8]] {
        try links(of: customers).filter(\.isVouched).map(\.subject)
    }

    private func links(of customers: [[UInt8]]) throws(LedgerError) -> [CustomerLinks.Link] {
        if let known = memory?.links[customers] { return known }
        let found = try database(links.links(of: customers))
        memory?.links[customers] = found
        return found
    }

    /// Whether what is known also covers the account that the signature will be bound to, if there is one.
    private func hasRead(
        _ knowledge: StoreKnowledge,
        _ history: SubscriptionHistory
    ) throws(LedgerError) -> Bool {
        if knowledge.account.isEmpty || knowledge.statusesReadAt != nil || knowledge.historyReadAt != nil {
            return true
        }
        return try database(chains.hasChain(of: knowledge.account, among: history))
    }
}

extension DecisionRequest {
    /// The keys under which a grant is counted, each once: the customer's, and the subscription's.
    func subjects(with subscriptions: [[UInt8]]) -> [[UInt8]] {
        if subscriptions.isEmpty { return namedSubjects }
        var subjects = namedSubjects
        for key in subscriptions where !subjects.contains(key) { subjects.append(key) }
        return subjects
    }

    /// The key of the customer that the caller names as known; it is named first.
    var knownCustomer: [UInt8]? {
        guard let name = names.first, case .customer = name.identity else { return nil }
        return name.pseudonym.ledgerKey
    }

    /// The keys of the names that purchases are filed under if a trusted caller gave them; the customer that the caller
    /// calls its own comes first.
    ///
    /// What a known customer buys does not belong to everyone who later uses that device.
    package var purchaseHolders: [[UInt8]] {
        knownCustomer == nil ? customers : provenSubjects.filter(customers.contains)
    }

    /// The keys of all names, except those that are only claimed.
    var provenSubjects: [[UInt8]] {
        names.filter { !$0.identity.isClaimed }.map(\.pseudonym.ledgerKey)
    }

    /// The keys of claimed names in a request that also has proof; usually empty.
    var claimsBesideProof: [[UInt8]] {
        let claimed = names.filter(\.identity.isClaimed)
        guard !claimed.isEmpty, claimed.count < names.count || !knowledge.shownPurchases.isEmpty else { return [] }
        return claimed.map(\.pseudonym.ledgerKey)
    }

    /// The keys of subscriptions alone.
    func subscriptions(with known: [[UInt8]]) -> [[UInt8]] {
        var subjects = names.filter { !$0.identity.namesCustomer }.map(\.pseudonym.ledgerKey)
        for key in knowledge.shownPurchases + known where !subjects.contains(key) { subjects.append(key) }
        return subjects
    }
}
