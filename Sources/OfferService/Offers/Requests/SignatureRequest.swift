// SPDX-License-Identifier: Apache-2.0
package import Configuration
import JSON
package import OfferDomain

/// What a caller asks to be signed; every field already in its type.
///
/// A class, because it is handed on several times and never changes.
package final class SignatureRequest: Sendable {
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

    /// The app, for which the key is chosen and the offer looked up.
    package let bundleID: BundleID
    /// The product that the offer is for.
    package let productID: ProductID
    /// What is to be signed about it.
    package let subject: Subject
    /// Whom the decision is about, as the caller says.
    package let customer: StatedCustomer
    /// The library that the app buys with; `nil` if the request does not say.
    package let client: ReportedClient?

    /// Enough nodes for the longest lists of facts; the HTTP server has already limited the bytes.
    private static let limits = JSONLimits(
        maximumBytes: 65_536,
        maximumNodes: 2048,
        // More than signed data may have, so that its own limit speaks, with its place.
        maximumStringBytes: 32_768
    )

    /// Reads the body of a request for the signature of an offer of that type.
    ///
    /// The facts that it states count as observed when it was received.
    package convenience init(
        _ body: [UInt8],
        for call: SignatureCall.Kind,
        by user: ProvenUser? = nil,
        receivedAt now: Timestamp
    ) throws(Refusal) {
        let document: JSONDocument
        do { document = try JSONDocument(body, limits: Self.limits) } catch { throw .request(.malformedJSON(error)) }
        try self.init(document.root, for: call, by: user, receivedAt: now)
    }

    /// Reads a request that stands somewhere in a body; pointers to what is wrong with it begin at `value`.
    init(
        _ value: JSONValue,
        for call: SignatureCall.Kind,
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
            customer.appTransaction = Self.readAppTransaction(&reader, isRequired: !namesCustomer)
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

    /// What another vendor's SDK asks for, as a request for an original signature.
    init(_ request: CompatibleRequest) {
        bundleID = request.bundleID
        productID = request.productID
        subject = .promotionalOffer(request.offerID, forms: [.v1])
        customer = request.customer
        client = request.client
    }

    /// What the App Store asks of a subscriber, as a request for a JWS of that offer, bound to the subscription.
    ///
    /// What Apple signed shows that there is one, and the catalog its `group`. All else must be known already.
    init(
        _ request: RealtimeRequest,
        in group: SubscriptionGroupID?,
        for listing: AppStoreListing,
        _ offerID: OfferID,
        receivedAt now: Timestamp
    ) {
        bundleID = listing.bundleID
        productID = listing.productID
        subject = .promotionalOffer(offerID, forms: [.jws])
        client = .appStoreRetention
        var customer = StatedCustomer()
        customer.transactionID = request.originalTransactionID
        customer.facts = SharedFacts(CustomerFacts(of: request, in: group, receivedAt: now))
        customer.isFromAppStore = true
        self.customer = customer
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

    /// The token of StoreKit 2 or the user name of StoreKit 1, which knows no other than promotional offers; never both.
    static func readBinding(_ reader: inout ObjectReader, _ call: SignatureCall.Kind) -> PurchaseBinding {
        let token = reader.optional("appAccountToken", "a UUID, as 8-4-4-4-12 hexadecimal digits") { value in
            value.stringSlice.flatMap { UniqueID(utf8: $0) }
        }
        guard call == .promotionalOffer else { return token.map(PurchaseBinding.appAccountToken) ?? .none }
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
        let forms: [SignatureForm] = reader.elements(of: value, atMost: 2) { element in
            element.choice() ?? mismatches.none(element, "expected “v1” or “jws”, found \(element.summary)")
        }
        guard forms.count != 1 else { return forms }
        if Set(forms).count != forms.count { mismatches.add(value, "names a format twice") }
        if value.array?.isEmpty == true { mismatches.add(value, "expected “v1”, “jws” or both") }
        return SignatureForm.allCases.filter(forms.contains)
    }
}

extension CustomerFacts {
    /// The facts that a real-time request proves: Apple sends it only for a subscriber.
    fileprivate init(of request: RealtimeRequest, in group: SubscriptionGroupID?, receivedAt now: Timestamp) {
        self.init(
            statedAt: now,
            subscribedBefore: true,
            status: nil,
            expiresAt: nil,
            autoRenews: nil,
            ownership: nil,
            environment: request.environment,
            storefront: nil,
            region: nil,
            originalTransactionID: request.originalTransactionID,
            subscriptionGroup: group,
            refundedAt: nil,
            offersUsed: nil
        )
    }
}
