// SPDX-License-Identifier: Apache-2.0

// Facts that only one store has: Apple's billing plan and own win-back offers, and consent to a price at Google Play.
extension CustomerFacts {
    /// Leaves out what is of one subscription.
    mutating func forgetPlan() {
        (billingPlan, commitmentEndsAt, commitmentPeriod) = (nil, nil, nil)
        priceStepUpConsent = nil
    }
}

extension ChainState {
    /// Adds the billing plan of the latest purchase, unless a later one may exist unseen.
    func addPlan(to facts: inout CustomerFacts) {
        guard isLatestCertain else { return }
        func fact<Value>(_ value: Value?) -> Fact<Value>? {
            value.map { Fact($0, source: latest.source, observedAt: latest.signedAt) }
        }
        facts.billingPlan = fact(latest.billingPlan?.known)
        facts.commitmentEndsAt = fact(latest.commitmentEndsAt)
        facts.commitmentPeriod = fact(latest.commitmentPeriod)
    }

    /// Adds whether the App Store has a win-back offer for the customer.
    ///
    /// Time alone makes a lapsed customer eligible, so a missing offer before the end says nothing about later.
    func addWinBack(to facts: inout CustomerFacts, at now: Timestamp) {
        guard let renewal else { return }
        let isEligible = !renewal.eligibleWinBackOfferIDs.isEmpty
        guard let end = end?.value, isEligible || end > now || renewal.signedAt >= end else { return }
        facts.appleWinBackEligible = Fact(isEligible, source: renewal.source, observedAt: renewal.signedAt)
    }
}
