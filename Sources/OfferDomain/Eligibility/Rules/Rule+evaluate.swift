// SPDX-License-Identifier: Apache-2.0

extension Rule {
    /// Evaluates the rule and every rule inside it, even if fewer would decide, so that all reasons are reported.
    package func evaluate(in context: EvaluationContext) -> Finding {
        switch self {
        case .all(let rules): all(rules.map { $0.evaluate(in: context) })
        case .any(let rules): any(rules.map { $0.evaluate(in: context) })
        case .not(let rule): not(rule.evaluate(in: context))
        case .subscribedBefore(let wanted): subscribedBefore(wanted, context.facts.subscribedBefore)
        case .status(let allowed): status(allowed, context.facts.status)
        case .lapsed(let atLeastDays, let atMostDays): lapsed(atLeastDays, atMostDays, context)
        case .autoRenew(let wanted): autoRenew(wanted, context.facts.autoRenews)
        case .isActive(let wanted): isActive(wanted, context.facts.hasAccess)
        case .cancelled(let atLeastDays, let atMostDays): cancelled(atLeastDays, atMostDays, context)
        case .renewsTo(let allowed):
            membership(context.facts.renewsTo, allowed, .renewsToMatches, .renewsToDiffers, .renewsToUnknown)
        case .billingPlan(let wanted): billingPlan(wanted, context.facts.billingPlan)
        case .priceStepUpConsent(let wanted): priceStepUpConsent(wanted, context.facts.priceStepUpConsent)
        case .commitmentEnds(let days): commitmentEnds(days, context)
        case .commitmentPeriod(let atLeast, let atMost): commitmentPeriod(atLeast: atLeast, atMost: atMost, context)
        case .appleWinBackEligible(let wanted): appleWinBack(wanted, context.facts.appleWinBackEligible)
        case .usedOffers(let type, let id, let group, let atMost):
            usedOffers(OfferPattern(type: type, offerID: id, group: group), atMost, context.facts)
        case .grants(let atMost, let days, let scope, let stores, .granted):
            grants(atMost, days, scope, stores, context)
        case .grants(let atMost, let days, let scope, let stores, .redeemed):
            redeemed(atMost: atMost, perDays: days, context.redeemable(per: scope, in: stores), scope, at: context.now)
        case .cooldown(let days, let scope, let stores, .granted): cooldown(days, scope, stores, context)
        case .cooldown(let days, let scope, let stores, .redeemed):
            cooldown(days: days, context.redeemable(per: scope, in: stores), scope, at: context.now)
        case .budget(let atMost, let days, let stores): budget(atMost, days, stores, context)
        case .window(let from, let until): window(from, until, context.now)
        case .storefront, .region, .ownership, .environment: place(context.facts)
        case .appOrigin, .deviceIntegrity, .appLicensed: app(context.facts.app)
        case .refunded(let days, let percent): refunded(withinDays: days, percent, context)
        case .attribute(let name, let test): attribute(name, test, context.attributes)
        }
    }

    /// Where customer and purchase are from.
    private func place(_ facts: CustomerFacts) -> Finding {
        switch self {
        case .storefront(let list):
            membership(facts.storefront, list, .storefrontMatches, .storefrontDiffers, .storefrontUnknown)
        case .region(let list): membership(facts.region, list, .regionMatches, .regionDiffers, .regionUnknown)
        case .ownership(let wanted):
            equality(facts.ownership, wanted, .ownershipMatches, .ownershipDiffers, .ownershipUnknown)
        case .environment(let wanted):
            equality(facts.environment, wanted, .environmentMatches, .environmentDiffers, .environmentUnknown)
        default: preconditionFailure("not a rule of a place")
        }
    }

    private func membership<Value>(
        _ fact: Fact<Value>?,
        _ allowed: [Value],
        _ matches: FindingCode,
        _ differs: FindingCode,
        _ unknown: FindingCode
    ) -> Finding {
        guard let fact else { return Finding(self, .undecided, unknown) }
        let isMet = allowed.contains(fact.value)
        return Finding(self, Answer(isMet), isMet ? matches : differs)
    }

    private func equality<Value>(
        _ fact: Fact<Value>?,
        _ wanted: Value,
        _ matches: FindingCode,
        _ differs: FindingCode,
        _ unknown: FindingCode
    ) -> Finding {
        guard let fact else { return Finding(self, .undecided, unknown) }
        let isMet = fact.value == wanted
        return Finding(self, Answer(isMet), isMet ? matches : differs)
    }
}

// MARK: - What the store knows of the subscription

extension Rule {
    func subscribedBefore(_ wanted: Bool, _ fact: Fact<Bool>?, isFloor: Bool = false) -> Finding {
        guard let fact else { return Finding(self, .undecided, .subscribedBeforeUnknown, isFloor: isFloor) }
        let code = fact.value ? FindingCode.subscribedBefore : .neverSubscribed
        return Finding(self, Answer(fact.value == wanted), code, isFloor: isFloor)
    }

    private func status(_ allowed: [SubscriptionStatus], _ fact: Fact<SubscriptionStatus>?) -> Finding {
        guard let status = fact?.value else { return Finding(self, .undecided, .statusUnknown) }
        let isMet = allowed.contains(status)
        return Finding(self, Answer(isMet), isMet ? .statusMatches : .statusDiffers, .status(status))
    }

    /// A past end alone does not count as a lapse.
    ///
    /// The period may have been renewed since, or the store may still be trying to collect for it.
    /// The end does limit how long a lapse can be.
    private func lapsed(_ atLeastDays: Int?, _ atMostDays: Int?, _ context: EvaluationContext) -> Finding {
        let status = context.facts.status?.value
        if let status, status != .expired { return Finding(self, .notMet, .notLapsed, .status(status)) }
        guard let expiry = context.facts.expiresAt?.value else {
            return lapsedSinceUnknownEnd(atLeastDays, context)
        }
        guard expiry <= context.now else { return Finding(self, .notMet, .notLapsed) }
        let days = context.now.wholeDays(since: expiry)
        if let atLeastDays, days < atLeastDays {
            let turnsAt = status == nil ? nil : expiry.adding(days: atLeastDays)
            return Finding(self, .notMet, .lapsedTooShort, .count(days), turnsAt: turnsAt)
        }
        if let atMostDays, days > atMostDays { return Finding(self, .notMet, .lapsedTooLong, .count(days)) }
        guard status != nil else { return Finding(self, .undecided, .lapseStatusUnknown) }
        let turnsAt = atMostDays.map { expiry.adding(days: $0).adding(days: 1) }
        return Finding(self, .met, .lapsed, .count(days), turnsAt: turnsAt)
    }

    /// Uses an end that a later one may follow only to limit how long a lapse can be.
    private func lapsedSinceUnknownEnd(_ atLeastDays: Int?, _ context: EvaluationContext) -> Finding {
        if let end = context.facts.latestEndSeen?.value {
            if end > context.now { return Finding(self, .notMet, .notLapsed) }
            let days = context.now.wholeDays(since: end)
            if let atLeastDays, days < atLeastDays { return Finding(self, .notMet, .lapsedTooShort, .count(days)) }
        }
        return Finding(
            self,
            .undecided,
            context.facts.status == nil ? .lapseStatusUnknown : .lapseExpiryUnknown
        )
    }

    private func autoRenew(_ wanted: Bool, _ fact: Fact<Bool>?) -> Finding {
        guard let fact else { return Finding(self, .undecided, .autoRenewUnknown) }
        return Finding(self, Answer(fact.value == wanted), fact.value ? .autoRenewOn : .autoRenewOff)
    }

    private func isActive(_ wanted: Bool, _ hasAccess: Bool?) -> Finding {
        guard let hasAccess else { return Finding(self, .undecided, .isActiveUnknown) }
        return Finding(self, Answer(hasAccess == wanted), hasAccess ? .isActive : .isNotActive)
    }

    /// A customer whose subscription will renew has not canceled, or has undone the cancellation.
    private func cancelled(_ atLeastDays: Int?, _ atMostDays: Int?, _ context: EvaluationContext) -> Finding {
        if context.facts.autoRenews?.value == true { return Finding(self, .notMet, .notCancelled) }
        guard let instant = context.facts.cancelledAt?.value else {
            return Finding(self, .undecided, .cancellationUnknown)
        }
        guard instant <= context.now else { return Finding(self, .notMet, .notCancelled) }
        let days = context.now.wholeDays(since: instant)
        if let atLeastDays, days < atLeastDays {
            return Finding(self, .notMet, .cancelledTooShort, .count(days), turnsAt: instant.adding(days: atLeastDays))
        }
        if let atMostDays, days > atMostDays { return Finding(self, .notMet, .cancelledTooLong, .count(days)) }
        let turnsAt = atMostDays.map { instant.adding(days: $0).adding(days: 1) }
        return Finding(self, .met, .cancelled, .count(days), turnsAt: turnsAt)
    }

    /// A use with an unknown offer or group may match; the answer is undecided if this makes a difference.
    ///
    /// An incomplete list of uses can show too many uses, but never that there are few enough.
    private func usedOffers(_ pattern: OfferPattern, _ atMost: Int, _ facts: CustomerFacts) -> Finding {
        guard let uses = (facts.offersUsed ?? facts.offersSeen)?.value else {
            return Finding(self, .undecided, .usedOffersUnknown)
        }
        var (certain, possible) = (0, 0)
        for use in uses {
            switch pattern.fits(use) {
            case .met: certain += 1
            case .undecided: possible += 1
            case .notMet: break
            }
        }
        if certain > atMost { return Finding(self, .notMet, .usedOffersOverLimit, .count(certain)) }
        guard facts.offersUsed != nil, certain + possible <= atMost else {
            return Finding(self, .undecided, .usedOffersUnknown)
        }
        return Finding(self, .met, .usedOffersWithinLimit, .count(certain))
    }

    private func window(_ from: Timestamp?, _ until: Timestamp?, _ now: Timestamp) -> Finding {
        if let until, now >= until { return Finding(self, .notMet, .windowClosed) }
        if let from, now < from { return Finding(self, .notMet, .windowNotYetOpen, turnsAt: from) }
        return Finding(self, .met, .windowOpen, turnsAt: until)
    }
}
