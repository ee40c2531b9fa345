// SPDX-License-Identifier: Apache-2.0

/// Which subscription an offer is for, and how uses of offers are to be counted.
package struct GooglePlayScope: Sendable {
    /// The subscription; nil is any of the app.
    package let productID: GooglePlayProductID?
    /// The base plan; nil is any of the subscription.
    package let basePlanID: BasePlanID?
    /// Which of the store's two environments to use; nil means production if any purchase there is known, else sandbox.
    package let environment: StoreEnvironment?
    /// The type of an offer, which a purchase doesn't contain.
    package let offerType: @Sendable (GooglePlayOfferPath) -> OfferType

    /// A scope; `offerType` returns promotional for a developer-determined offer, introductory for a new customer's.
    package init(
        productID: GooglePlayProductID?,
        basePlanID: BasePlanID? = nil,
        environment: StoreEnvironment? = nil,
        offerType: @escaping @Sendable (GooglePlayOfferPath) -> OfferType
    ) {
        self.productID = productID
        self.basePlanID = basePlanID
        self.environment = environment
        self.offerType = offerType
    }

    /// The same scope in another of the store's environments.
    package func within(_ environment: StoreEnvironment?) -> GooglePlayScope {
        GooglePlayScope(productID: productID, basePlanID: basePlanID, environment: environment, offerType: offerType)
    }

    /// The same scope with more offers that are known to be developer-determined.
    package func taking(_ promotional: Set<GooglePlayOfferPath>) -> GooglePlayScope {
        guard !promotional.isEmpty else { return self }
        return GooglePlayScope(productID: productID, basePlanID: basePlanID, environment: environment) { [offerType] in
            promotional.contains($0) ? .promotional : offerType($0)
        }
    }

    func includes(_ item: GooglePlayPurchase.LineItem) -> Bool {
        (productID == nil || item.productID == productID?.text)
            && (basePlanID == nil || item.basePlanID == basePlanID?.text)
    }
}

extension GooglePlayHistory {
    /// The customer's facts at `now`, for an offer of a subscription.
    ///
    /// Status, end and renewal are about the chain of purchases in which the subscription was bought last. Offers used,
    /// refunds and `subscribedBefore` are about the whole app. Google Play does not list a customer's purchases, so a
    /// complete list here contains what the ledger knows. A test purchase never counts as a real one.
    package func facts(_ scope: GooglePlayScope, at now: Timestamp) -> CustomerFacts {
        let known = within(scope.environment ?? preferredEnvironment)
        var facts = CustomerFacts()
        known.addPast(to: &facts)
        known.addOffers(to: &facts, scope.offerType)
        known.addRefunds(to: &facts)
        if known.mayLack { facts.leaveListsOpen(at: now) }
        guard let chain = known.relevantChain(scope, at: now) else { return facts }
        facts.hasSubscription = true
        guard let speaker = chain.speaker else { return facts }
        speaker.addFacts(to: &facts, scope)
        return facts
    }

    /// The purchases under which grants count for the subscription, ascending; empty if the customer has none.
    package func relevantPurchases(_ scope: GooglePlayScope, at now: Timestamp) -> [PurchaseKey] {
        within(scope.environment ?? preferredEnvironment).relevantChain(scope, at: now)?.keys ?? []
    }
}

// MARK: - Which purchases

extension GooglePlayHistory {
    private struct Chain {
        let keys: [PurchaseKey]
        /// The purchase that supplies the facts; nil if each purchase was replaced by one that the service never saw.
        let speaker: GooglePlayPurchaseSummary?

        /// A chain that continues in a purchase that the service never saw may be running.
        func comesAfter(_ other: Chain) -> Bool {
            guard let speaker, let otherSpeaker = other.speaker else {
                let (one, two) = (speaker?.precedence ?? 3, other.speaker?.precedence ?? 3)
                return one == two ? speaker == nil && other.speaker != nil : one > two
            }
            return speaker.comesAfter(otherSpeaker)
        }
    }

    /// Whether anything is known of purchases with real money.
    package var isOfProduction: Bool { purchases.values.contains { $0.latest?.environment == .production } }

    private var preferredEnvironment: StoreEnvironment { isOfProduction ? .production : .sandbox }

    private func within(_ environment: StoreEnvironment) -> GooglePlayHistory {
        var history = self
        history.purchases = purchases.filter { ($0.value.latest?.environment ?? environment) == environment }
        return history
    }

    /// The chain that supplies the facts: a running chain first, then one that may be running, then one that ended.
    private func relevantChain(_ scope: GooglePlayScope, at now: Timestamp) -> Chain? {
        var last: Chain?
        for keys in chains where keys.contains(where: { isGranted($0, scope) }) {
            let next = Chain(keys: keys, speaker: speaker(of: keys, at: now))
            if last.map(next.comesAfter) ?? true { last = next }
        }
        return last
    }

    private func isGranted(_ key: PurchaseKey, _ scope: GooglePlayScope) -> Bool {
        guard let purchase = purchases[key], purchase.isGranted else { return false }
        return purchase.latest?.items.contains(where: scope.includes) == true
    }

    private func speaker(of keys: [PurchaseKey], at now: Timestamp) -> GooglePlayPurchaseSummary? {
        keys.filter { !isReplaced($0) }.compactMap { purchases[$0]?.summary($0, at: now) }.reduce(nil) { last, next in
            guard let last else { return next }
            return next.comesAfter(last) ? next : last
        }
    }
}

// MARK: - What the whole app shows

extension GooglePlayHistory {
    private var granted: [GooglePlayPurchaseRecord] { purchases.values.filter(\.isGranted) }

    /// `notification` if the store sends notifications about each purchase, so that the last state still holds.
    private var source: FactSource { granted.allSatisfy(\.isReported) ? .notification : .storeAPI }

    /// When the newest evidence was true; nil if there is none.
    private var observedAt: Timestamp? { granted.compactMap(\.observedAt).max() }

    /// Whether every purchase, and every purchase that one of them replaced, is known.
    private var isWhole: Bool {
        purchases.values.allSatisfy { purchase in
            purchase.latest != nil && purchase.predecessors.allSatisfy { purchases[$0]?.latest != nil }
        }
    }

    /// Whether there may be unseen uses and refunds: there is a subscription, or there may have been one.
    private var mayLack: Bool { !granted.isEmpty || !isWhole }

    /// Adds whether there was a subscription, and where it was bought last.
    private func addPast(to facts: inout CustomerFacts) {
        let last = granted.compactMap(\.latest).reduce(nil as GooglePlayObservation?) { last, observation in
            guard let last, last.startedAt != observation.startedAt else {
                return last.map(observation.newer(of:)) ?? observation
            }
            return (observation.startedAt?.milliseconds ?? .min) > (last.startedAt?.milliseconds ?? .min)
                ? observation : last
        }
        guard let last, let observedAt else { return }
        facts.subscribedBefore = Fact(true, source: .storeAPI, observedAt: observedAt)
        facts.environment = Fact(last.environment, source: .storeAPI, observedAt: last.observedAt)
        facts.region = last.region.map { Fact($0, source: .storeAPI, observedAt: last.observedAt) }
    }

    /// Adds the offers that the customer has used.
    private func addOffers(
        to facts: inout CustomerFacts,
        _ offerType: (GooglePlayOfferPath) -> OfferType
    ) {
        guard let observedAt else { return }
        let uses = granted.flatMap { purchase in
            purchase.uses.map { path, use in
                OfferUse(
                    path,
                    type: use.hasPromotionCode ? .offerCode : offerType(path),
                    usedAt: purchase.usedAt(use)
                )
            } + usesBefore(purchase).map { OfferUse($0, type: offerType($0), usedAt: nil) }
        }.sorted { $0.order < $1.order }
        if isWhole {
            facts.offersUsed = Fact(uses, source: source, observedAt: observedAt)
        } else if !uses.isEmpty {
            facts.offersSeen = Fact(uses, source: source, observedAt: observedAt)
        }
    }

    /// Uses by earlier purchases that only this purchase shows: a change of plan makes a new purchase, which names the
    /// offer of the old one.
    private func usesBefore(_ purchase: GooglePlayPurchaseRecord) -> [GooglePlayOfferPath] {
        let known = purchase.predecessors.compactMap { purchases[$0] }.filter(\.isGranted)
        return purchase.replacedOffers.filter { path in
            purchase.uses[path] == nil && !known.contains { $0.offers.contains(path) }
        }
    }

    /// Adds the refunds that the store reported.
    ///
    /// Only notifications report refunds; the API does not. So the list is complete only if notifications came about
    /// each purchase from its beginning. Otherwise it is complete since the latest first notification about a purchase.
    private func addRefunds(to facts: inout CustomerFacts) {
        guard let observedAt else { return }
        let refunds = Set(granted.flatMap { $0.refunds + ($0.revokedAt.map { [Refund(at: $0)] } ?? []) }).sorted()
        let late = granted.filter { !$0.isReportedFromStart }
        if isWhole, late.isEmpty {
            facts.refundedAt = Fact(refunds, source: .notification, observedAt: observedAt)
            return
        }
        facts.refundsSeen = Fact(refunds, source: .notification, observedAt: observedAt)
        let instants = late.compactMap(\.reportedSince)
        guard isWhole, instants.count == late.count, let since = instants.max() else { return }
        facts.refundsReportedSince = Fact(since, source: .notification, observedAt: observedAt)
    }
}

extension OfferUse {
    /// Google Play has no subscription groups; the subscription is used as the group.
    fileprivate init(_ path: GooglePlayOfferPath, type: OfferType, usedAt: Timestamp?) {
        self.init(
            type: type,
            offerID: try? OfferID(path.offerID),
            usedAt: usedAt,
            subscriptionGroup: try? SubscriptionGroupID(path.productID)
        )
    }

    /// By time; uses of the same instant have a fixed order.
    fileprivate var order: (Int64, String) {
        let name = [type?.rawValue, subscriptionGroup?.text, offerID?.text].map { $0 ?? "" }.joined(separator: " ")
        return (usedAt?.milliseconds ?? .min, name)
    }
}

// MARK: - What one purchase shows

extension GooglePlayPurchaseSummary {
    /// Adds the purchase's facts about its subscription.
    fileprivate func addFacts(to facts: inout CustomerFacts, _ scope: GooglePlayScope) {
        facts.status = status
        if isEndCertain { facts.expiresAt = end } else { facts.latestEndSeen = end }
        facts.ownership = fact(.purchased)
        facts.environment = fact(latest.environment)
        facts.region = latest.region.map(fact)
        facts.autoRenews =
            if let instant = purchase.takenBackAt {
                Fact(false, source: .notification, observedAt: instant)
            } else {
                renews(scope).map(fact)
            }
        facts.cancelledAt = latest.cancelledAt.map(fact)
        facts.priceStepUpConsent = priceStepUpConsent(scope).map(fact)
        facts.expirationIntent = expirationIntent.map(fact)
    }

    private func fact<Value: Hashable & Sendable>(_ value: Value) -> Fact<Value> {
        Fact(value, source: purchase.source, observedAt: latest.observedAt)
    }

    /// Whether the bought items of the subscription renew; if none is left, whether any item of the purchase does.
    private func renews(_ scope: GooglePlayScope) -> Bool? {
        if purchase.isGone { return false }
        let items = latest.items.filter(scope.includes)
        let renewals = (items.isEmpty ? latest.items : items).map(\.renews)
        return renewals.contains(true) ? true : renewals.contains(nil) ? nil : false
    }

    /// The customer's answer, the weakest of several items; nil if this version does not know one of them.
    private func priceStepUpConsent(_ scope: GooglePlayScope) -> PriceStepUpConsent? {
        let answers = latest.items.filter(scope.includes).compactMap(\.priceStepUp?.consent)
        let known = answers.compactMap(\.known)
        guard known.count == answers.count else { return nil }
        return answers.isEmpty ? .notRequired : [.pending, .confirmed, .completed].first(where: known.contains)
    }

    /// Why it ended; the reason that a revoked purchase names has no meaning and is ignored.
    private var expirationIntent: ExpirationIntent? {
        guard status?.value == .expired, let cancellation = latest.cancellation?.known else { return nil }
        switch cancellation {
        case .byCustomer: return .cancelled
        case .bySystem: return .billingError
        case .byDeveloper: return .other
        case .forReplacement: return nil
        }
    }
}
