// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// A use of an offer, and the grant that it was matched to.
package struct MatchedRedemption: Hashable, Sendable {
    /// What ties a use to a grant, the surest first.
    package enum Way: String, Sendable {
        /// The purchase carries the grant's mark; only at Google Play.
        case mark
        /// The offer was granted to the same customer, or for the same chain of purchases, shortly before.
        case customer
    }

    /// The use, as evidence shows it.
    package let use: StoreRedemption
    /// The offer's key in the ledger, at Google Play.
    package let offerKey: Int64?
    /// `nil` if no grant fits: the use came from another program's signature, or is older than the ledger.
    package let grantID: UniqueID?
    /// What shows that the use came from the grant; `nil` without one.
    package let way: Way?
    /// How the use compares with grants, for metrics, records and reports.
    package let match: RedemptionMatch
    /// What the ledger had before; `nil` for a use that is new to it.
    var earlier: EarlierUse?
    /// Whether only times are new, or what ties the use to its grant.
    var isCorrection = false

    /// A use with what was found for it.
    package init(
        _ use: StoreRedemption,
        offerKey: Int64?,
        _ match: RedemptionMatch,
        grant: (id: UniqueID, way: Way)? = nil
    ) {
        (self.use, self.offerKey, self.match) = (use, offerKey, match)
        (grantID, way) = (grant?.id, grant?.way)
    }

    /// Whether only a refund is new.
    var isRefundAlone: Bool { earlier?.differsByRefund(use.refund, in: use.state.name) ?? false }

    /// Whether the ledger did not know before that the customer had the discount.
    var isNewAsRedeemed: Bool {
        use.state != .pending && (earlier == nil || earlier?.state == RedemptionState.pending.name)
    }
}
