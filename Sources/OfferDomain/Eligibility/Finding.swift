// SPDX-License-Identifier: Apache-2.0

/// A rule's answer for one customer, with its reason.
///
/// It stores only numbers; a caller that needs the sentence makes it. No sentence contains an attribute's value or
/// an identity, so findings may be recorded and logged.
///
/// Its layout is small, 40 bytes: findings go from the thread that decides to the one that answers.
package struct Finding: Hashable, Sendable {
    /// The rules inside this one, in their order.
    package internal(set) var children: [Finding]
    let subject: Rule
    /// In milliseconds; `Int64.min` if it never turns.
    private let turn: Int64
    private let count: Int
    private let kind: ObservationKind
    /// Whether the rule is met.
    package let answer: Answer
    /// The reason, for programs.
    package let code: FindingCode
    private(set) var isFloor = false
    /// For a reached cap, the kinds of names that it counted by; empty if that was not looked up.
    package internal(set) var countedBy: CountedNames = []

    /// What a sentence reports about the facts.
    enum Observation: Hashable, Sendable {
        case nothing
        case count(Int)
        case status(SubscriptionStatus)
    }

    /// The same without the number.
    private enum ObservationKind: Hashable, Sendable {
        case nothing
        case count
        case status(SubscriptionStatus)
    }

    init(
        _ subject: Rule,
        _ answer: Answer,
        because code: FindingCode,
        reporting observation: Observation = .nothing,
        turnsAt: Timestamp? = nil
    ) {
        self.answer = answer
        self.code = code
        children = []
        turn = turnsAt?.milliseconds ?? .min
        self.subject = subject
        switch observation {
        case .nothing: (kind, count) = (.nothing, 0)
        case .count(let count): (kind, self.count) = (.count, count)
        case .status(let status): (kind, count) = (.status(status), 0)
        }
    }

    /// The answer of a rule that combines others, without an observation of its own.
    init(_ subject: Rule, _ answer: Answer, because code: FindingCode, turnsAt: Timestamp?, children: [Finding]) {
        self.init(subject, answer, because: code, turnsAt: turnsAt)
        self.children = children
    }

    /// The same answer, to what every offer requires.
    var ofFloor: Finding {
        var finding = self
        finding.isFloor = true
        return finding
    }

    var observation: Observation {
        switch kind {
        case .nothing: .nothing
        case .count: .count(count)
        case .status(let status): .status(status)
        }
    }

    /// When the answer changes between yes and no if all facts stay the same; nil if it does not.
    var turnsAt: Timestamp? { turn == .min ? nil : Timestamp(milliseconds: turn) }

    /// The rule's name in an offers file; `appStoreFloor` or `provenCustomer` for what every offer requires, and
    /// `storeAnswer` for what a store answered.
    package var rule: String {
        guard isFloor else { return subject.name }
        if StoreFinding.codes.contains(code) { return "storeAnswer" }
        return code == .customerUnproven ? "provenCustomer" : "appStoreFloor"
    }

    /// What can differ between two findings of one rule without inner rules; together with the number that the sentence
    /// begins with, it determines everything that is reported about the finding.
    package struct Variable: Hashable, Sendable {
        let answer: Answer
        let code: FindingCode
        let observation: Observation
        let turnsAt: Timestamp?
        let isFloor: Bool
        let countedBy: CountedNames
    }

    /// See ``Variable``; nil if there are inner rules.
    package var variable: Variable? {
        guard children.isEmpty else { return nil }
        // Of that number, only whether it is one grant or several matters.
        let observation = leadingCount.map { .count(min($0, 2)) } ?? observation
        return Variable(
            answer: answer,
            code: code,
            observation: observation,
            turnsAt: turnsAt,
            isFloor: isFloor,
            countedBy: countedBy
        )
    }

    /// Passes the variable part of each finding, in order, and the number that its sentence begins with.
    ///
    /// It is in this module because another module would copy each finding with its rule, which all requests share.
    package static func forEachVariable(
        of findings: [Finding],
        _ body: (_ place: Int, Variable?, _ leadingCount: Int?) -> Void
    ) {
        for place in findings.indices { body(place, findings[place].variable, findings[place].leadingCount) }
    }

    /// The instant at which this changes from `notMet` to `met` by waiting alone; nil if it does not.
    package var nextEligibleAt: Timestamp? { answer == .notMet ? turnsAt : nil }
}

/// Why a rule answered as it did; stable names for programs, explained in docs/rules.md.
package enum FindingCode: String, CaseIterable, Sendable {
    case allMet = "all-met"
    case allNotMet = "all-not-met"
    case allUndecided = "all-undecided"
    case anyMet = "any-met"
    case anyNotMet = "any-not-met"
    case anyUndecided = "any-undecided"
    case notMet = "not-met"
    case notNotMet = "not-not-met"
    case notUndecided = "not-undecided"
    case subscribedBefore = "subscribed-before"
    case neverSubscribed = "never-subscribed"
    case subscribedBeforeUnknown = "subscribed-before-unknown"
    case statusMatches = "status-matches"
    case statusDiffers = "status-differs"
    case statusUnknown = "status-unknown"
    case lapsed
    case lapsedTooShort = "lapsed-too-short"
    case lapsedTooLong = "lapsed-too-long"
    case notLapsed = "not-lapsed"
    case lapseStatusUnknown = "lapse-status-unknown"
    case lapseExpiryUnknown = "lapse-expiry-unknown"
    case autoRenewOn = "auto-renew-on"
    case autoRenewOff = "auto-renew-off"
    case autoRenewUnknown = "auto-renew-unknown"
    case isActive = "is-active"
    case isNotActive = "is-not-active"
    case isActiveUnknown = "is-active-unknown"
    case cancelled
    case cancelledTooShort = "cancelled-too-short"
    case cancelledTooLong = "cancelled-too-long"
    case notCancelled = "not-cancelled"
    case cancellationUnknown = "cancellation-unknown"
    case renewsToMatches = "renews-to-matches"
    case renewsToDiffers = "renews-to-differs"
    case renewsToUnknown = "renews-to-unknown"
    case billingPlanMatches = "billing-plan-matches"
    case billingPlanDiffers = "billing-plan-differs"
    case billingPlanUnknown = "billing-plan-unknown"
    case noCommitment = "no-commitment"
    case priceStepUpConsentMatches = "price-step-up-consent-matches"
    case priceStepUpConsentDiffers = "price-step-up-consent-differs"
    case priceStepUpConsentUnknown = "price-step-up-consent-unknown"
    case commitmentEndsSoon = "commitment-ends-soon"
    case commitmentEndsLater = "commitment-ends-later"
    case commitmentOver = "commitment-over"
    case commitmentEndUnknown = "commitment-end-unknown"
    case commitmentPeriodMatches = "commitment-period-matches"
    case commitmentPeriodDiffers = "commitment-period-differs"
    case commitmentPeriodUnknown = "commitment-period-unknown"
    case appleWinBack = "apple-win-back"
    case noAppleWinBack = "no-apple-win-back"
    case appleWinBackUnknown = "apple-win-back-unknown"
    case usedOffersWithinLimit = "used-offers-within-limit"
    case usedOffersOverLimit = "used-offers-over-limit"
    case usedOffersUnknown = "used-offers-unknown"
    case grantsBelowCap = "grants-below-cap"
    case grantsCapReached = "grants-cap-reached"
    case cooldownOver = "cooldown-over"
    case cooldownRunning = "cooldown-running"
    case customerUnknown = "customer-unknown"
    case customerUnproven = "customer-unproven"
    case originalTransactionUnknown = "original-transaction-unknown"
    case budgetLeft = "budget-left"
    case budgetSpent = "budget-spent"
    case windowOpen = "window-open"
    case windowNotYetOpen = "window-not-yet-open"
    case windowClosed = "window-closed"
    case storefrontMatches = "storefront-matches"
    case storefrontDiffers = "storefront-differs"
    case storefrontUnknown = "storefront-unknown"
    case regionMatches = "region-matches"
    case regionDiffers = "region-differs"
    case regionUnknown = "region-unknown"
    case ownershipMatches = "ownership-matches"
    case ownershipDiffers = "ownership-differs"
    case ownershipUnknown = "ownership-unknown"
    case appOriginMatches = "app-origin-matches"
    case appOriginDiffers = "app-origin-differs"
    case appOriginUnknown = "app-origin-unknown"
    case deviceIntegrityMet = "device-integrity-met"
    case deviceIntegrityLower = "device-integrity-lower"
    case deviceIntegrityUnknown = "device-integrity-unknown"
    case appLicensed = "app-licensed"
    case appNotLicensed = "app-not-licensed"
    case appLicenseUnknown = "app-license-unknown"
    case refunded
    case notRefunded = "not-refunded"
    case refundsUnknown = "refunds-unknown"
    case environmentMatches = "environment-matches"
    case environmentDiffers = "environment-differs"
    case environmentUnknown = "environment-unknown"
    case attributeMatches = "attribute-matches"
    case attributeDiffers = "attribute-differs"
    case attributeExists = "attribute-exists"
    case attributeAbsent = "attribute-absent"
    case attributeUnknown = "attribute-unknown"
    case attributeWrongType = "attribute-wrong-type"
    case transactionUnknownToStore = "transaction-unknown-to-store"
    case purchaseUnknownToStore = "purchase-unknown-to-store"
    case purchaseExpiredTooLong = "purchase-expired-too-long"
    case purchaseReplaced = "purchase-replaced"
    case purchaseUnreadable = "purchase-unreadable"
    case storeEntryUnreadable = "store-entry-unreadable"
    case knownOfOtherGroup = "known-of-other-group"
}
