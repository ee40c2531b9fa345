// SPDX-License-Identifier: Apache-2.0

// What one store alone knows of the subscription.
extension Rule {
    func billingPlan(_ wanted: BillingPlan, _ fact: Fact<BillingPlan>?) -> Finding {
        guard let fact else { return Finding(self, .undecided, because: .billingPlanUnknown) }
        let isMet = fact.value == wanted
        return Finding(self, Answer(isMet), because: isMet ? .billingPlanMatches : .billingPlanDiffers)
    }

    func priceStepUpConsent(_ wanted: PriceStepUpConsent, _ fact: Fact<PriceStepUpConsent>?) -> Finding {
        guard let fact else { return Finding(self, .undecided, because: .priceStepUpConsentUnknown) }
        let isMet = fact.value == wanted
        return Finding(self, Answer(isMet), because: isMet ? .priceStepUpConsentMatches : .priceStepUpConsentDiffers)
    }

    /// Treats a plan that is billed upfront as a plan without a commitment.
    func commitmentEnds(_ days: Int, _ context: EvaluationContext) -> Finding {
        if let absence = noCommitment(context) { return absence }
        guard let end = context.facts.commitmentEndsAt?.value else {
            return Finding(self, .undecided, because: .commitmentEndUnknown)
        }
        guard end > context.now else { return Finding(self, .notMet, because: .commitmentOver) }
        let beginsAt = end.adding(days: -days)
        guard context.now >= beginsAt else {
            return Finding(self, .notMet, because: .commitmentEndsLater, turnsAt: beginsAt)
        }
        return Finding(self, .met, because: .commitmentEndsSoon, turnsAt: end)
    }

    func commitmentPeriod(atLeast: Int?, atMost: Int?, _ context: EvaluationContext) -> Finding {
        if let absence = noCommitment(context) { return absence }
        guard let period = context.facts.commitmentPeriod?.value else {
            return Finding(self, .undecided, because: .commitmentPeriodUnknown)
        }
        let isMet = (atLeast ?? period) <= period && period <= (atMost ?? period)
        return Finding(
            self,
            Answer(isMet),
            because: isMet ? .commitmentPeriodMatches : .commitmentPeriodDiffers,
            reporting: .count(period)
        )
    }

    func appleWinBack(_ wanted: Bool, _ fact: Fact<Bool>?) -> Finding {
        guard let fact else { return Finding(self, .undecided, because: .appleWinBackUnknown) }
        return Finding(self, Answer(fact.value == wanted), because: fact.value ? .appleWinBack : .noAppleWinBack)
    }

    private func noCommitment(_ context: EvaluationContext) -> Finding? {
        context.facts.billingPlan?.value == .billedUpfront ? Finding(self, .notMet, because: .noCommitment) : nil
    }
}

extension Finding {
    /// The reason, of the rules above.
    var appStoreSentence: String {
        switch (code, subject) {
        case (.billingPlanMatches, .billingPlan(let plan)): "the billing plan is \(plan.rawValue)"
        case (.billingPlanDiffers, .billingPlan(let plan)): "the billing plan is not \(plan.rawValue)"
        case (.billingPlanUnknown, _): "the billing plan is not known; \(Self.sending("billingPlan"))"
        case (.priceStepUpConsentMatches, .priceStepUpConsent(let wanted)):
            "the consent to the price step-up is \(wanted.rawValue)"
        case (.priceStepUpConsentDiffers, .priceStepUpConsent(let wanted)):
            "the consent to the price step-up is not \(wanted.rawValue)"
        case (.priceStepUpConsentUnknown, _):
            "it is not known whether the customer agreed to a price step-up; \(Self.sending("priceStepUpConsent"))"
        case (.commitmentEndsSoon, .commitmentEnds(let days)): "the commitment ends within \(Self.days(days))"
        case (.commitmentEndsLater, .commitmentEnds(let days)): "the commitment does not end within \(Self.days(days))"
        case (.commitmentOver, _): "the commitment has ended"
        case (.noCommitment, _): "the billing plan has no commitment"
        case (.commitmentEndUnknown, _):
            "it is not known when the commitment ends; \(Self.sending("commitmentEndsAt"))"
        case (.commitmentPeriodMatches, _), (.commitmentPeriodDiffers, _): commitmentPeriodSentence
        case (.commitmentPeriodUnknown, _):
            "it is not known which period of the commitment runs; \(Self.sending("commitmentPeriod"))"
        case (.appleWinBack, _): "the App Store has a win-back offer for the customer"
        case (.noAppleWinBack, _): "the App Store has no win-back offer for the customer"
        default:
            "it is not known whether the App Store has a win-back offer for the customer; "
                + Self.sending("appleWinBackEligible")
        }
    }

    private var commitmentPeriodSentence: String {
        guard case .commitmentPeriod(let atLeast, let atMost) = subject else { return "" }
        let bounds = [atLeast.map { "at least \($0) needed" }, atMost.map { "at most \($0) allowed" }]
        return ["period \(counted) of the commitment", bounds[0], bounds[1]].compactMap(\.self).joined(separator: ", ")
    }

    private static func days(_ count: Int) -> String { count == 1 ? "1 day" : "\(count) days" }
}
