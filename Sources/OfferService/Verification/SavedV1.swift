// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Cryptography
import JSON
import Ledger
package import OfferDomain
package import TransparencyLog

/// An original signature as it was saved; the answer does not name all fields of its payload.
package struct SavedV1: Sendable {
    /// `keyIdentifier` of the answer.
    package let keyID: KeyID
    /// `identifier` of the answer.
    package let offerID: OfferID
    /// `nonce` of the answer.
    package let nonce: UniqueID
    /// `timestamp` of the answer.
    package let timestamp: Timestamp
    /// `appAccountToken` or `applicationUsername` of the answer, or neither.
    package let binding: PurchaseBinding
    /// `signature` of the answer: DER in Base64.
    package let signature: ECDSASignature
    /// The app and product, if the answer names them.
    package let named: SignedProduct?

    init(_ object: JSONObject, _ signature: JSONValue) throws(SavedAnswerError) {
        guard let text = signature.string, let der = Base64.decode(Array(text.utf8)),
            let signature = ECDSASignature(der: der)
        else { throw SavedAnswerError("its member signature is not an ECDSA signature in Base64") }
        self.signature = signature
        keyID = try Self.member("keyIdentifier", of: object) { $0.string.flatMap { try? KeyID($0) } }
        offerID = try Self.member("identifier", of: object) { $0.string.flatMap { try? OfferID($0) } }
        nonce = try Self.member("nonce", of: object) { $0.string.flatMap { UniqueID($0) } }
        timestamp = try Self.member("timestamp", of: object) {
            $0.integer.flatMap(Timestamp.init(exactlyMilliseconds:))
        }
        let token = object["appAccountToken"]?.string.flatMap { UniqueID($0) }
        let name = object["applicationUsername"]?.string.flatMap { try? ApplicationUsername($0) }
        binding = token.map(PurchaseBinding.appAccountToken) ?? name.map(PurchaseBinding.applicationUsername) ?? .none
        named = SignedProduct(object["bundleId"]?.string, object["productId"]?.string)
    }

    private static func member<Value>(
        _ name: String,
        of object: JSONObject,
        _ read: (JSONValue) -> Value?
    ) throws(SavedAnswerError) -> Value {
        guard let value = object[name].flatMap(read) else {
            throw SavedAnswerError("it has a signature without a usable \(name); save the whole body of the answer")
        }
        return value
    }

    /// The signature over the payload for that app and product.
    package func presented(for product: SignedProduct) -> PresentedSignature? {
        var fields = SignedFields()
        fields.bundleID = product.bundleID
        fields.keyID = keyID
        fields.productID = product.productID
        fields.offerID = offerID
        fields.binding = binding
        fields.nonce = nonce
        fields.timestamp = timestamp
        fields.signature = signature
        return PresentedSignature(fields)
    }
}

/// The app and the product that an offer is signed for.
package struct SignedProduct: Hashable, Sendable {
    /// The app.
    package let bundleID: BundleID
    /// The product that the offer is for.
    package let productID: ProductID

    package init(bundleID: BundleID, productID: ProductID) {
        (self.bundleID, self.productID) = (bundleID, productID)
    }

    /// `nil` unless both are names.
    package init?(_ bundleID: String?, _ productID: String?) {
        guard let bundleID = bundleID.flatMap({ try? BundleID($0) }),
            let productID = productID.flatMap({ try? ProductID($0) })
        else { return nil }
        self.init(bundleID: bundleID, productID: productID)
    }

    /// What the catalog could have meant by an offer.
    package static func candidates(for offerID: OfferID, in catalog: Catalog) -> [SignedProduct] {
        catalog.offers.compactMap { offer in
            guard let listing = offer.appStore, listing.offerID == offerID else { return nil }
            return SignedProduct(bundleID: listing.bundleID, productID: listing.productID)
        }
    }

    /// What the audit log has under a nonce.
    package static func recorded(under nonce: UniqueID, in search: AuditSearch) throws(AuditReadError) -> SignedProduct?
    {
        let query = AuditQuery(fields: [.event: "sign.intent", .nonce: nonce.description], limit: 2)
        var position: Int64?
        repeat {
            let page = try search.page(query, from: position)
            if let entry = page.entries.first.flatMap({ (try? JSONDocument($0.entry))?.root.object }) {
                return SignedProduct(entry["bundle"]?.string, entry["product"]?.string)
            }
            position = page.next
        } while position != nil
        return nil
    }
}
