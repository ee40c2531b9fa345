// SPDX-License-Identifier: Apache-2.0
import OfferDomain

/// How a use of an offer that a store reported compares with the grants of this service.
package enum RedemptionMatch: String, CaseIterable, Hashable, Sendable {
    /// It came from a grant.
    case granted = "grant"
    /// No grant fits: a key is used elsewhere, or an app does not ask.
    case ungranted = "none"
    /// No grant fits, and none was needed: the use is older than this ledger, or than the offer's entry in the catalog.
    case earlier = "earlier"
    /// It came from a grant, but the purchase names another account than the one that got the grant.
    case otherAccount = "other-account"
}
