// SPDX-License-Identifier: Apache-2.0
import OfferDomain

/// A grant that may be the source of a use of its offer.
struct GrantCandidate: Hashable {
    let id: UniqueID
    /// The key of the account that got the grant; `nil` if it went to no account that purchases name.
    let account: [UInt8]?

    /// Whether another account got the grant than the one that used it; false if either is unknown.
    ///
    /// `accounts` are all names of the account that used it; empty if the purchase names no account.
    func isOfOther(than accounts: [[UInt8]]) -> Bool {
        guard let account, !accounts.isEmpty else { return false }
        return !accounts.contains(account)
    }
}

extension Sequence<GrantCandidate> {
    /// The last grant up to an instant; without one, the first in the five minutes after it, because the store's clock
    /// and the service's may differ by seconds.
    func nearest(to instant: Timestamp) -> GrantCandidate? {
        // Ids of one version begin with their time, so they are in its order.
        let latest = instant.adding(minutes: 5)
        return filter { $0.id.timestamp <= instant }.max { $0.id < $1.id }
            ?? filter { $0.id.timestamp <= latest }.min { $0.id < $1.id }
    }
}
