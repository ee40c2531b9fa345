// SPDX-License-Identifier: Apache-2.0
import OfferDomain

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
