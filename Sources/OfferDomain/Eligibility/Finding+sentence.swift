// SPDX-License-Identifier: Apache-2.0

extension Finding {
    /// The reason, for people: a sentence without capital and full stop, as "lapsed 41 days ago, 30 needed".
    package var because: String {
        switch code {
        case .allMet: "all of the following is met"
        case .allNotMet: "not all of the following is met"
        case .allUndecided: "part of the following is undecided, and nothing in it is against; send what that asks for"
        case .anyMet: "at least one of the following is met"
        case .anyNotMet: "none of the following is met"
        case .anyUndecided: "none of the following is met, and part of it is undecided; send what that asks for"
        case .notMet, .notNotMet: "the opposite of what follows"
        case .notUndecided: "the opposite of what follows, which is undecided; send what that asks for"
        case .subscribedBefore, .neverSubscribed, .subscribedBeforeUnknown: subscribedBeforeSentence
        case .statusMatches, .statusDiffers, .statusUnknown: statusSentence
        case .lapsed, .lapsedTooShort, .lapsedTooLong, .notLapsed, .lapseStatusUnknown, .lapseExpiryUnknown:
            lapsedSentence
        case .autoRenewOn: "the subscription is set to renew"
        case .autoRenewOff: "the subscription is not set to renew"
        case .autoRenewUnknown: "it is not known whether the subscription is set to renew; \(Self.sending("autoRenew"))"
        case .isActive: "the customer has access to the subscription"
        case .isNotActive: "the customer has no access to the subscription"
        case .isActiveUnknown:
            "it is not known whether the customer has access to the subscription; \(Self.sending("isActive", "status"))"
        case .cancelled, .cancelledTooShort, .cancelledTooLong, .notCancelled, .cancellationUnknown: cancelledSentence
        case .renewsToMatches: "the next renewal is for one of the products listed"
        case .renewsToDiffers: "the next renewal is for none of the products listed"
        case .renewsToUnknown: "it is not known which product the next renewal is for; \(Self.sending("renewsTo"))"
        case .billingPlanMatches, .billingPlanDiffers, .billingPlanUnknown, .noCommitment, .commitmentEndsSoon,
            .commitmentEndsLater, .commitmentOver, .commitmentEndUnknown, .commitmentPeriodMatches,
            .commitmentPeriodDiffers, .commitmentPeriodUnknown, .appleWinBack, .noAppleWinBack, .appleWinBackUnknown,
            .priceStepUpConsentMatches, .priceStepUpConsentDiffers, .priceStepUpConsentUnknown:
            appStoreSentence
        case .usedOffersWithinLimit, .usedOffersOverLimit, .usedOffersUnknown: usedOffersSentence
        case .customerUnproven:
            "nothing shows who the customer is: an app sends signedTransactions, or purchaseTokens at Google Play, or a "
                + "transactionId with its appAccountToken; or a backend asks"
        case .grantsBelowCap, .grantsCapReached, .cooldownOver, .cooldownRunning, .customerUnknown,
            .originalTransactionUnknown, .budgetLeft, .budgetSpent:
            capSentence
        case .windowOpen, .windowNotYetOpen, .windowClosed: windowSentence
        case .storefrontMatches: "the customer's storefront is one of those listed"
        case .storefrontDiffers: "the customer's storefront is not one of those listed"
        case .storefrontUnknown: "the customer's storefront is not known; \(Self.sending("storefront"))"
        case .regionMatches: "the customer's region is one of those listed"
        case .regionDiffers: "the customer's region is not one of those listed"
        case .regionUnknown: "the customer's region is not known; \(Self.sending("region"))"
        case .appOriginMatches, .appOriginDiffers, .appOriginUnknown, .deviceIntegrityMet, .deviceIntegrityLower,
            .deviceIntegrityUnknown, .appLicensed, .appNotLicensed, .appLicenseUnknown:
            appSentence
        case .ownershipMatches, .ownershipDiffers, .ownershipUnknown: ownershipSentence
        case .refunded, .notRefunded, .refundsUnknown: refundedSentence
        case .environmentMatches, .environmentDiffers, .environmentUnknown: environmentSentence
        case .attributeMatches, .attributeDiffers, .attributeExists, .attributeAbsent, .attributeUnknown,
            .attributeWrongType:
            attributeSentence
        case .transactionUnknownToStore, .purchaseUnknownToStore, .purchaseExpiredTooLong, .purchaseReplaced,
            .purchaseUnreadable, .storeEntryUnreadable, .knownOfOtherGroup:
            storeSentence
        }
    }

    /// How to make a fact known that the store or the caller's backend has.
    static func sending(_ facts: String...) -> String {
        let names = facts.map { "facts.\($0)" }.joined(separator: " or ")
        return "send signedTransactions or a transactionId (at Google Play, purchaseTokens), or as a backend \(names)"
    }

    var counted: Int {
        if case .count(let count) = observation { count } else { 0 }
    }

    private var subscribedBeforeSentence: String {
        let sentence =
            switch code {
            case .subscribedBefore: "has or had a subscription in the app"
            case .neverSubscribed: "never had a subscription in the app"
            default:
                "it is not known whether there ever was a subscription in the app; "
                    + Self.sending("subscribedBefore", "status")
            }
        return isFloor ? sentence + "; the App Store gives such offers to current and past subscribers only" : sentence
    }

    private var statusSentence: String {
        guard case .status(let allowed) = subject, case .status(let status) = observation else {
            return "the status of the subscription is not known; \(Self.sending("status"))"
        }
        let list = allowed.map(\.rawValue).joined(separator: ", ")
        return "the status is \(status.rawValue), \(code == .statusMatches ? "one of" : "not one of") \(list)"
    }

    private var lapsedSentence: String {
        guard case .lapsed(let atLeastDays, let atMostDays) = subject else { return "" }
        switch code {
        case .notLapsed:
            guard case .status(let status) = observation else { return "the subscription has not ended yet" }
            return "the status is \(status.rawValue), not expired"
        case .lapseStatusUnknown:
            return
                "it is not known whether the subscription has expired for good; \(Self.sending("status", "expiresAt"))"
        case .lapseExpiryUnknown: return "it is not known when the subscription expired; \(Self.sending("expiresAt"))"
        default: return "lapsed \(days(counted)) ago" + bounds(atLeastDays, atMostDays)
        }
    }

    private var cancelledSentence: String {
        guard case .cancelled(let atLeastDays, let atMostDays) = subject else { return "" }
        return switch code {
        case .notCancelled: "the customer has not cancelled"
        case .cancellationUnknown: "it is not known when the customer cancelled; \(Self.sending("cancelledAt"))"
        default: "cancelled \(days(counted)) ago" + bounds(atLeastDays, atMostDays)
        }
    }

    private func bounds(_ atLeastDays: Int?, _ atMostDays: Int?) -> String {
        [atLeastDays.map { ", \($0) needed" }, atMostDays.map { ", at most \($0) allowed" }].compactMap(\.self).joined()
    }

    private var usedOffersSentence: String {
        guard case .usedOffers(let type, let offer, let group, let atMost) = subject else { return "" }
        let what = [type?.rawValue, offer.map { "\"\($0)\"" }].compactMap(\.self).joined(separator: " ")
        let offers = (what.isEmpty ? "offers" : "\(what) offers") + (group.map { " in the group \($0)" } ?? "")
        return code == .usedOffersUnknown
            ? "it is not known how many \(offers) the customer has used; \(Self.sending("offersUsed"))"
            : "has used \(counted) \(offers), at most \(atMost) allowed"
    }

    private var windowSentence: String {
        guard case .window(let from, let until) = subject else { return "" }
        switch code {
        case .windowNotYetOpen: return "opens at \(from?.rfc3339 ?? "")"
        case .windowClosed: return "closed at \(until?.rfc3339 ?? "")"
        default: return until.map { "open until \($0.rfc3339)" } ?? "open"
        }
    }

    private var ownershipSentence: String {
        guard case .ownership(let wanted) = subject, code != .ownershipUnknown else {
            return "it is not known how the customer got the subscription; \(Self.sending("ownership"))"
        }
        return code == .ownershipMatches
            ? "the subscription is \(wanted.rawValue)" : "the subscription is not \(wanted.rawValue)"
    }

    private var environmentSentence: String {
        guard case .environment(let wanted) = subject, code != .environmentUnknown else {
            return "the store environment is not known; \(Self.sending("environment"))"
        }
        return code == .environmentMatches
            ? "the environment is \(wanted.rawValue)" : "the environment is not \(wanted.rawValue)"
    }

    private var refundedSentence: String {
        guard case .refunded(let withinDays, let percent) = subject, code != .refundsUnknown else {
            return "it is not known whether there were refunds; \(Self.sending("refundedAt"))"
        }
        let least = percent.map { " of at least \($0) %" } ?? ""
        return "\(code == .refunded ? "a" : "no") refund\(least) in the last \(days(withinDays))"
    }

    /// Tells the attribute's name, which the offers file has, and never its value, which is the customer's.
    private var attributeSentence: String {
        guard case .attribute(let name, _) = subject else { return "" }
        switch code {
        case .attributeMatches: return "the attribute \(name) is as required"
        case .attributeDiffers: return "the attribute \(name) is not as required"
        case .attributeExists: return "the attribute \(name) is stated"
        case .attributeAbsent: return "the attribute \(name) is not stated"
        case .attributeWrongType:
            return
                "the attribute \(name) is of a different type than the rule asks for; send attributes.\(name) as the rule has it"
        default: return "no trusted caller stated the attribute \(name); a backend sends or stores attributes.\(name)"
        }
    }
}

// MARK: - Caps

extension Finding {
    /// The number of grants that the sentence begins with, in decimal; nil if it begins with none.
    package var leadingCount: Int? {
        switch code {
        case .grantsBelowCap, .grantsCapReached, .budgetLeft, .budgetSpent: counted
        default: nil
        }
    }

    private var capSentence: String {
        switch code {
        case .customerUnknown:
            return "it is not known whose grants to count: no customer id, anonymous id, token or user name; send "
                + "customerId, anonymousId, appAccountToken or applicationUsername"
        case .originalTransactionUnknown:
            return "it is not known whose grants to count: no original transaction; "
                + Self.sending("originalTransactionId")
        default: break
        }
        switch subject {
        case .grants(let atMost, let perDays, _, _, let counting):
            let what = counting == .redeemed ? " redeemed or still reserved" : ""
            return "\(grants(counted))\(what) \(span(perDays, calendar: false)), at most \(atMost) allowed"
        case .budget(let atMost, let perDays, _):
            return "\(grants(counted)) to all customers \(span(perDays, calendar: true)), at most \(atMost) allowed"
        case .cooldown(let needed, _, _, let counting):
            let what = counting == .redeemed ? " redeemed or still reserved" : ""
            guard case .count = observation else { return "no grant\(what) before this one" }
            return "the last grant\(what) was \(days(counted)) ago, \(needed) needed"
        default: return ""
        }
    }

    private func span(_ perDays: Int?, calendar: Bool) -> String {
        guard let perDays else { return "so far" }
        if calendar, perDays == 1 { return "today (UTC)" }
        return "in the last \(days(perDays))" + (calendar ? " (UTC)" : "")
    }

    private func days(_ count: Int) -> String { count == 1 ? "1 day" : "\(count) days" }

    private func grants(_ count: Int) -> String { count == 1 ? "1 grant" : "\(count) grants" }
}
