// SPDX-License-Identifier: Apache-2.0

/// The text that a promotional offer's original ("V1") signature is made over.
///
/// Seven fields of ASCII, joined by six U+2063 INVISIBLE SEPARATOR. A signature is good for one buy request and for
/// 24 hours from `timestamp`.
///
/// Source: Apple, [Generating a signature for promotional offers](https://developer.apple.com/documentation/storekit/generating-a-signature-for-promotional-offers).
package struct PromotionalOfferPayload: Hashable, Sendable {
    /// The offer, and the product that is bought, not the one the customer has.
    package let offer: AppStoreOfferKey
    /// The id of the very key that signs.
    package let keyID: KeyID
    /// The customer whose purchase the signature is valid for.
    package let binding: PurchaseBinding
    /// Fresh for every signature; signed in lowercase.
    package let nonce: UniqueID
    /// The instant of signing; signed in milliseconds.
    package let timestamp: Timestamp

    package init(
        offer: AppStoreOfferKey,
        keyID: KeyID,
        binding: PurchaseBinding,
        nonce: UniqueID,
        timestamp: Timestamp
    ) {
        self.offer = offer
        self.keyID = keyID
        self.binding = binding
        self.nonce = nonce
        self.timestamp = timestamp
    }

    /// The bytes to sign; thrown is only our own mistake, since the types of the fields admit no separator.
    package func bytes() throws(PayloadError) -> [UInt8] {
        var fields = SeparatedFields()
        try fields.append { $0.append(contentsOf: offer.bundleID.text.utf8) }
        try fields.append { $0.append(contentsOf: keyID.text.utf8) }
        try fields.append { $0.append(contentsOf: offer.productID.text.utf8) }
        try fields.append { $0.append(contentsOf: offer.offerID.text.utf8) }
        try fields.append { binding.appendSignedText(to: &$0) }
        try fields.append { nonce.append(to: &$0) }
        try fields.append { $0.append(decimal: timestamp.milliseconds) }
        return try fields.joined()
    }
}

/// The three IDs that together name a promotional offer of the App Store.
package struct AppStoreOfferKey: Hashable, Sendable {
    /// The app that sells the product.
    package let bundleID: BundleID
    /// The product that the offer lowers the price of.
    package let productID: ProductID
    /// The offer, by its ID in App Store Connect.
    package let offerID: OfferID

    package init(bundleID: BundleID, productID: ProductID, offerID: OfferID) {
        self.bundleID = bundleID
        self.productID = productID
        self.offerID = offerID
    }
}

/// Why fields were not joined into a payload.
package enum PayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A field, counted from zero, holds a byte outside 0x20 to 0x7E.
    case notPrintableASCII(field: Int)
    /// The payload, split again, is not the fields that it was built from.
    case ambiguous

    /// A sentence for the log; it never shows the field's text.
    package var description: String {
        switch self {
        case .notPrintableASCII(let field): "field \(field) of the payload holds a byte that is not printable ASCII"
        case .ambiguous: "the payload does not split into the fields that it was built from"
        }
    }
}
