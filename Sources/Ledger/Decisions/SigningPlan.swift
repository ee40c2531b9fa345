// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Cryptography
package import OfferDomain

/// The forms in which an offer can be signed; anything but a promotional offer has only the JWS.
package enum SignatureForm: String, CaseIterable, Hashable, Sendable {
    /// Apple's original signature: DER over seven joined fields.
    case v1
    /// A compact JWS (ES256).
    case jws
}

/// One thing to be signed, fixed before it is recorded.
package struct SigningIntent: Sendable {
    /// What awaits its signature, in its form.
    package let text: Text
    /// What ECDSA signs; the record names it.
    package let digest: SHA256Digest

    /// The text that is signed, as far as the answer needs it.
    package enum Text: Sendable {
        /// Apple's original form: the answer has only the signature.
        case v1
        /// The JWS, which the answer has as a whole.
        case jws(CompactJWS)
    }

    /// Which form of signature it is.
    package var form: SignatureForm {
        switch text {
        case .v1: .v1
        case .jws: .jws
        }
    }
}

/// What is signed for the App Store, except the decision.
package enum SigningSubject: Sendable {
    /// A promotional offer, in each of the forms; signed only for eligible customers.
    ///
    /// `transactionID` is any transaction of the customer, for the JWS.
    case promotionalOffer(OfferID, transactionID: TransactionID?, forms: [SignatureForm])
    /// Whether the customer with this transaction or app transaction may have the introductory offer: yes or no.
    case introductoryOfferEligibility(TransactionID)

    /// Whether what is signed on this outcome allows the offer or denies it.
    ///
    /// - Returns: `nil` if nothing is signed then: the service refuses the request.
    package func allows(on outcome: Outcome) -> Bool? {
        switch (self, outcome) {
        case (_, .eligible): true
        case (.introductoryOfferEligibility, .notEligible): false
        case (.promotionalOffer, .notEligible), (_, .undecided): nil
        }
    }

    /// The audience of the JWS; `nil` for promotional offers, because their records don't name it.
    package var recordedAudience: KeyPurpose? {
        switch self {
        case .promotionalOffer: nil
        case .introductoryOfferEligibility: .introductoryOfferEligibility
        }
    }
}

/// What a request signs, and with which key; the grant adds the answer, the nonce and the time.
///
/// A class, because it never changes and each request passes it on several times.
package final class SigningPlan: Sendable {
    /// The key that signs; the request is for this key's purpose and app.
    package let key: ActiveKey
    /// The App Store's names of app, product and offer.
    package let listing: AppStoreListing
    /// What the original form binds the purchase to: an account token, a user name of original StoreKit, or nothing.
    package let binding: PurchaseBinding
    /// What is said about the offer.
    package let subject: SigningSubject
    /// The library that the app buys with; `nil` if the request does not say.
    package let client: ReportedClient?

    package init(
        key: ActiveKey,
        listing: AppStoreListing,
        binding: PurchaseBinding,
        subject: SigningSubject,
        client: ReportedClient?
    ) {
        self.key = key
        self.listing = listing
        self.binding = binding
        self.subject = subject
        self.client = client
    }

    /// The exact bytes of every form, digested; `allows` is from ``SigningSubject/allows(on:)``.
    ///
    /// - Throws: `PayloadError` if the built payload does not split into its parts again; a bug in the service.
    package func intents(
        allows: Bool,
        nonce: UniqueID,
        at instant: Timestamp
    ) throws(PayloadError) -> [SigningIntent] {
        switch subject {
        case .promotionalOffer(let offerID, let transactionID, let forms):
            var intents: [SigningIntent] = []
            intents.reserveCapacity(forms.count)
            for form in forms {
                switch form {
                case .v1: intents.append(try v1(offerID, nonce: nonce, at: instant))
                case .jws:
                    let claims = AppStoreClaims.promotionalOffer(
                        common(nonce, instant),
                        productID: listing.productID,
                        offerID: offerID,
                        transactionID: transactionID
                    )
                    intents.append(jws(claims))
                }
            }
            return intents
        case .introductoryOfferEligibility(let transactionID):
            let claims = AppStoreClaims.introductoryOfferEligibility(
                common(nonce, instant),
                productID: listing.productID,
                allows: allows,
                transactionID: transactionID
            )
            return [jws(claims)]
        }
    }

    private func v1(_ offerID: OfferID, nonce: UniqueID, at instant: Timestamp) throws(PayloadError) -> SigningIntent {
        let payload = PromotionalOfferPayload(
            offer: AppStoreOfferKey(bundleID: listing.bundleID, productID: listing.productID, offerID: offerID),
            keyID: key.id,
            binding: binding,
            nonce: nonce,
            timestamp: instant
        )
        return SigningIntent(text: .v1, digest: SHA256.digest(of: try payload.bytes()))
    }

    private func jws(_ claims: AppStoreClaims) -> SigningIntent {
        let jws = CompactJWS(header: AppStoreClaims.headerBytes(keyID: key.id), payload: claims.payloadBytes)
        return SigningIntent(text: .jws(jws), digest: SHA256.digest(of: jws.signingInput))
    }

    private func common(_ nonce: UniqueID, _ instant: Timestamp) -> AppStoreClaims.Common {
        AppStoreClaims.Common(issuerID: key.issuerID, issuedAt: instant, bundleID: listing.bundleID, nonce: nonce)
    }
}
