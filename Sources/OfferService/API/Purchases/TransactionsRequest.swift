// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// What a caller of `POST /v1/transactions` sends; every member already in its type.
struct TransactionsRequest: Sendable {
    let bundleID: BundleID
    /// Not verified yet.
    let signedData: SignedDataMembers
    let appAccountToken: UniqueID?
    let customerID: CustomerID?
    let anonymousID: AnonymousID?

    /// The HTTP server has already limited the bytes.
    private static let limits = JSONLimits(maximumBytes: 65_536)

    init(_ body: [UInt8]) throws(Refusal) {
        let document: JSONDocument
        do { document = try JSONDocument(body, limits: Self.limits) } catch { throw .request(.malformedJSON(error)) }
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        let bundleID = reader.required("bundleId", text: BundleID.init)
        signedData = SignedDataMembers(&reader, mismatches)
        appAccountToken = reader.optional("appAccountToken", "a UUID, as 8-4-4-4-12 hexadecimal digits") { value in
            value.stringSlice.flatMap { UniqueID(utf8: $0) }
        }
        customerID = reader.optional("customerId", text: CustomerID.init)
        anonymousID = reader.optional("anonymousId", text: AnonymousID.init)
        reader.finish()
        if signedData.transactions.isEmpty, mismatches.all.isEmpty {
            reader.note("signedTransactions", "expected at least one compact JWS")
        }
        guard mismatches.all.isEmpty, let bundleID else { throw .invalid(mismatches) }
        self.bundleID = bundleID
    }

    var binding: PurchaseBinding { appAccountToken.map(PurchaseBinding.appAccountToken) ?? .none }
}
