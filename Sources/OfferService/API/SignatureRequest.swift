// SPDX-License-Identifier: Apache-2.0
import JSON
package import OfferDomain

/// What a caller of `POST /v1/app-store/promotional-offers/signatures` asks for; every field already in its type.
///
/// A class, because it is handed on several times and never changes.
package final class SignatureRequest: Sendable {
    package let bundleID: BundleID
    package let productID: ProductID
    package let offerID: OfferID
    package let binding: PurchaseBinding
    package let customerID: CustomerID?
    package let transactionID: TransactionID?
    /// What the App Store signed, as it was sent along; not verified yet.
    package let signedData: SignedDataMembers
    package let facts: CustomerFacts
    /// `nil` if the request states none.
    package let attributes: Attributes?
    package let forms: [SignatureForm]
    /// Members that only a `backend` may send and that this request has, as pointers.
    package let assertions: [String]

    /// Enough nodes for the longest lists of facts; the HTTP server has already limited the bytes.
    private static let limits = JSONLimits(
        maximumBytes: 65_536,
        maximumNodes: 2048,
        // More than signed data may have, so that its own limit speaks, with its place.
        maximumStringBytes: 32_768
    )

    /// Reads the body of a request.
    ///
    /// The facts that it states count as observed when it was received.
    package init(_ body: [UInt8], receivedAt now: Timestamp) throws(Refusal) {
        let document: JSONDocument
        do { document = try JSONDocument(body, limits: Self.limits) } catch { throw .request(.malformedJSON(error)) }
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        let bundleID = reader.required("bundleId", text: BundleID.init)
        let productID = reader.required("productId", text: ProductID.init)
        let offerID = reader.required("offerId", text: OfferID.init)
        binding = Self.readBinding(&reader)
        customerID = reader.optional("customerId", text: CustomerID.init)
        transactionID = reader.optional("transactionId", text: TransactionID.init)
        signedData = SignedDataMembers(&reader, mismatches)
        var assertions: [String] = []
        if customerID != nil { assertions.append("/customerId") }
        if let value = reader.member("facts") {
            assertions.append("/facts")
            facts = CustomerFactsReader.read(value, observedAt: now, into: mismatches)
        } else {
            facts = CustomerFacts()
        }
        if let value = reader.member("attributes") {
            assertions.append("/attributes")
            attributes = AttributesReader.read(value, into: mismatches)
        } else {
            attributes = nil
        }
        forms = Self.readForms(&reader, mismatches)
        reader.finish()
        guard mismatches.all.isEmpty, let bundleID, let productID, let offerID else {
            throw .request(.invalid(mismatches.all))
        }
        self.bundleID = bundleID
        self.productID = productID
        self.offerID = offerID
        self.assertions = assertions
    }

    /// The token of StoreKit 2 or the user name of StoreKit 1; never both.
    private static func readBinding(_ reader: inout ObjectReader) -> PurchaseBinding {
        let token = reader.optional("appAccountToken", "a UUID, as 8-4-4-4-12 hexadecimal digits") { value in
            value.stringSlice.flatMap { UniqueID(utf8: $0) }
        }
        let username = reader.optional("applicationUsername", text: ApplicationUsername.init)
        if token != nil, username != nil {
            reader.note(
                "applicationUsername",
                "stands beside appAccountToken; a purchase carries one of them, so send the one that the app sets"
            )
        }
        if let token { return .appAccountToken(token) }
        return username.map(PurchaseBinding.applicationUsername) ?? .none
    }

    private static func readForms(_ reader: inout ObjectReader, _ mismatches: Mismatches) -> [SignatureForm] {
        guard let value = reader.member("formats") else { return [.v1] }
        let forms: [SignatureForm] = reader.elements("formats", atMost: 2) { element in
            element.string.flatMap(SignatureForm.init)
                ?? mismatches.none(element, "expected “v1” or “jws”, found \(element.summary)")
        }
        guard forms.count != 1 else { return forms }
        if Set(forms).count != forms.count { mismatches.add(value, "names a format twice") }
        if value.array?.isEmpty == true { mismatches.add(value, "expected “v1”, “jws” or both") }
        return SignatureForm.allCases.filter(forms.contains)
    }
}
