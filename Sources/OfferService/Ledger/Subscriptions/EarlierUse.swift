// SPDX-License-Identifier: Apache-2.0
import OfferDomain

/// What the ledger had of a use of an offer before the use changed, as far as receivers of events are told of it.
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
