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
        case .lapsed(let atLeastDays, let atMostDays): lapsed(atLeastDays: atLeastDays, atMostDays: atMostDays, context)
        case .autoRenew(let wanted): autoRenew(wanted, context.facts.autoRenews)
        case .isActive(let wanted): isActive(wanted, context.facts.hasAccess)
        case .cancelled(let atLeastDays, let atMostDays):
            cancelled(atLeastDays: atLeastDays, atMostDays: atMostDays, context)
        case .renewsTo(let allowed): renewsTo(allowed, context.facts.renewsTo)
        case .billingPlan(let wanted): billingPlan(wanted, context.facts.billingPlan)
        case .priceStepUpConsent(let wanted): priceStepUpConsent(wanted, context.facts.priceStepUpConsent)
        case .commitmentEnds(let days): commitmentEnds(days, context)
        case .commitmentPeriod(let atLeast, let atMost): commitmentPeriod(atLeast: atLeast, atMost: atMost, context)
        case .appleWinBackEligible(let wanted): appleWinBack(wanted, context.facts.appleWinBackEligible)
        case .usedOffers(let type, let id, let group, let atMost):
            usedOffers(OfferPattern(type: type, offerID: id, group: group), atMost: atMost, in: context.facts)
        case .grants(let atMost, let days, let scope, let stores, .granted):
            grants(atMost: atMost, perDays: days, per: scope, in: stores, context)
        case .grants(let atMost, let days, let scope, let stores, .redeemed):
            redeemed(atMost: atMost, perDays: days, context.redeemable(per: scope, in: stores), scope, at: context.now)
        case .cooldown(let days, let scope, let stores, .granted):
            cooldown(days: days, per: scope, in: stores, context)
        case .cooldown(let days, let scope, let stores, .redeemed):
            cooldown(days: days, context.redeemable(per: scope, in: stores), scope, at: context.now)
        case .budget(let atMost, let days, let stores): budget(atMost: atMost, perDays: days, in: stores, context)
        case .window(let from, let until): window(from: from, until: until, at: context.now)
        case .storefront, .region, .ownership, .environment: place(context.facts)
        case .appOrigin, .deviceIntegrity, .appLicensed: app(context.facts.app)
        case .refunded(let days, let percent): refunded(withinDays: days, percent, context)
        case .attribute(let name, let test): attribute(name, test, in: context.attributes)
        }
    }

    /// Where customer and purchase are from.
    private func place(_ facts: CustomerFacts) -> Finding {
        switch self {
        case .storefront(let list):
            answer(
                facts.storefront.map { list.contains($0.value) },
                (.storefrontMatches, .storefrontDiffers, .storefrontUnknown)
            )
        case .region(let list):
            answer(facts.region.map { list.contains($0.value) }, (.regionMatches, .regionDiffers, .regionUnknown))
        case .ownership(let wanted):
            answer(
                facts.ownership.map { $0.value == wanted },
                (.ownershipMatches, .ownershipDiffers, .ownershipUnknown)
            )
        case .environment(let wanted):
            answer(
                facts.environment.map { $0.value == wanted },
                (.environmentMatches, .environmentDiffers, .environmentUnknown)
            )
        default: preconditionFailure("not a rule of a place")
        }
    }

    /// The answer of a comparison; nil is a fact that isn't known.
    func answer(_ isMet: Bool?, _ codes: (met: FindingCode, notMet: FindingCode, unknown: FindingCode)) -> Finding {
        guard let isMet else { return Finding(self, .undecided, because: codes.unknown) }
        return Finding(self, Answer(isMet), because: isMet ? codes.met : codes.notMet)
    }
}

// MARK: - What the store knows of the subscription

extension Rule {
    func subscribedBefore(_ wanted: Bool, _ fact: Fact<Bool>?) -> Finding {
        guard let fact else { return Finding(self, .undecided, because: .subscribedBeforeUnknown) }
        let code = fact.value ? FindingCode.subscribedBefore : .neverSubscribed
        return Finding(self, Answer(fact.value == wanted), because: code)
    }

    private func status(_ allowed: [SubscriptionStatus], _ fact: Fact<SubscriptionStatus>?) -> Finding {
        guard let status = fact?.value else { return Finding(self, .undecided, because: .statusUnknown) }
        let isMet = allowed.contains(status)
        return Finding(
            self,
            Answer(isMet),
            because: isMet ? .statusMatches : .statusDiffers,
            reporting: .status(status)
        )
    }

    /// A past end alone does not count as a lapse.
    ///
    /// The period may have been renewed since, or the store may still be trying to collect for it.
    /// The end does limit how long a lapse can be.
    private func lapsed(atLeastDays: Int?, atMostDays: Int?, _ context: EvaluationContext) -> Finding {
        let status = context.facts.status?.value
        if let status, status != .expired {
            return Finding(self, .notMet, because: .notLapsed, reporting: .status(status))
        }
        guard let expiry = context.facts.expiresAt?.value else {
            return lapsedSinceUnknownEnd(atLeastDays, context)
        }
        guard expiry <= context.now else { return Finding(self, .notMet, because: .notLapsed) }
        let days = context.now.wholeDays(since: expiry)
        if let atLeastDays, days < atLeastDays {
            let turnsAt = status == nil ? nil : expiry.adding(days: atLeastDays)
            return Finding(self, .notMet, because: .lapsedTooShort, reporting: .count(days), turnsAt: turnsAt)
        }
        if let atMostDays, days > atMostDays {
            return Finding(self, .notMet, because: .lapsedTooLong, reporting: .count(days))
        }
        guard status != nil else { return Finding(self, .undecided, because: .lapseStatusUnknown) }
        let turnsAt = atMostDays.map { expiry.adding(days: $0).adding(days: 1) }
        return Finding(self, .met, because: .lapsed, reporting: .count(days), turnsAt: turnsAt)
    }

    /// Uses an end that a later one may follow only to limit how long a lapse can be.
    private func lapsedSinceUnknownEnd(_ atLeastDays: Int?, _ context: EvaluationContext) -> Finding {
        if let end = context.facts.latestEndSeen?.value {
            if end > context.now { return Finding(self, .notMet, because: .notLapsed) }
            let days = context.now.wholeDays(since: end)
            if let atLeastDays, days < atLeastDays {
                return Finding(self, .notMet, because: .lapsedTooShort, reporting: .count(days))
            }
        }
        return Finding(
            self,
            .undecided,
            because: context.facts.status == nil ? .lapseStatusUnknown : .lapseExpiryUnknown
        )
    }

    private func autoRenew(_ wanted: Bool, _ fact: Fact<Bool>?) -> Finding {
        guard let fact else { return Finding(self, .undecided, because: .autoRenewUnknown) }
        return Finding(self, Answer(fact.value == wanted), because: fact.value ? .autoRenewOn : .autoRenewOff)
    }

    private func renewsTo(_ allowed: [ProductID], _ fact: Fact<ProductID>?) -> Finding {
        let isMet = fact.map { allowed.contains($0.value) }
        return answer(isMet, (.renewsToMatches, .renewsToDiffers, .renewsToUnknown))
    }

    private func isActive(_ wanted: Bool, _ hasAccess: Bool?) -> Finding {
        guard let hasAccess else { return Finding(self, .undecided, because: .isActiveUnknown) }
        return Finding(self, Answer(hasAccess == wanted), because: hasAccess ? .isActive : .isNotActive)
    }

    /// A customer whose subscription will renew has not canceled, or has undone the cancellation.
    private func cancelled(atLeastDays: Int?, atMostDays: Int?, _ context: EvaluationContext) -> Finding {
        if context.facts.autoRenews?.value == true { return Finding(self, .notMet, because: .notCancelled) }
        guard let instant = context.facts.cancelledAt?.value else {
            return Finding(self, .undecided, because: .cancellationUnknown)
        }
        guard instant <= context.now else { return Finding(self, .notMet, because: .notCancelled) }
        let days = context.now.wholeDays(since: instant)
        if let atLeastDays, days < atLeastDays {
            return Finding(
                self,
                .notMet,
                because: .cancelledTooShort,
                reporting: .count(days),
                turnsAt: instant.adding(days: atLeastDays)
            )
        }
        if let atMostDays, days > atMostDays {
            return Finding(self, .notMet, because: .cancelledTooLong, reporting: .count(days))
        }
        let turnsAt = atMostDays.map { instant.adding(days: $0).adding(days: 1) }
        return Finding(self, .met, because: .cancelled, reporting: .count(days), turnsAt: turnsAt)
    }

    /// A use with an unknown offer or group may match; the answer is undecided if this makes a difference.
    ///
    /// An incomplete list of uses can show too many uses, but never that there are few enough.
    private func usedOffers(_ pattern: OfferPattern, atMost: Int, in facts: CustomerFacts) -> Finding {
        guard let uses = (facts.offersUsed ?? facts.offersSeen)?.value else {
            return Finding(self, .undecided, because: .usedOffersUnknown)
        }
        var (certain, possible) = (0, 0)
        for use in uses {
            switch pattern.fits(use) {
            case .met: certain += 1
            case .undecided: possible += 1
            case .notMet: break
            }
        }
        if certain > atMost { return Finding(self, .notMet, because: .usedOffersOverLimit, reporting: .count(certain)) }
        guard facts.offersUsed != nil, certain + possible <= atMost else {
            return Finding(self, .undecided, because: .usedOffersUnknown)
        }
        return Finding(self, .met, because: .usedOffersWithinLimit, reporting: .count(certain))
    }

    private func window(from: Timestamp?, until: Timestamp?, at now: Timestamp) -> Finding {
        if let until, now >= until { return Finding(self, .notMet, because: .windowClosed) }
        if let from, now < from { return Finding(self, .notMet, because: .windowNotYetOpen, turnsAt: from) }
        return Finding(self, .met, because: .windowOpen, turnsAt: until)
    }
}
