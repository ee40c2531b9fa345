// SPDX-License-Identifier: Apache-2.0
package import Configuration
import JSON
package import OfferDomain

/// What a caller of `POST /v1/google-play/offers/authorizations` asks for; every field already in its type.
package final class AuthorizationRequest: Sendable {
    /// The app at Google Play.
    package let packageName: PackageName
    /// The subscription's product ID.
    package let productID: GooglePlayProductID
    /// The base plan that the offer belongs to.
    package let basePlanID: BasePlanID
    /// The store's name of the offer, or the catalog's own.
    package let offerID: OfferID
    /// The customer that the decision is about, as the caller states.
    package let customer: StatedCustomer
    /// The name of the customer that the purchase will carry, as `obfuscatedAccountId`.
    package let buyer: CustomerIdentity
    /// Of purchases that the customer made, as Google Play gave them to the app; at most ``mostPurchaseTokens``.
    package let purchaseTokens: [PurchaseToken]
    /// The country that the device's Google Play is set to; nil if the app can't tell.
    package let region: Region?

    /// How many purchase tokens a request may have; each may cost a question to the store.
    package static let mostPurchaseTokens = 4

    /// Enough nodes for the longest lists of facts; the HTTP server has already limited the bytes.
    private static let limits = JSONLimits(maximumBytes: 65_536, maximumNodes: 2048)

    /// Reads the body of a request; the facts that it states count as observed when it was received.
    package init(_ body: [UInt8], by user: ProvenUser? = nil, receivedAt now: Timestamp) throws(Refusal) {
        let document: JSONDocument
        do { document = try JSONDocument(body, limits: Self.limits) } catch { throw .request(.malformedJSON(error)) }
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        let packageName = reader.required("packageName", text: PackageName.init)
        let productID = reader.required("productId", text: GooglePlayProductID.init)
        let basePlanID = reader.required("basePlanId", text: BasePlanID.init)
        let offerID = reader.required("offerId", text: OfferID.init)
        var customer = StatedCustomer()
        customer.customerID = reader.optional("customerId", text: CustomerID.init)
        customer.anonymousID = reader.optional("anonymousId", text: AnonymousID.init)
        region = reader.optional("regionCode", text: Region.init)
        purchaseTokens = Self.readTokens(&reader, mismatches)
        customer.readAssertions(&reader, of: user, into: mismatches, receivedAt: now)
        self.customer = customer
        if user == nil, reader.member("customerId") == nil, reader.member("anonymousId") == nil {
            reader.note(
                "customerId",
                "is missing, and so is anonymousId; send one of them, so that the purchase names the customer"
            )
        }
        reader.finish()
        guard mismatches.all.isEmpty, let packageName, let productID, let basePlanID, let offerID,
            let buyer = customer.identities.first
        else { throw .invalid(mismatches) }
        self.buyer = buyer
        self.packageName = packageName
        self.productID = productID
        self.basePlanID = basePlanID
        self.offerID = offerID
    }

    static func readTokens(_ reader: inout ObjectReader, _ mismatches: Mismatches) -> [PurchaseToken] {
        guard reader.member("purchaseTokens") != nil else { return [] }
        return reader.elements("purchaseTokens", atMost: mostPurchaseTokens) { element in
            guard let bytes = element.stringBytes else {
                return mismatches.none(element, "expected a purchase token, found \(element.kind)")
            }
            do { return try PurchaseToken(utf8: bytes) } catch { return mismatches.none(element, "\(error)") }
        }
    }

    /// Where the offer has to be had: where the device buys, and if that isn't said, what a backend knows.
    var knownRegion: Region? { region ?? customer.facts.value.region?.value }
}
