// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// What a customer gets if they may have an offer.
package enum Grantable: Sendable {
    /// Something that the App Store wants signed.
    case signature(SigningPlan)
    /// Permission to buy an offer that Google Play shows to all customers; nothing is signed.
    case authorization(AuthorizationPlan)
    /// Only the answer whether the customer could have the offer; nothing is granted or recorded.
    case preview

    /// Whether what the customer gets on this outcome allows the offer or denies it.
    ///
    /// - Returns: `nil` if the customer gets nothing then: the service refuses the request.
    package func allows(on outcome: Outcome) -> Bool? {
        switch self {
        case .signature(let plan): plan.subject.allows(on: outcome)
        case .authorization: outcome == .eligible ? true : nil
        case .preview: nil
        }
    }

    /// Why no customer can have it now; `nil` if customers can.
    package var obstacle: AuthorizationObstacle? {
        guard case .authorization(let plan) = self, case .failure(let obstacle) = plan.offer else { return nil }
        return obstacle
    }

    /// What is to be signed: nothing of an authorization.
    package func intents(
        allows: Bool,
        nonce: UniqueID,
        at instant: Timestamp
    ) throws(PayloadError) -> [SigningIntent] {
        switch self {
        case .signature(let plan): try plan.intents(allows: allows, nonce: nonce, at: instant)
        case .authorization, .preview: []
        }
    }
}

/// Permission to buy an offer at Google Play, as far as the store's own catalog allows.
///
/// A class, so that a ``Grantable`` is small to pass on.
package final class AuthorizationPlan: Sendable {
    /// The offer as the store has it, or why it can't be authorized for any customer.
    package let offer: Result<ValidatedOffer, AuthorizationObstacle>
    /// The offer as the catalog names it.
    package let listing: GooglePlayOfferKey
    /// What the app sets as `obfuscatedAccountId`.
    package let accountID: GooglePlayAccountID

    /// `offer` is what Google Play lists under `listing`, or why it can't be authorized.
    package init(
        listing: GooglePlayOfferKey,
        offer: Result<ValidatedOffer, AuthorizationObstacle>,
        accountID: GooglePlayAccountID
    ) {
        self.listing = listing
        self.offer = offer
        self.accountID = accountID
    }
}

/// Why an offer at Google Play can't be authorized for any customer now.
package enum AuthorizationObstacle: Error, Hashable, Sendable {
    /// The offer is set up wrong.
    case fault(OfferFault)
    /// The store's catalog isn't known, or not well enough.
    case storeUnavailable(retryAfterSeconds: Int?)
    /// The store refuses this service until an operator changes something, so it isn't known.
    case refusedByStore
}
