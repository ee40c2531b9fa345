// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// What exactly may be signed, or bought, upon a grant.
///
/// The requesting thread makes them before the decision, and still has them when it signs.
package final class GrantTerms: Sendable {
    /// What is granted on these terms.
    package let grantable: Grantable
    /// UUIDv7 of the request.
    package let id: UniqueID
    /// UUIDv4; what is signed carries it.
    package let nonce: UniqueID
    /// When it was asked for; the timestamp inside what is signed.
    package let signedAt: Timestamp
    /// Whether what may be signed allows the offer; only then does it count against caps.
    package let allows: Bool
    /// Exactly what may be signed, one for each form; none of an offer that is not signed.
    package let intents: [SigningIntent]

    /// - Throws: `PayloadError` as ``SigningPlan/intents(allows:nonce:at:)``.
    package init(
        of grantable: Grantable,
        id: UniqueID,
        nonce: UniqueID,
        signedAt: Timestamp,
        allows: Bool = true
    ) throws(PayloadError) {
        self.grantable = grantable
        self.id = id
        self.nonce = nonce
        self.signedAt = signedAt
        self.allows = allows
        intents = try grantable.intents(allows: allows, nonce: nonce, at: signedAt)
    }

    /// The terms of a preview, which delivers nothing.
    package init(id: UniqueID, at instant: Timestamp) {
        grantable = .preview
        (self.id, nonce, signedAt) = (id, id, instant)
        (allows, intents) = (true, [])
    }
}

/// Permission to sign, or to buy, already on disk.
package struct Grant: Sendable {
    /// What may be signed; for a replay, the terms of the first request.
    package let terms: GrantTerms
    /// A decision, or an earlier request.
    package let basis: Basis

    package init(terms: GrantTerms, basis: Basis) {
        (self.terms, self.basis) = (terms, basis)
    }

    /// The ID of the grant: the ID of the first request that got it.
    package var id: UniqueID { terms.id }

    /// What a grant rests on.
    package enum Basis: Sendable {
        /// The rules, just now.
        case decision(Decision)
        /// An earlier request with the same idempotency key.
        indirect case replay(RecordedDecision)
    }
}
