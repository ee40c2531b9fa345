// SPDX-License-Identifier: Apache-2.0
package import Configuration
import JSON
package import Ledger
package import OfferDomain

/// What a caller asks to be signed; every field already in its type.
///
/// A class, because it is handed on several times and never changes.
package final class SignatureRequest: Sendable {
    /// The call by which it is asked for.
    package enum Kind: Sendable {
        case promotionalOffer, introductoryOffer
    }

    /// What is asked for, by the call.
    package enum Subject: Sendable {
        /// `POST /v1/app-store/promotional-offers/signatures`
        case promotionalOffer(OfferID, forms: [SignatureForm])
        /// `POST /v1/app-store/introductory-offers/signatures`
        case introductoryOffer

        /// In which forms a promotional offer is to be signed; empty for everything else.
        var forms: [SignatureForm] {
            if case .promotionalOffer(_, let forms) = self { forms } else { [] }
        }
    }

    /// What is asked for, as logs name it.
    var offerName: String {
        switch subject {
        case .promotionalOffer(let id, _): id.text
        case .introductoryOffer: "introductory offer of \(productID.text)"
        }
    }

    /// The app, which selects the key and the offer.
    package let bundleID: BundleID
    /// The product that the offer is for.
    package let productID: ProductID
    /// What is to be signed about it.
    package let subject: Subject
    /// The customer that the decision is about, as the caller states.
    package let customer: StatedCustomer
    /// The library that the app buys with; `nil` if the request does not say.
    package let client: ReportedClient?

    /// Enough nodes for the longest lists of facts; the HTTP server has already limited the bytes.
    private static let limits = JSONLimits(
        maximumBytes: 65_536,
        maximumNodes: 2048,
        // More than signed data may have, so that its own limit applies and the error names the member.
        maximumStringBytes: 32_768
    )

    /// Reads the body of a request for the signature of an offer of that type.
    ///
    /// The facts that it states count as observed when it was received.
    package convenience init(
        _ body: [UInt8],
        for call: Kind,
        by user: ProvenUser? = nil,
        receivedAt now: Timestamp
    ) throws(Refusal) {
        let document: JSONDocument
        do { document = try JSONDocument(body, limits: Self.limits) } catch { throw .request(.malformedJSON(error)) }
        try self.init(document.root, for: call, by: user, receivedAt: now)
    }

    /// Reads a request that is a part of a body; JSON pointers to its mismatches begin at `value`.
    init(
        _ value: JSONValue,
        for call: Kind,
        by user: ProvenUser? = nil,
        receivedAt now: Timestamp
    ) throws(Refusal) {
        let mismatches = Mismatches()
        var reader = ObjectReader(value, into: mismatches)
        let bundleID = reader.required("bundleId", text: BundleID.init)
        let productID = reader.required("productId", text: ProductID.init)
        let offerID = call == .promotionalOffer ? reader.required("offerId", text: OfferID.init) : nil
        var customer = StatedCustomer(&reader, for: call, into: mismatches)
        customer.readAssertions(&reader, of: user, into: mismatches, receivedAt: now)
        client = reader.member("client").flatMap { ReportedClient($0, into: mismatches) }
        let subject: Subject?
        switch call {
        case .promotionalOffer:
            let forms = Self.readForms(&reader, mismatches)
            subject = offerID.map { .promotionalOffer($0, forms: forms) }
        case .introductoryOffer:
            let namesCustomer = ["transactionId", "signedTransactions"].contains { reader.member($0) != nil }
            customer.signedData.appTransaction = Self.readAppTransaction(&reader, isRequired: !namesCustomer)
            subject = .introductoryOffer
        }
        reader.finish()
        guard mismatches.all.isEmpty, let bundleID, let productID, let subject else {
            throw .request(.invalid(mismatches.all.map { $0.seen(from: value) }, more: mismatches.more))
        }
        self.bundleID = bundleID
        self.productID = productID
        self.subject = subject
        self.customer = customer
    }

    /// A request of those parts.
    init(
        for productID: ProductID,
        of bundleID: BundleID,
        _ subject: Subject,
        customer: StatedCustomer,
        client: ReportedClient?
    ) {
        (self.productID, self.bundleID, self.subject) = (productID, bundleID, subject)
        (self.customer, self.client) = (customer, client)
    }

    /// The app transaction as StoreKit 2 gives it to an app; without it, something else has to name the customer.
    private static func readAppTransaction(_ reader: inout ObjectReader, isRequired: Bool) -> [UInt8]? {
        guard let value = reader.member("signedAppTransaction") else {
            if isRequired {
                reader.note(
                    "transactionId",
                    "is missing, and so are signedTransactions and signedAppTransaction; "
                        + "what is signed names a transaction or app transaction of the customer"
                )
            }
            return nil
        }
        if value.stringBytes == nil {
            reader.note("signedAppTransaction", "expected a compact JWS in a string, found \(value.summary)")
        }
        return value.stringBytes
    }

    private static func readForms(_ reader: inout ObjectReader, _ mismatches: Mismatches) -> [SignatureForm] {
        guard let value = reader.member("formats") else { return [.v1] }
        let forms: [SignatureForm] = reader.elements(of: value, atMost: 2) { element in
            element.choice() ?? mismatches.none(element, "expected “v1” or “jws”, found \(element.summary)")
        }
        guard forms.count != 1 else { return forms }
        if Set(forms).count != forms.count { mismatches.add(value, "names a format twice") }
        if value.array?.isEmpty == true { mismatches.add(value, "expected “v1”, “jws” or both") }
        return SignatureForm.allCases.filter(forms.contains)
    }
}
