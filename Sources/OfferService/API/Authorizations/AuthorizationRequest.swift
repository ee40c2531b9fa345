// SPDX-License-Identifier: Apache-2.0
import JSON
package import OfferDomain

/// What a caller of `POST /v1/google-play/offers/authorizations` asks for; every field already in its type.
package final class AuthorizationRequest: Sendable {
    package let packageName: PackageName
    package let productID: GooglePlayProductID
    package let basePlanID: BasePlanID
    /// The store's name of the offer, or the catalogue's own.
    package let offerID: OfferID
    /// One of the two is never nil.
    package let customerID: CustomerID?
    package let anonymousID: AnonymousID?
    /// Of purchases that the customer made, as Google Play gave them to the app; at most ``mostPurchaseTokens``.
    package let purchaseTokens: [PurchaseToken]
    /// The country that the device's Google Play is set to; nil if the app can't tell.
    package let region: Region?
    package let facts: SharedFacts
    /// `nil` if the request states none.
    package let attributes: Attributes?
    /// Members that only a `backend` may send and that this request has, as pointers.
    package let assertions: [String]

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
        let statedID = reader.optional("customerId", text: CustomerID.init)
        anonymousID = reader.optional("anonymousId", text: AnonymousID.init)
        region = reader.optional("regionCode", text: Region.init)
        purchaseTokens = Self.readTokens(&reader, mismatches)
        let told = reader.toldMembers(beside: statedID, into: mismatches, receivedAt: now)
        let names = StatedNames(statedID, binding: .none, assertions: told.assertions, of: user)
        (customerID, assertions) = (names.customerID, names.assertions)
        (facts, attributes) = (told.facts, told.attributes ?? user?.attributes)
        if user == nil, reader.member("customerId") == nil, reader.member("anonymousId") == nil {
            reader.note(
                "customerId",
                "is missing, and so is anonymousId; send one of them, so that the purchase names the customer"
            )
        }
        reader.finish()
        guard mismatches.all.isEmpty, let packageName, let productID, let basePlanID, let offerID else {
            throw .invalid(mismatches)
        }
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

    /// The customer's names, the known one first.
    var identities: [CustomerIdentity] {
        CustomerIdentity.known(
            customer: customerID,
            anonymous: anonymousID,
            binding: .none,
            originalTransaction: nil
        )
    }
}
