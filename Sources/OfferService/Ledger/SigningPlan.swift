// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import OfferDomain

/// The forms in which a promotional offer can be signed.
package enum SignatureForm: String, CaseIterable, Hashable, Sendable {
    /// Apple's original signature: DER over seven joined fields.
    case v1
    /// A compact JWS (ES256).
    case jws
}

/// One thing to be signed, fixed before it is recorded.
package struct SigningIntent: Sendable {
    package let form: SignatureForm
    /// What ECDSA signs; the record names it.
    package let digest: SHA256Digest
    /// The compact JWS that awaits its signature; `nil` for ``SignatureForm/v1``.
    package let jws: CompactJWS?
}

/// Who signs what for whom, all but the nonce and the instant, which only a grant gives.
package struct SigningPlan: Sendable {
    package let key: SigningKey
    package let offer: CatalogOffer
    package let binding: PurchaseBinding
    /// Any transaction of the customer, for the JWS.
    package let transactionID: TransactionID?
    package let forms: [SignatureForm]

    package init(
        key: SigningKey,
        offer: CatalogOffer,
        binding: PurchaseBinding,
        transactionID: TransactionID?,
        forms: [SignatureForm]
    ) {
        self.key = key
        self.offer = offer
        self.binding = binding
        self.transactionID = transactionID
        self.forms = forms
    }

    /// The exact bytes of every form, digested.
    ///
    /// - Throws: `PayloadError` if the built payload does not split into what went in; a mistake of ours.
    package func intents(nonce: UniqueID, at instant: Timestamp) throws(PayloadError) -> [SigningIntent] {
        var intents: [SigningIntent] = []
        intents.reserveCapacity(forms.count)
        for form in forms {
            switch form {
            case .v1:
                let digest = SHA256.digest(of: try payload(nonce, instant).bytes())
                intents.append(SigningIntent(form: .v1, digest: digest, jws: nil))
            case .jws:
                let jws = jws(nonce, instant)
                intents.append(SigningIntent(form: .jws, digest: SHA256.digest(of: jws.signingInput), jws: jws))
            }
        }
        return intents
    }

    private func payload(_ nonce: UniqueID, _ instant: Timestamp) -> PromotionalOfferPayload {
        PromotionalOfferPayload(
            bundleID: offer.bundleID,
            keyID: key.id,
            productID: offer.productID,
            offerID: offer.storeOfferID,
            binding: binding,
            nonce: nonce,
            timestamp: instant
        )
    }

    private func jws(_ nonce: UniqueID, _ instant: Timestamp) -> CompactJWS {
        let claims = AppStoreClaims.promotionalOffer(
            AppStoreClaims.Common(issuerID: key.issuerID, issuedAt: instant, bundleID: offer.bundleID, nonce: nonce),
            productID: offer.productID,
            offerID: offer.storeOfferID,
            transactionID: transactionID
        )
        return CompactJWS(header: AppStoreClaims.headerBytes(keyID: key.id), payload: claims.payloadBytes)
    }
}
