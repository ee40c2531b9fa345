// SPDX-License-Identifier: Apache-2.0
import JSON
import Ledger
import OfferDomain

/// What a caller of `POST /v1/app-store/app-account-tokens` sends; every member already in its type.
extension AccountTokenChange.Asked {
    /// The HTTP server has already limited the bytes.
    private static let limits = JSONLimits(maximumBytes: 65_536)

    init(_ body: [UInt8]) throws(Refusal) {
        let document: JSONDocument
        do { document = try JSONDocument(body, limits: Self.limits) } catch { throw .request(.malformedJSON(error)) }
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        let bundleID = reader.required("bundleId", text: BundleID.init)
        let transactionID = reader.required("originalTransactionId", text: TransactionID.init)
        let token = reader.required("appAccountToken", "a UUID, as 8-4-4-4-12 hexadecimal digits") { value in
            value.stringSlice.flatMap { UniqueID(utf8: $0) }
        }
        let customerID = reader.required("customerId", text: CustomerID.init)
        reader.finish()
        guard mismatches.all.isEmpty, let bundleID, let transactionID, let token, let customerID else {
            throw .invalid(mismatches)
        }
        self.init(
            bundleID: bundleID,
            originalTransactionID: transactionID,
            appAccountToken: token,
            customerID: customerID
        )
    }
}
