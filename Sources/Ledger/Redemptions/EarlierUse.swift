// SPDX-License-Identifier: Apache-2.0
import OfferDomain

/// A use of an offer as the ledger had it before it changed: the members that decide which events follow.
struct EarlierUse: Hashable, Sendable {
    let state: String
    /// When money was paid back without undoing the use, in milliseconds since 1970.
    let refundedAt: Int64?
    let refundedMillipercent: Int64?
    let grantID: [UInt8]?
    let match: String

    /// Whether a use in `state` is only new in that money was paid back.
    func differsByRefund(_ refund: Refund?, in state: String) -> Bool {
        guard let refund else { return false }
        return state == self.state && refund.at.milliseconds != refundedAt
    }
}
