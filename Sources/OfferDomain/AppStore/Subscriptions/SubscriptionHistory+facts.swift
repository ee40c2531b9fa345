// SPDX-License-Identifier: Apache-2.0

extension SubscriptionHistory {
    /// The customer's facts at `now`, for an offer of a product.
    ///
    /// Status, end, renewal and ownership are about the product's subscription group. Offers used, refunds and
    /// `subscribedBefore` are about all subscriptions in the app. A nil `group` means the group in which the product
    /// was seen. Each fact has the source and the time of its newest evidence.
    ///
    /// A nil `environment` means production if any production purchase is known, else the sandbox. A test purchase
    /// never counts as a real one.
    ///
    /// If the history is cut short, the facts contain only what was seen, and nothing about the group.
    package func facts(
        group: SubscriptionGroupID?,
        productID: ProductID?,
        environment: StoreEnvironment? = nil,
        at now: Timestamp
    ) -> CustomerFacts {
        var known = within(environment ?? preferredEnvironment)
        if isCutShort { known.forgetReadings() }
        var facts = CustomerFacts()
        facts.statusesReadAt = statusesReadAt
        facts.subscribedBefore = known.subscribedBefore
        known.addPlace(to: &facts)
        known.addOffers(to: &facts)
        known.addRefunds(to: &facts)
        if isCutShort || known.hasSubscription { facts.leaveListsOpen(at: now) }
        if isCutShort {
            // A subscription may be running, and another query to the store would not show which.
            facts.hasSubscription = true
            facts.historyReadAt = historyReadAt
            return facts
        }
        guard let group = group ?? known.group(of: productID) else { return facts }
        guard let state = known.relevantChain(in: group, at: now)?.state else { return facts }
        state.addFacts(to: &facts, group: group)
        state.addPlan(to: &facts)
        state.addWinBack(to: &facts, at: now)
        return facts
    }

    /// The chain that supplies the facts about a group; nil if the customer has none in it.
    ///
    /// The customer's own chains come before family-shared ones. An active chain comes first; then one with an unknown
    /// status, since it may be active; then those with payment trouble; then the one that ended last.
    package func relevantChain(
        group: SubscriptionGroupID?,
        productID: ProductID?,
        environment: StoreEnvironment? = nil,
        at now: Timestamp
    ) -> ChainKey? {
        let known = within(environment ?? preferredEnvironment)
        guard let group = group ?? known.group(of: productID) else { return nil }
        return known.relevantChain(in: group, at: now)?.key
    }
}

extension SubscriptionHistory {
    /// The group of the newest subscription, if no subscription is in `group` and all their groups are known.
    ///
    /// It reveals a catalog that names a wrong group, which leaves every customer undecided.
    package func otherGroup(than group: SubscriptionGroupID) -> SubscriptionGroupID? {
        let latest = within(preferredEnvironment).chains.values.compactMap(\.latest)
        guard !isCutShort, !latest.isEmpty, latest.allSatisfy({ $0.subscriptionGroup.map { $0 != group } ?? false })
        else { return nil }
        return latest.max { $0.purchasedAt < $1.purchasedAt }?.subscriptionGroup
    }
}

// MARK: - Which chain

extension SubscriptionHistory {
    /// Whether anything is known of purchases with real money.
    package var isOfProduction: Bool { chains.values.contains { $0.environment == .production } }

    private var preferredEnvironment: StoreEnvironment { isOfProduction ? .production : .sandbox }

    private func within(_ environment: StoreEnvironment) -> SubscriptionHistory {
        var history = self
        history.chains = chains.filter { $0.value.environment == environment || $0.value.environment == nil }
        return history
    }

    /// The group in which the product was seen last.
    private func group(of productID: ProductID?) -> SubscriptionGroupID? {
        let records = chains.values.flatMap(\.transactions.values).filter {
            $0.productID == productID?.text && $0.subscriptionGroup != nil
        }
        return records.max {
            ($0.purchasedAt, $0.subscriptionGroup?.text ?? "") < ($1.purchasedAt, $1.subscriptionGroup?.text ?? "")
        }?.subscriptionGroup
    }

    private func relevantChain(
        in group: SubscriptionGroupID,
        at now: Timestamp
    ) -> (key: ChainKey, state: ChainState)? {
        var states = chains.compactMap { key, chain in chain.state(at: now).map { (key: key, state: $0) } }
            .filter { $0.state.latest.subscriptionGroup == group }
        if states.contains(where: \.state.latest.isOwn) { states.removeAll { !$0.state.latest.isOwn } }
        return states.max { one, other in
            let (first, second) = (one.state.precedence, other.state.precedence)
            if first != second { return first < second }
            let (end, otherEnd) = (one.state.end?.value.milliseconds, other.state.end?.value.milliseconds)
            return end == otherEnd ? one.key < other.key : (end ?? .min) < (otherEnd ?? .min)
        }
    }
}

extension SubscriptionChain {
    /// The environment of the newest purchase, or of the renewal info if no purchase is known.
    fileprivate var environment: StoreEnvironment? { inOrder.last?.record.environment ?? renewal?.environment }
}

extension ChainState {
    fileprivate var precedence: Int {
        switch status?.value {
        case .active: 4
        case nil: 3
        case .inGracePeriod: 2
        case .inBillingRetry, .paused: 1
        case .expired, .revoked: 0
        }
    }

    /// Adds the chain's facts about its group.
    fileprivate func addFacts(to facts: inout CustomerFacts, group: SubscriptionGroupID) {
        facts.hasSubscription = true
        facts.status = status
        if isEndCertain { facts.expiresAt = end } else { facts.latestEndSeen = end }
        facts.subscriptionGroup = Fact(group, source: latest.source, observedAt: latest.signedAt)
        facts.environment = Fact(latest.environment, source: latest.source, observedAt: latest.signedAt)
        facts.ownership = latest.ownership?.known.map {
            Fact($0, source: latest.source, observedAt: latest.signedAt)
        }
        if isLatestCertain {
            // Otherwise the device could choose any storefront that it ever bought in.
            facts.storefront = latest.storefront.map { Fact($0, source: latest.source, observedAt: latest.signedAt) }
        }
        guard let renewal else { return }
        facts.autoRenews = renewal.autoRenews.map {
            Fact($0, source: renewal.source, observedAt: renewal.signedAt)
        }
        facts.renewsTo = renewal.autoRenewProductID.flatMap { try? ProductID($0) }.map {
            Fact($0, source: renewal.source, observedAt: renewal.signedAt)
        }
        facts.expirationIntent = renewal.expirationIntent?.known.map {
            Fact($0, source: renewal.source, observedAt: renewal.signedAt)
        }
        let winBackOffers = renewal.eligibleWinBackOfferIDs.compactMap { try? OfferID($0) }
        if !winBackOffers.isEmpty {
            facts.eligibleWinBackOffers = Fact(winBackOffers, source: renewal.source, observedAt: renewal.signedAt)
        }
    }
}
