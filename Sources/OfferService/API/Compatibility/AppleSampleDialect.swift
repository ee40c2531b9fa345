// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime

/// `POST /offer` of the server that Apple showed in 2019, which many teams have copied; its refusals are problems.
///
/// Who sends JSON may add what names the customer and their purchases, as in a request of the service's own.
enum AppleSampleDialect: CompatibleDialect {
    static func read(
        _ request: Request,
        _ match: RouteMatch,
        receivedAt now: Timestamp
    ) throws(Refusal) -> CompatibleRequest {
        if let type = request.headers.only("Content-Type"),
            type.startsIgnoringCase(with: "application/x-www-form-urlencoded")
        {
            return try readForm(request)
        }
        try request.requireJSON()
        return try readJSON(request, receivedAt: now)
    }

    private static func readJSON(_ request: Request, receivedAt now: Timestamp) throws(Refusal) -> CompatibleRequest {
        let document = try document(request)
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        let bundleID = reader.required("appBundleID", text: BundleID.init(utf8:))
        let productID = either("productIdentifier", or: "productID", of: &reader, text: ProductID.init(utf8:))
        let offerID = either("offerID", or: "subscriptionOfferID", of: &reader, text: OfferID.init(utf8:))
        let name = reader.member("applicationUsername")
        let username =
            name?.stringSlice?.isEmpty == true
            ? nil : reader.optional("applicationUsername", text: ApplicationUsername.init(utf8:))
        var customer = StatedCustomer()
        customer.binding = username.map(PurchaseBinding.applicationUsername) ?? .none
        customer.transactionID = reader.optional("transactionId", text: TransactionID.init(utf8:))
        customer.customerID = reader.optional("customerId", text: CustomerID.init(utf8:))
        customer.anonymousID = reader.optional("anonymousId", text: AnonymousID.init(utf8:))
        customer.signedData = SignedDataMembers(&reader, mismatches)
        customer.readAssertions(&reader, of: nil, into: mismatches, receivedAt: now)
        guard mismatches.all.isEmpty, let bundleID, let productID, let offerID else { throw .invalid(mismatches) }
        return CompatibleRequest(bundleID: bundleID, productID: productID, offerID: offerID, customer: customer)
    }

    /// A member that goes by either of two names.
    private static func either<Value: Hashable>(
        _ one: StaticString,
        or other: StaticString,
        of reader: inout ObjectReader,
        text make: (ArraySlice<UInt8>) throws(IdentifierError) -> Value
    ) -> Value? {
        guard reader.member(other) != nil else { return reader.required(one, text: make) }
        let second = reader.required(other, text: make)
        guard let first = reader.optional(one, text: make), first != second else { return second }
        reader.note(other, "differs from \(one); send one of them")
        return nil
    }

    private static func readForm(_ request: Request) throws(Refusal) -> CompatibleRequest {
        // In forms, unlike in paths, a plus is a space.
        var form = QueryParameters(request.body.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
        let bundleID = form.value("appBundleID", expecting: "a bundle id") { try? BundleID($0) }
        let product = form.value("productIdentifier") ?? form.value("productID")
        let offer = form.value("offerID") ?? form.value("subscriptionOfferID")
        let productID = product.flatMap { try? ProductID($0) }
        let offerID = offer.flatMap { try? OfferID($0) }
        let username = form.optional("applicationUsername").map { ($0, try? ApplicationUsername($0)) }
        let transactionID = form.value("transactionId", expecting: "1 to 20 digits") { try? TransactionID($0) }
        if bundleID == nil { form.note("appBundleID", "is missing, or is not a bundle id") }
        if productID == nil { form.note("productIdentifier", "is missing, or is not a product id") }
        if offerID == nil { form.note("offerID", "is missing, or is not an offer id") }
        if let (_, name) = username, name == nil {
            form.note("applicationUsername", "must be 1 to 255 visible ASCII characters")
        }
        try form.throwFaults()
        guard let bundleID, let productID, let offerID else { throw .request(.invalidParameters([])) }
        var customer = StatedCustomer()
        customer.binding = username.flatMap(\.1).map(PurchaseBinding.applicationUsername) ?? .none
        customer.transactionID = transactionID
        return CompatibleRequest(bundleID: bundleID, productID: productID, offerID: offerID, customer: customer)
    }

    static func answer(_ signed: SignedOffer, to request: CompatibleRequest) -> Response {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("keyID", plain: signed.plan.key.id.text)
        writer.member("nonce", id: signed.grant.terms.nonce)
        writer.member("timestamp", integer: signed.grant.terms.signedAt.milliseconds)
        if let signature = signed.signature { writer.member("signature", plain: signature.span) }
        writer.endObject()
        return .json(writer.bytes)
    }
}
