// SPDX-License-Identifier: Apache-2.0

/// What a compact JWS for the App Store says; ES256 signs it.
///
/// The App Store computes its own expiry from `iat`, so there is no `exp`.
///
/// Source: Apple, [Generating JWS to sign App Store requests](https://developer.apple.com/documentation/storekit/generating-jws-to-sign-app-store-requests).
package enum AppStoreClaims: Hashable, Sendable {
    /// Grants a promotional offer; bound to the customer of `transactionID` (a transaction or app transaction), if given.
    case promotionalOffer(Common, productID: ProductID, offerID: OfferID, transactionID: TransactionID?)
    /// Allows or denies the introductory offer of a product, over the App Store's own judgment.
    case introductoryOfferEligibility(Common, productID: ProductID, allows: Bool, transactionID: TransactionID)
    /// Signs a request of the Advanced Commerce API.
    case advancedCommerce(Common, request: AdvancedCommerceRequest)

    /// The claims that each JWS has.
    package struct Common: Hashable, Sendable {
        /// From the Keys page of App Store Connect; claimed in lowercase.
        package let issuerID: IssuerID
        /// Claimed in whole seconds, rounded down.
        package let issuedAt: Timestamp
        /// The app that sells the product; claimed as `bid`.
        package let bundleID: BundleID
        /// Fresh for every signature; claimed in lowercase.
        package let nonce: UniqueID

        package init(issuerID: IssuerID, issuedAt: Timestamp, bundleID: BundleID, nonce: UniqueID) {
            self.issuerID = issuerID
            self.issuedAt = issuedAt
            self.bundleID = bundleID
            self.nonce = nonce
        }
    }

    /// The `aud` claim: which use of the key the JWS is for.
    package var audience: String {
        switch self {
        case .promotionalOffer: "promotional-offer"
        case .introductoryOfferEligibility: "introductory-offer-eligibility"
        case .advancedCommerce: "advanced-commerce-api"
        }
    }

    /// The claims that every case has.
    package var common: Common {
        switch self {
        case .promotionalOffer(let common, _, _, _): common
        case .introductoryOfferEligibility(let common, _, _, _): common
        case .advancedCommerce(let common, _): common
        }
    }

    /// The JWS header as JSON, to be encoded in base64url.
    package static func headerBytes(keyID: KeyID) -> [UInt8] {
        var object = ASCIIObject()
        object.append("alg", "ES256")
        object.append("kid", keyID.text)
        object.append("typ", "JWT")
        return object.closed()
    }

    /// The claims as JSON without white space, always in the same order, to be encoded in base64url.
    package var payloadBytes: [UInt8] {
        var object = ASCIIObject()
        object.append("iss", common.issuerID.description)
        object.append("iat", literal: String(common.issuedAt.seconds))
        object.append("aud", audience)
        object.append("bid", common.bundleID.text)
        object.append("nonce", common.nonce.description)
        switch self {
        case .promotionalOffer(_, let productID, let offerID, let transactionID):
            object.append("productId", productID.text)
            object.append("offerIdentifier", offerID.text)
            if let transactionID { object.append("transactionId", transactionID.text) }
        case .introductoryOfferEligibility(_, let productID, let allows, let transactionID):
            object.append("productId", productID.text)
            object.append("allowIntroductoryOffer", literal: allows ? "true" : "false")
            object.append("transactionId", transactionID.text)
        case .advancedCommerce(_, let request):
            object.append("request", request.base64)
        }
        return object.closed()
    }
}
