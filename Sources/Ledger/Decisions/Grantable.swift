// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// What a customer gets who may have an offer.
package enum Grantable: Sendable {
    /// Something that the App Store wants signed.
    case signature(SigningPlan)
    /// Leave to buy what Google Play shows to everybody; nothing is signed.
    case authorization(AuthorizationPlan)
    /// To be told whether the offer could be had; nothing is granted, and nothing recorded.
    case preview

    /// What is delivered upon a decision: true allows, false denies, and `nil` is nothing.
    package func answer(to outcome: Outcome) -> Bool? {
        switch self {
        case .signature(let plan): plan.subject.answer(to: outcome)
        case .authorization: outcome == .eligible ? true : nil
        case .preview: nil
        }
    }

    /// Why nobody can have it just now; `nil` if it can be had.
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

/// Leave to buy an offer at Google Play, as far as the store's own catalog lets it be given.
///
/// A class, so that what is delivered is small to hand on.
package final class AuthorizationPlan: Sendable {
    /// The offer as the store has it; or why it can't be authorized, whoever asks.
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

/// Why an offer at Google Play can't be authorized for anybody just now.
package enum AuthorizationObstacle: Error, Hashable, Sendable {
    /// The offer is not set up as it must be.
    case fault(OfferFault)
    /// The store's catalog isn't known, or not well enough.
    case storeUnavailable(retryAfterSeconds: Int?)
    /// The store refuses this service until an operator changes something, so it isn't known.
    case refusedByStore
}
