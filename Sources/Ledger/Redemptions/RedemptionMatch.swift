// SPDX-License-Identifier: Apache-2.0
import OfferDomain

/// What a use of an offer, as a store told of it, is in the light of what this service has granted.
package enum RedemptionMatch: String, CaseIterable, Hashable, Sendable {
    /// It came from a grant.
    case granted = "grant"
    /// No grant fits: a key is used elsewhere, or an app does not ask.
    case ungranted = "none"
    /// No grant fits, and none was needed: the use is older than this ledger, or than the offer's entry in the catalog.
    case earlier = "earlier"
    /// It came from a grant, and the purchase names another account than the grant was given to.
    case otherAccount = "other-account"
}

/// A grant that a use of its offer may have come from.
struct GrantCandidate: Hashable {
    let id: UniqueID
    /// The key of the account that it was given to; `nil` if to none that purchases name.
    let account: [UInt8]?

    /// Whether it was given to somebody else than who used it; what isn't known is no somebody else.
    ///
    /// `accounts` are all names of who used it, and none if the purchase names nobody.
    func isOfOther(than accounts: [[UInt8]]) -> Bool {
        guard let account, !accounts.isEmpty else { return false }
        return !accounts.contains(account)
    }
}

extension Sequence<GrantCandidate> {
    /// The last one until an instant; without any, the first of the five minutes after it, because the store's clock and
    /// ours need not agree to the second.
    func nearest(to instant: Timestamp) -> GrantCandidate? {
        // Ids of one version begin with their time, so they are in its order.
        let latest = instant.adding(minutes: 5)
        return filter { $0.id.timestamp <= instant }.max { $0.id < $1.id }
            ?? filter { $0.id.timestamp <= latest }.min { $0.id < $1.id }
    }
}
