// SPDX-License-Identifier: Apache-2.0
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
        /// `POST /v1/app-store/introductory-offers/signatures`; with the signed app transaction, as it was sent along.
        case introductoryOffer(appTransaction: [UInt8]?)
        /// `POST /v1/eligibility`, where nothing is signed.
        case preview

        /// In which forms a promotional offer is to be signed; empty for everything else.
        var forms: [SignatureForm] {
            if case .promotionalOffer(_, let forms) = self { forms } else { [] }
        }
    }

    /// What is asked for, as logs name it.
    var offerName: String {
        switch subject {
        case .promotionalOffer(let id, _): id.text
        case .introductoryOffer: "introductory offer of \(productID?.text ?? "no product")"
        case .preview: "all"
        }
    }

    package let bundleID: BundleID
    /// `nil` of a request for none in particular.
    package let productID: ProductID?
    package let subject: Subject
    package let binding: PurchaseBinding
    package let customerID: CustomerID?
    /// From callers of any role.
    package let anonymousID: AnonymousID?
    package let transactionID: TransactionID?
    /// What the App Store signed, as it was sent along; not verified yet.
    package let signedData: SignedDataMembers
    package let facts: SharedFacts
    /// `nil` if the request states none.
    package let attributes: Attributes?
    /// The library that the app buys with; `nil` if the request does not say.
    package let client: ReportedClient?
    /// Members that only a `backend` may send and that this request has, as pointers.
    package let assertions: [String]
    /// Whether the App Store itself asks, which shows whose the transaction is; there is no time to ask back.
    let isFromAppStore: Bool

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
        let stated = Self.readBinding(&reader, call)
        let statedID = reader.optional("customerId", text: CustomerID.init)
        anonymousID = reader.optional("anonymousId", text: AnonymousID.init)
        transactionID = reader.optional("transactionId", text: TransactionID.init)
        signedData = SignedDataMembers(&reader, mismatches)
        let told = reader.toldMembers(beside: statedID, into: mismatches, receivedAt: now)
        let names = StatedNames(statedID, binding: stated, assertions: told.assertions, of: user)
        (customerID, binding, assertions) = (names.customerID, names.binding, names.assertions)
        (facts, attributes) = (told.facts, told.attributes ?? user?.attributes)
        client = reader.member("client").flatMap { ReportedClient($0, into: mismatches) }
        isFromAppStore = false
        let subject: Subject?
        switch call {
        case .promotionalOffer:
            let forms = Self.readForms(&reader, mismatches)
            subject = offerID.map { .promotionalOffer($0, forms: forms) }
        case .introductoryOffer:
            let namesCustomer = ["transactionId", "signedTransactions"].contains { reader.member($0) != nil }
            subject = .introductoryOffer(appTransaction: Self.readAppTransaction(&reader, isRequired: !namesCustomer))
        }
        reader.finish()
        guard mismatches.all.isEmpty, let bundleID, let productID, let subject else {
            throw .request(.invalid(mismatches.all.map { $0.seen(from: value) }, more: mismatches.more))
        }
        self.bundleID = bundleID
        self.productID = productID
        self.subject = subject
    }

    /// The customer of a request for many offers as one of a request for a signature, of no product.
    init(preview request: EligibilityRequest, of bundleID: BundleID) {
        self.bundleID = bundleID
        productID = nil
        subject = .preview
        binding = request.binding
        customerID = request.customerID
        anonymousID = request.anonymousID
        transactionID = request.transactionID
        signedData = request.signedData
        facts = request.facts
        attributes = request.attributes
        client = nil
        assertions = request.assertions
        isFromAppStore = false
    }

    /// What another vendor's SDK asks for, as a request for an original signature.
    init(_ request: CompatibleRequest) {
        bundleID = request.bundleID
        productID = request.productID
        subject = .promotionalOffer(request.offerID, forms: [.v1])
        binding = request.binding
        customerID = request.customerID
        anonymousID = request.anonymousID
        transactionID = request.transactionID
        signedData = request.signedData
        (facts, attributes, assertions) = request.told
        client = request.client
        isFromAppStore = false
    }

    /// What the App Store asks of a subscriber, as a request for a JWS of that offer, bound to the subscription.
    ///
    /// What Apple signed shows that there is one. All else must be known already.
    init(_ request: RealtimeRequest, for listing: AppStoreListing, _ offerID: OfferID, receivedAt now: Timestamp) {
        bundleID = listing.bundleID
        productID = listing.productID
        subject = .promotionalOffer(offerID, forms: [.jws])
        binding = .none
        customerID = nil
        anonymousID = nil
        transactionID = request.originalTransactionID
        signedData = SignedDataMembers()
        facts = SharedFacts(CustomerFacts(of: request, receivedAt: now))
        attributes = nil
        client = .appStoreRetention
        assertions = []
        isFromAppStore = true
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
    fileprivate init(of request: RealtimeRequest, receivedAt now: Timestamp) {
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
            subscriptionGroup: nil,
            refundedAt: nil,
            offersUsed: nil
        )
    }
}
