// SPDX-License-Identifier: Apache-2.0
import Configuration
import JSON
package import OfferDomain
import Storage

/// A purchase right after a grant and without its offer: the app or its library did not pass the offer to StoreKit.
package struct BoughtWithoutOffer: Hashable, Sendable {
    /// The grant that was not used.
    package let grantID: UniqueID
    /// The key of the chain that the purchase is in.
    package let chain: ChainKey
    /// The app.
    package let bundleID: BundleID
    /// The product that was granted and bought.
    package let productID: String
    /// The store's ID of the offer that was granted.
    package let offerID: String
    /// The catalog's own ID of the offer.
    package let rule: String
    /// Where the purchase was made.
    package let environment: StoreEnvironment
    /// When the customer bought; within minutes of the grant.
    package let purchasedAt: Timestamp
    /// Library and version, if the request for the signature named them.
    package let client: String?

    /// How long after the signature a purchase counts as made with it.
    package static let purchaseMinutes = 10
}

/// The redemption of an offer, with the client that the offer was signed for.
package struct ClientRedemption: Hashable, Sendable {
    /// The catalog's own ID of the offer.
    package let rule: String
    /// Where the offer was redeemed.
    package let environment: StoreEnvironment
    /// Library and version, if the request for the signature named them.
    package let client: String?
}

extension TransactionRecord {
    /// Whether the customer bought it, and so could have had an offer with it: no renewal, and no share of a family.
    package var mayLackOffer: Bool { reason != .known(.renewal) && ownership != .known(.familyShared) }
}
