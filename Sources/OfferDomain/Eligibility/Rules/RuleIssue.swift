// SPDX-License-Identifier: Apache-2.0

/// Something in a rule that can't be meant so.
package struct RuleIssue: Hashable, Sendable, CustomStringConvertible {
    /// Where it is, relative to the rule, as a JSON pointer (RFC 6901): `/all/1/lapsed/atLeastDays`.
    package let pointer: String
    /// What is wrong.
    package let kind: Kind

    /// These are all the ways.
    package enum Kind: Hashable, Sendable {
        case negative(Int)
        /// Larger than `limit`, which for days is a hundred years.
        case tooLarge(Int, limit: Int)
        /// A number of days or a limit of 0, with which the rule would refuse every customer, or none.
        case zero
        case empty
        /// A list that names something twice.
        case repeated(String)
        /// A lower bound above the upper one.
        case reversed
        /// Neither bound is given, so the rule requires nothing.
        case unbounded
        case unfitAttributeName
        case unfitAttributeValue(AttributeFault)
        /// An introductory offer has no ID, so no use could match.
        case introductoryOfferHasNoID
        /// Requires a customer without a subscription, for an offer that only subscribers can have.
        case contradictsFloor
        /// Counts redemptions of an introductory offer, which need no grant and are matched to none.
        case introductoryUsesUnmatched
    }

    /// A sentence without the place, which the pointer is.
    package var description: String {
        switch kind {
        case .negative(let number): "\(number) is negative"
        case .tooLarge(let number, let limit): "\(number) is more than \(limit)"
        case .zero: "must be at least 1"
        case .empty: "must not be empty"
        case .repeated(let what): "lists \(what) twice"
        case .reversed: "leaves nothing between its two bounds"
        case .unbounded: "needs at least one of its members"
        case .unfitAttributeName: "must be 1 to 128 printable ASCII characters without spaces"
        case .unfitAttributeValue(let fault): fault.description
        case .introductoryOfferHasNoID: "can't be asked of introductory offers, which have no id"
        case .introductoryUsesUnmatched:
            "can't be “redeemed” of introductory offers: the App Store gives them without a grant too; use usedOffers"
        case .contradictsFloor:
            "asks for customers who never subscribed, and the offer is only for customers who have subscribed before; one at Google "
                + "Play alone may have admitsNewCustomers"
        }
    }
}
